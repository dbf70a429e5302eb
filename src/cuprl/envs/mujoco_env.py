"""N copies of a MuJoCo robot stepped together on `mujoco.batch`, from a task given as plain vectorised functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import mujoco
import numpy as np
from mujoco.batch import Batch

from cuprl.envs.mujoco_model import action_bounds, load_model, without_islands, without_timers
from cuprl.envs.protocol import Constraint, Spec, Step, pack_generators, unpack_generators, whole


class Physics:
    """The live batched state: qpos [N, nq], qvel [N, nv], ctrl [N, nu], and each derived field asked for.

    As after `mj_step`, derived fields (xpos, cinert, …) are those before the last substep; Gymnasium's are too.
    """

    xpos: np.ndarray  # [N, nbody, 3]
    xipos: np.ndarray  # [N, nbody, 3]
    cinert: np.ndarray  # [N, nbody, 10]
    cvel: np.ndarray  # [N, nbody, 6]
    qfrc_actuator: np.ndarray  # [N, nv]

    def __init__(self, model: mujoco.MjModel, frame_skip: int, fields: tuple[str, ...], num_envs: int, threads: int):
        without_timers()
        self.batch = Batch(model, num_envs, threads)
        self.model = model
        self.frame_skip = frame_skip
        self.dt = model.opt.timestep * frame_skip
        self.mass, self.total_mass = model.body_mass.copy(), model.body_mass.sum()  # [nbody], []
        self.qpos, self.qvel, self.ctrl = (self.batch.bind(name) for name in ("qpos", "qvel", "ctrl"))
        # qpos and qvel lie side by side in a row of the state, after the time: one view [N, nq + nv] of both.
        self.qpos_qvel = self.batch.state[:, 1 : 1 + model.nq + model.nv]
        for name in fields:
            setattr(self, name, self.batch.bind(name))


class Motion(NamedTuple):
    """What one control step did, beside the state it led to."""

    action: np.ndarray  # [N, act] as the policy gave it: MuJoCo clamps what reaches the actuators, costs do not
    position: np.ndarray  # [N, k] the task's `position` after the step
    velocity: np.ndarray  # [N, k] its change over the control interval, per second
    terminated: np.ndarray  # [N]


Reward = Callable[[Physics, Motion], np.ndarray]  # [N]
Costs = Callable[[Physics, Motion], np.ndarray]  # [N, m]
Reset = Callable[[np.ndarray, np.ndarray, np.random.Generator], tuple[np.ndarray, np.ndarray]]  # qpos, qvel


@dataclass(frozen=True)
class MujocoTask:
    """A constrained task on any MuJoCo model. All functions see N environments at once, `reset` one at a time."""

    name: str
    model: str  # an MJCF file (a bare name is one of Gymnasium's robots) or an MJCF string
    frame_skip: int
    constraints: tuple[Constraint, ...]
    observe: Callable[[Physics], np.ndarray]  # [N, obs]
    position: Callable[[Physics], np.ndarray]  # [N, k], differenced for the velocity
    reward: Reward
    costs: Costs
    terminated: Callable[[Physics], np.ndarray]  # [N]
    reset: Reset
    fields: tuple[str, ...] = ()  # derived MjData fields the functions read
    horizon: int = 1000

    def __post_init__(self) -> None:
        whole(self.frame_skip, f"frame_skip of {self.name}")
        whole(self.horizon, f"horizon of {self.name}")

    def vector_env(self, num_envs: int, threads: int, constraints: tuple[Constraint, ...]) -> MujocoVectorEnv:
        return MujocoVectorEnv(replace(self, constraints=constraints), num_envs, threads)


class MujocoVectorEnv:
    """The vector environment of a MujocoTask. Environment i draws from its own generator, seeded with seed + i."""

    def __init__(self, task: MujocoTask, num_envs: int, threads: int = 1):
        from cuprl.envs.mujoco_trial import try_functions, with_own_memory

        model = without_islands(load_model(task.model, task.name))
        try_functions(task, model)
        self.task, self.num_envs = task, num_envs
        self.physics = Physics(model, task.frame_skip, task.fields, num_envs, min(threads, num_envs))
        self._initial = self.physics.batch.state[0].copy()  # all that MuJoCo's own reset sets
        self._clock, self._begun = 0, np.zeros(num_envs, np.int64)  # control steps so far, and when each episode began
        self.seed(0)
        self._start(np.arange(num_envs))
        self.task = with_own_memory(task, self.physics)
        self.reset(seed=0)
        self.spec = Spec(task.name, self._obs.shape[1], action_bounds(model), task.constraints, task.horizon)

    def reset(self, seed: int) -> np.ndarray:
        self.seed(seed)
        return self.reset_rows(np.arange(self.num_envs))

    def seed(self, seed: int) -> None:
        self._generators = [np.random.default_rng(seed + i) for i in range(self.num_envs)]

    def reset_rows(self, rows: np.ndarray) -> np.ndarray:
        """Start new episodes in the given environments; returns everyone's observation [N, obs]."""
        self._start(rows)
        self._position, self._obs = self.task.position(self.physics), self.task.observe(self.physics)
        return self._obs

    def _start(self, rows: np.ndarray) -> None:
        physics = self.physics
        for i in rows.tolist():  # one row at a time is faster than to index by an array
            physics.batch.state[i] = self._initial
            physics.qpos[i], physics.qvel[i] = self.task.reset(physics.qpos[i], physics.qvel[i], self._generators[i])
        if self.task.fields:
            physics.batch.forward(rows)
        self._begin(rows, self._clock)

    def _begin(self, rows: np.ndarray | slice, clock: int | np.ndarray) -> None:
        self._begun[rows] = clock
        self._next_end = int(self._begun.min()) + self.task.horizon  # when the first episode is cut off, if none ends

    def advance(self, action: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """One control step without resets: next_obs, reward, cost, terminated, truncated."""
        task, physics = self.task, self.physics
        physics.ctrl[:] = action
        physics.batch.step(nstep=physics.frame_skip)
        self._clock += 1
        before, self._position, self._obs = self._position, task.position(physics), task.observe(physics)
        velocity = (self._position - before) / physics.dt
        motion = Motion(action, self._position, velocity, task.terminated(physics))
        truncated = self._clock - self._begun >= task.horizon if self._late() else np.zeros(self.num_envs, bool)
        return self._obs, task.reward(physics, motion), task.costs(physics, motion), motion.terminated, truncated

    def _late(self) -> bool:
        """Whether an episode is at its horizon: a number is compared faster than an array."""
        return self._clock >= self._next_end

    def step(self, action: np.ndarray) -> Step:
        next_obs, reward, cost, terminated, truncated = self.advance(action)
        ended = self._late() or np.count_nonzero(terminated)
        obs = self.reset_rows(np.flatnonzero(terminated | truncated)) if ended else next_obs
        return Step(next_obs, reward, cost, terminated, truncated, obs)

    def get_state(self) -> dict[str, np.ndarray]:
        return {
            "physics": self.physics.batch.state.copy(),
            "steps": self._clock - self._begun,
            # The position of some robots is a derived field, which the physics state alone does not give back.
            "position": self._position.copy(),
            "obs": self._obs.copy(),
            "generators": pack_generators(self._generators),
        }

    def set_state(self, state: dict[str, np.ndarray]) -> np.ndarray:
        self.physics.batch.state[:] = state["physics"]
        self._begin(slice(None), self._clock - state["steps"])
        self._position, self._obs = state["position"].copy(), state["obs"].copy()
        self._generators = unpack_generators(state["generators"])
        return self._obs
