"""Tabular CMDPs as training tasks, so that what an algorithm reaches can be set beside the exact optimum.

Each step an episode is cut off with probability 1 - gamma. The states seen are then distributed exactly as the
discounted visitation of the theory, and the plain sum of costs over an episode has the mean J^C = E[sum_t gamma^t c_t]:
no horizon, no bias. The cut is a truncation: advantages are bootstrapped over it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cuprl.core.actions import Discrete
from cuprl.core.spec import Constraint, Spec
from cuprl.core.task import Step, pack_generators, refuse_misfit, unpack_generators
from cuprl.errors import unknown
from cuprl.theory.cmdp import CMDP
from cuprl.theory.generators import GENERATORS

PREFIX = "tabular:"
LEAST_SCALE = 0.01  # of limits; one may be 0


class TabularTask:
    """A CMDP to train on; observations are one-hot states."""

    def __init__(self, cmdp: CMDP, name: str | None = None):
        self.cmdp = cmdp
        self.name = name or PREFIX + cmdp.name
        limits = zip(cmdp.cost_names, cmdp.limits)
        self.constraints = tuple(Constraint(cost, float(limit), discount=1.0) for cost, limit in limits)
        self.settings: dict[str, Any] = {
            "gamma": cmdp.gamma,
            "normalise": False,  # one-hot observations need none
            "hidden": (),  # linear in one-hot states: a tabular softmax; --hidden 64,64 is the usual network
            "num_envs": 50,
            "minibatch": 500,
            "policy_lr": 3e-3,
            "critic_lr": 3e-3,
            "critic_l2": 0.0,
            "alpha": 0.05,  # a larger one stops CUP where the advantage hardly depends on the action
            # Plain ascent swings around the optimum for ever; the limits here differ by their scale, so the gain does.
            "multiplier": "pid",
            "multiplier_lr": 0.3 / max(float(np.abs(cmdp.limits).mean()), LEAST_SCALE) if self.constraints else 0.3,
            "multiplier_max": 10.0,
        }

    def vector_env(self, num_envs: int, threads: int, constraints: tuple[Constraint, ...]) -> TabularVectorEnv:
        """Make N copies of the problem; it has no physics for threads to share."""
        return TabularVectorEnv(self, num_envs, constraints)


def tabular_task(name: str) -> TabularTask:
    """Find `tabular:gridworld` and the like."""
    problem = name.removeprefix(PREFIX)
    if problem not in GENERATORS:
        raise unknown("tabular problem", problem, GENERATORS)
    return TabularTask(GENERATORS[problem](), name)


class TabularVectorEnv:
    """N walkers through one CMDP."""

    def __init__(self, task: TabularTask, num_envs: int, constraints: tuple[Constraint, ...]):
        cmdp = task.cmdp
        self.cmdp, self.num_envs = cmdp, num_envs
        self._cumulative = cmdp.transition.cumsum(axis=-1)  # [S, A, S]
        self._start = cmdp.initial.cumsum()  # [S]
        self._one_hot = np.eye(cmdp.n_states)
        length = round(1.0 / (1.0 - cmdp.gamma))
        self.spec = Spec(task.name, cmdp.n_states, Discrete(cmdp.n_actions), constraints, length, ends_by_chance=True)

    def reset(self, seed: int) -> np.ndarray:
        self._rng = np.random.default_rng(seed)
        self._state = self._draw(np.broadcast_to(self._start, (self.num_envs, self.cmdp.n_states)))  # [N]
        return self._one_hot[self._state]

    def _draw(self, cumulative: np.ndarray) -> np.ndarray:
        """One sample of each row of cumulative probabilities [N, S]."""
        chance = self._rng.random(len(cumulative))[:, None] * cumulative[:, -1:]
        return (chance >= cumulative).sum(axis=1)

    def step(self, action: np.ndarray) -> Step:
        cmdp, state = self.cmdp, self._state
        successor = self._draw(self._cumulative[state, action])
        reward = cmdp.reward[state, action, successor]
        cost = cmdp.costs[:, state, action, successor].T  # [N, m]
        truncated = self._rng.random(self.num_envs) >= cmdp.gamma
        start = self._draw(np.broadcast_to(self._start, (self.num_envs, cmdp.n_states)))
        self._state = np.where(truncated, start, successor)
        never = np.zeros(self.num_envs, bool)
        return Step(self._one_hot[successor], reward, cost, never, truncated, self._one_hot[self._state])

    def get_state(self) -> dict[str, np.ndarray]:
        return {"state": self._state.copy(), "rng": pack_generators([self._rng])}

    def set_state(self, state: dict[str, np.ndarray]) -> np.ndarray:
        refuse_misfit(state, self.get_state())
        self._state = state["state"].copy()
        (self._rng,) = unpack_generators(state["rng"])
        return self._one_hot[self._state]
