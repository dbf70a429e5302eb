"""How fast training is beside the physics it cannot do without, measured in one run, interleaved.

Each round trains one iteration, then replays its actions on plain MuJoCo, one robot after another: the same work to
the last bit, without collecting, estimating or learning. Noise of the machine hits both alike; medians are reported.
Raw physics is plain MuJoCo in Python on the model as its file has it; it is also measured as collection steps it, without
MuJoCo's timers and its search for islands, which no result needs.
"""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
import time
from typing import Any

import mujoco
import numpy as np

from cuprl.core.task import unpack_generators
from cuprl.core.user_modules import python
from cuprl.envs.mujoco.env import MujocoVectorEnv
from cuprl.envs.mujoco.model import load_model, without_timers
from cuprl.errors import UserError
from cuprl.runs.config import RunConfig
from cuprl.training.training import Training

FOREVER = 10**9  # steps: more than a measurement takes


def replay_on_plain_mujoco(
    model: mujoco.MjModel, env: MujocoVectorEnv, start: dict[str, np.ndarray], actions: np.ndarray, done: np.ndarray
) -> float:
    """Measure the seconds of plain `mj_step` for the actions [T, N, act] from a state, with the rollout's resets untimed."""
    skip = env.physics.frame_skip
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


def start_up(config: RunConfig) -> dict[str, float]:
    """Measure, of a fresh process, the seconds to its first environment step and to the end of its second iteration,
    and its peak memory after five."""
    begun = time.time()
    command = python("-c", "from cuprl.measure.speed import _start_up_here; _start_up_here()")
    child = subprocess.run(command, input=json.dumps(config.to_json()), capture_output=True, text=True, check=True)
    stamps = json.loads(child.stdout)
    return {
        "first_step_s": stamps["first_step"] - begun,
        "second_iteration_s": stamps["second_iteration"] - begun,
        "peak_mb": stamps["peak_mb"],
    }


def _start_up_here() -> None:
    """Run as the child process of `start_up`."""
    training = Training(RunConfig.from_json(json.loads(sys.stdin.read())))
    env = training.collector.env
    stamps: dict[str, float] = {}
    assert isinstance(env, MujocoVectorEnv)
    move = env.move

    def first_move(action: np.ndarray) -> Any:
        stamps["first_step"] = time.time()
        env.move = move  # type: ignore[method-assign]
        return move(action)

    env.move = first_move  # type: ignore[method-assign]
    for k in range(5):
        training.iterate()
        if k == 1:
            stamps["second_iteration"] = time.time()
    stamps["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # kilobytes on Linux
    print(json.dumps(stamps))


def measure(task: str, algo: str = "cup", threads: int = 1, rounds: int = 10, **settings: Any) -> dict[str, Any]:
    """Measure environment steps a second, medians over rounds; `ratio` is whole training over raw physics."""
    if rounds < 1:
        raise UserError(f"rounds is {rounds}; it must be at least 1.")
    training = Training(RunConfig(task, algo, steps=FOREVER, threads=threads, settings={**settings, "anneal": False}))
    env, size = training.collector.env, training.learner.config.batch_size
    if not isinstance(env, MujocoVectorEnv):
        raise UserError(f"{task} has no MuJoCo physics to compare with; give a MuJoCo task.")
    plain = load_model(env.task.model, env.task.name)
    for _ in range(2):  # compile, and leave the very first policy behind
        training.iterate()
    physics, stepped, collect, update, whole = (list[float]() for _ in range(5))
    for i in range(rounds):
        start = env.get_state()
        clock = time.perf_counter()
        row = training.iterate()
        whole.append(time.perf_counter() - clock)
        collect.append(row["time/collect"])
        update.append(row["time/update"])
        rollout = training.collector.buffers.rollout
        done = (rollout.terminated > 0) | (rollout.truncated > 0)
        replays = [(plain, physics), (env.physics.model, stepped)]
        for model, seconds in replays if i % 2 else reversed(replays):
            if model is plain:
                mujoco.set_mjcb_time(None)  # MuJoCo's timers, on as Python has them
            seconds.append(replay_on_plain_mujoco(model, env, start, rollout.action, done))
            without_timers()

    def median(values: list[float]) -> float:
        return statistics.median(values)

    return {
        "task": task,
        "algo": algo,
        "threads": threads,
        "rounds": rounds,
        "physics_sps": size / median(physics),
        "stepped_sps": size / median(stepped),
        "rollout_sps": size / median(collect),
        "update_s": median(update),
        "train_sps": size / median(whole),
        "rollout_ratio": median([p / c for p, c in zip(physics, collect)]),
        "rollout_of_stepped": median([s / c for s, c in zip(stepped, collect)]),
        "ratio": median([p / w for p, w in zip(physics, whole)]),
        **start_up(training.config),  # what it runs is compiled by now
    }
