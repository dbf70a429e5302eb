"""Probe environments: so small that the right answer is known, one for each thing that could be wrong.

A probe is a task like any other; `reward` and `cost` are functions of (observation, action, step of the episode).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from cuprl.core.actions import Box, Discrete
from cuprl.core.spec import Constraint, Spec
from cuprl.core.task import Step, pack_generators, unpack_generators

# Settings with which a probe is learnt in seconds.
PROBE = {
    "batch_size": 200,
    "num_envs": 10,
    "hidden": (16,),
    "minibatch": 50,
    "anneal": False,
    "critic_lr": 3e-3,
    "policy_lr": 3e-3,
    "critic_l2": 0.0,
    "cost_ends": "real",  # what is known of a probe's costs is known of episodes that end
}


@dataclass(frozen=True)
class Probe:
    name: str
    reward: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
    cost: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
    length: int = 1  # steps of an episode
    truncates: bool = False  # the end is a time limit, not a termination
    random_obs: bool = False  # each observation is ±1 by chance; otherwise 0
    discrete: int | None = None  # number of actions; None: one real action
    constraints: tuple[Constraint, ...] = (Constraint("cost", 0.5),)
    step_seconds: float | None = None

    def vector_env(self, num_envs, threads, constraints):
        return ProbeEnv(self, num_envs, constraints)


class ProbeEnv:
    def __init__(self, task: Probe, num_envs: int, constraints: tuple[Constraint, ...]):
        self.task, self.num_envs = task, num_envs
        action = Discrete(task.discrete) if task.discrete else Box(1, (-1.0,), (1.0,))
        self.spec = Spec(task.name, 1, action, constraints, task.length, task.step_seconds)

    def reset(self, seed):
        self.rng = np.random.default_rng(seed)
        self.t = np.zeros(self.num_envs, np.int64)
        return self._look()

    def _look(self):
        shape = (self.num_envs, 1)
        self.obs = self.rng.choice([-1.0, 1.0], shape) if self.task.random_obs else np.zeros(shape)
        return self.obs

    def step(self, action):
        a = np.asarray(action, np.float64).reshape(self.num_envs)
        reward, cost = (f(self.obs[:, 0], a, self.t) for f in (self.task.reward, self.task.cost))
        cost = np.repeat(cost[:, None], len(self.spec.constraints), axis=1)
        self.t = self.t + 1
        end = self.t >= self.task.length
        self.t = np.where(end, 0, self.t)
        no = np.zeros_like(end)
        next_obs = self._look()
        obs = self._look() if end.any() else next_obs
        terminated, truncated = (no, end) if self.task.truncates else (end, no)
        return Step(next_obs, reward, cost, terminated, truncated, obs)

    def get_state(self):
        return {"t": self.t.copy(), "obs": self.obs.copy(), "rng": pack_generators([self.rng])}

    def set_state(self, state):
        self.t, self.obs = state["t"].copy(), state["obs"].copy()
        (self.rng,) = unpack_generators(state["rng"])
        return self.obs


def constant(value):
    return lambda obs, action, t: np.full(len(obs), float(value))
