"""N copies of a MuJoCo robot stepped together on `mujoco.batch`, from a task given as plain vectorised functions."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from cuprl.core.spec import Constraint, Spec
from cuprl.core.task import Step, pack_generators, refuse_misfit, unpack_generators
from cuprl.envs.mujoco.model import action_bounds, load_model, without_islands
from cuprl.envs.mujoco.parts import MujocoParts
from cuprl.envs.mujoco.physics import Motion, Physics
from cuprl.envs.mujoco.scores import LateScores, read_by
from cuprl.envs.mujoco.trial import try_functions, with_own_memory


@dataclass(frozen=True)
class MujocoTask(MujocoParts):
    """A constrained task on any MuJoCo model. All functions see N environments at once, `reset` one at a time.

    Args:
        name: of the task.
        model: an MJCF file (a bare name is one of Gymnasium's robots) or an MJCF string.
        frame_skip: steps of the physics in one of the task.
        constraints: the costs' names, limits and discounts, in the order in which `costs` gives them.
        observe: physics -> observations [N, obs].
        position: physics -> positions [N, k], differenced for the velocity.
        reward: physics, motion -> rewards [N].
        costs: physics, motion -> costs [N, m].
        terminated: physics -> whether the task has ended [N].
        reset: qpos, qvel, generator -> those with which an episode begins.
        fields: derived MjData fields that the functions read.
        horizon: steps after which an episode is cut off.
        lines: drawn on the floor in pictures.
    """

    def vector_env(self, num_envs: int, threads: int, constraints: tuple[Constraint, ...]) -> MujocoVectorEnv:
        """Make so many robots, stepped together, held to these constraints."""
        return MujocoVectorEnv(replace(self, constraints=constraints), num_envs, threads)


class MujocoVectorEnv:
    """The vector environment of a MujocoTask, to be reset first. Environment i draws from a generator seeded seed + i."""

    def __init__(self, task: MujocoParts, num_envs: int, threads: int = 1):
        model = without_islands(load_model(task.model, task.name))
        tried = try_functions(task, model)
        self.task, self.num_envs = task, num_envs
        self.physics = Physics(model, task.frame_skip, task.fields, num_envs, min(threads, num_envs))
        self._initial = self.physics.batch.state[0].copy()  # all that MuJoCo's own reset sets
        self._clock, self._begun = 0, np.zeros(num_envs, np.int64)  # control steps so far, and when each episode began
        self.physics.batch.state[:] = tried.batch.state[0]  # somewhere to look at: episodes begin with `reset`
        if task.fields:
            self.physics.batch.forward(np.arange(num_envs))
        self.read = read_by(task.position, task.reward, task.costs)  # before they are wrapped
        self.task = with_own_memory(task, self.physics)
        obs_dim = self.task.observe(self.physics).shape[1]
        self.spec = Spec(task.name, obs_dim, action_bounds(model), task.constraints, task.horizon, self.physics.dt)

    def reset(self, seed: int) -> np.ndarray:
        self.seed(seed)
        return self.reset_rows(np.arange(self.num_envs))

    def seed(self, seed: int) -> None:
        """Begin the randomness of resets anew: environment i has seed + i."""
        self._generators = [np.random.default_rng(seed + i) for i in range(self.num_envs)]

    def reset_rows(self, rows: np.ndarray) -> np.ndarray:
        """Start new episodes in the given environments; returns everyone's observation [N, obs]."""
        self._start(rows)
        self.position, self.obs = self.task.position(self.physics), self.task.observe(self.physics)
        return self.obs

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

    def move(self, action: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Step the physics by one control step, and give what is seen after it: terminated, truncated."""
        task, physics = self.task, self.physics
        physics.ctrl[:] = action
        physics.batch.step(nstep=physics.frame_skip)
        self._clock += 1
        self.obs = task.observe(physics)
        truncated = self._clock - self._begun >= task.horizon if self._late() else np.zeros(self.num_envs, bool)
        return task.terminated(physics), truncated

    def advance(self, action: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Take one control step without resets: next_obs, reward, cost, terminated, truncated."""
        task, physics = self.task, self.physics
        terminated, truncated = self.move(action)
        before, self.position = self.position, task.position(physics)
        motion = Motion(action, self.position, (self.position - before) / physics.dt, terminated)
        return self.obs, task.reward(physics, motion), task.costs(physics, motion), terminated, truncated

    def _late(self) -> bool:
        """Whether an episode is at its horizon: a number is compared faster than an array."""
        return self._clock >= self._next_end

    def step(self, action: np.ndarray) -> Step:
        next_obs, reward, cost, terminated, truncated = self.advance(action)
        return Step(next_obs, reward, cost, terminated, truncated, self.go_on(terminated, truncated))

    def go_on(self, terminated: np.ndarray, truncated: np.ndarray) -> np.ndarray:
        """Give the observation to act on next, with new episodes where one ended."""
        ended = self._late() or np.count_nonzero(terminated)
        return self.reset_rows(np.flatnonzero(terminated | truncated)) if ended else self.obs

    def late_scores(self) -> LateScores | None:
        """Make what computes rewards and costs of many steps together; None where a function does not say what it reads."""
        return None if self.read is None else LateScores(self, self.read)

    def get_state(self) -> dict[str, np.ndarray]:
        return {
            "physics": self.physics.batch.state.copy(),
            "steps": self._clock - self._begun,
            # The position of some robots is a derived field, which the physics state alone does not give back.
            "position": self.position.copy(),
            "obs": self.obs.copy(),
            "generators": pack_generators(self._generators),
        }

    def set_state(self, state: dict[str, np.ndarray]) -> np.ndarray:
        refuse_misfit(state, self.get_state())
        self.physics.batch.state[:] = state["physics"]
        self._begin(slice(None), self._clock - state["steps"])
        self.position, self.obs = state["position"].copy(), state["obs"].copy()
        self._generators = unpack_generators(state["generators"])
        return self.obs
