"""Rewards and costs of many control steps at once.

Acting waits for the next observation, not for the reward. A NumPy call on five rows costs the same as on five hundred, so
that scoring a rollout in one call takes a step's share of it from some fifteen calls to next to none.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Any, Protocol, TypeVar

import numpy as np

from cuprl.core.task import Step
from cuprl.envs.mujoco.parts import MujocoParts
from cuprl.envs.mujoco.physics import Motion, Physics

Function = TypeVar("Function", bound=Callable[..., Any])
NOT_YET = np.empty(0)


def reads(*names: str) -> Callable[[Function], Function]:
    """Say of a position, reward or costs function what it reads; where all three of a task do, rollouts are scored at once.

    It must answer row by row from these arrays of the physics, and the motion, alone, and remember nothing.

    Args:
        names: of arrays of the physics, as "qpos"; none where it reads the motion alone.
    """

    def mark(function: Function) -> Function:
        function.reads = names  # type: ignore[attr-defined]
        return function

    return mark


def read_by(*functions: Callable[..., Any]) -> tuple[str, ...] | None:
    """List all that the functions read; None if one of them does not say."""
    named = [getattr(function, "reads", None) for function in functions]
    said = [names for names in named if names is not None]
    return tuple(dict.fromkeys(chain(*said))) if len(said) == len(named) else None


def reads_what(*functions: Callable[..., Any]) -> Callable[[Function], Function]:
    """Declare as `reads` does, for a function made of others."""
    names = read_by(*functions)
    return (lambda function: function) if names is None else reads(*names)


class Recorded(Physics):
    """The physics of many steps, as far as it was kept: the N rows of each, one step after the other."""

    def __init__(self, live: Physics, kept: dict[str, np.ndarray]):
        for name in ("model", "frame_skip", "dt", "mass", "total_mass"):
            setattr(self, name, getattr(live, name))
        for name, array in kept.items():  # [T, N, ...]
            setattr(self, name, array.reshape(-1, *array.shape[2:]))


class Robots(Protocol):
    """What late scores need of an environment."""

    task: MujocoParts
    physics: Physics
    position: np.ndarray  # [N, k]
    obs: np.ndarray  # [N, obs]

    def move(self, action: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Step the physics; gives terminated and truncated [N]."""

    def go_on(self, terminated: np.ndarray, truncated: np.ndarray) -> np.ndarray:
        """Give the observation to act on next [N, obs], with new episodes where one ended."""


class LateScores:
    """Steps an environment and keeps what its rewards and costs depend on, until they are asked for."""

    def __init__(self, env: Robots, read: tuple[str, ...]):
        self.env, self.read = env, read
        self.first = env.position  # [N, k]
        self.live = [getattr(env.physics, name) for name in read]
        self.kept: list[list[np.ndarray]] = []  # action, terminated and what is read, a step
        self.new_places: dict[int, np.ndarray] = {}  # where the robots are before a step that follows a reset [N, k]

    def step(self, action: np.ndarray) -> Step:
        """Step as the environment does, without reward and cost."""
        env = self.env
        terminated, truncated = env.move(action)
        self.kept.append([action, terminated, *(array.copy() for array in self.live)])
        next_obs, obs = env.obs, env.go_on(terminated, truncated)
        if obs is not next_obs:
            self.new_places[len(self.kept)] = env.position
        return Step(next_obs, NOT_YET, NOT_YET, terminated, truncated, obs)

    def scores(self) -> tuple[np.ndarray, np.ndarray]:
        """Compute rewards [T, N] and costs [T, N, m] of the steps made; the environment can then go on by itself."""
        task, physics = self.env.task, self.env.physics
        action, terminated, *arrays = map(np.array, zip(*self.kept))  # [T, N, ...]
        recorded = Recorded(physics, dict(zip(self.read, arrays)))
        position = task.position(recorded)  # [T * N, k]
        places = np.concatenate((self.first, position)).reshape(len(action) + 1, *self.first.shape)  # before and after each
        for t, place in self.new_places.items():
            places[t] = place
        velocity = (position - places[:-1].reshape(position.shape)) / physics.dt
        self.env.position = places[-1]
        motion = Motion(action.reshape(len(position), -1), position, velocity, terminated.reshape(-1))
        reward, cost = task.reward(recorded, motion), task.costs(recorded, motion)
        return reward.reshape(terminated.shape), cost.reshape(*terminated.shape, -1)
