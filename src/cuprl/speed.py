"""How fast training is beside the physics it cannot do without, measured in one run, interleaved.

Each round trains one iteration, then replays its actions on plain MuJoCo, one robot after another: the same work to
the last bit, without collecting, estimating or learning. Noise of the machine hits both alike; medians are reported.
"""

from __future__ import annotations

import statistics
import time
from typing import Any

import mujoco
import numpy as np

from cuprl.envs.mujoco_env import MujocoVectorEnv
from cuprl.envs.protocol import unpack_generators
from cuprl.errors import UserError
from cuprl.training import Training


def replay_on_plain_mujoco(
    env: MujocoVectorEnv, start: dict[str, np.ndarray], actions: np.ndarray, done: np.ndarray
) -> float:
    """Seconds plain `mj_step` takes for the actions [T, N, act] from a state, with the rollout's resets (untimed)."""
    model, skip = env.physics.model, env.physics.frame_skip
    initial = mujoco.MjData(model)
    seconds = 0.0
    for n, generator in enumerate(unpack_generators(start["generators"])):
        data = mujoco.MjData(model)
        mujoco.mj_setState(model, data, start["physics"][n], mujoco.mjtState.mjSTATE_INTEGRATION.value)
        ends = [*np.flatnonzero(done[:, n]).tolist(), len(actions) - 1]
        begin = 0
        for end in dict.fromkeys(ends):
            controls = actions[begin : end + 1, n].astype(np.float64)
            clock = time.perf_counter()
            for control in controls:
                data.ctrl[:] = control
                mujoco.mj_step(model, data, nstep=skip)
            seconds += time.perf_counter() - clock
            if done[end, n]:
                mujoco.mj_resetData(model, data)
                data.qpos[:], data.qvel[:] = env.task.reset(initial.qpos, initial.qvel, generator)
            begin = end + 1
        if not np.array_equal(data.qpos, env.physics.qpos[n]):
            raise AssertionError("the replay left the trajectory of the rollout: it did not measure the same work")
    return seconds


def measure(task: str, algo: str = "cup", threads: int = 1, rounds: int = 10, **settings: Any) -> dict[str, Any]:
    """Rates in environment steps a second, medians over rounds; `ratio` is whole training over raw physics."""
    if rounds < 1:
        raise UserError(f"rounds is {rounds}; it must be at least 1.")
    settings = {**settings, "anneal": False}
    training = Training({
        "task": task, "algo": algo, "seed": 0, "steps": 10**9, "threads": threads, "limits": None, "settings": settings,
    })  # fmt: skip
    env, size = training.collector.env, training.config.batch_size
    if not isinstance(env, MujocoVectorEnv):
        raise UserError(f"{task} has no MuJoCo physics to compare with; give a MuJoCo task.")
    for _ in range(2):  # compile, and leave the very first policy behind
        training.iterate()
    physics, collect, update, whole = [], [], [], []
    for _ in range(rounds):
        start = env.get_state()
        clock = time.perf_counter()
        row = training.iterate()
        whole.append(time.perf_counter() - clock)
        collect.append(row["time/collect"])
        update.append(row["time/update"])
        rollout = training.collector.rollout
        done = (rollout.terminated > 0) | (rollout.truncated > 0)
        physics.append(replay_on_plain_mujoco(env, start, rollout.action, done))

    def median(values: list[float]) -> float:
        return statistics.median(values)

    return {
        "task": task,
        "algo": algo,
        "threads": threads,
        "rounds": rounds,
        "physics_sps": size / median(physics),
        "rollout_sps": size / median(collect),
        "update_s": median(update),
        "train_sps": size / median(whole),
        "rollout_ratio": median([p / c for p, c in zip(physics, collect)]),
        "ratio": median([p / w for p, w in zip(physics, whole)]),
    }
