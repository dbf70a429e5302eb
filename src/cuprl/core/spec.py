"""What an algorithm needs to know of a task: its observations, its actions, its constraints."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from cuprl.core.actions import Action
from cuprl.core.values import as_number, as_tuple, whole
from cuprl.errors import UserError


@dataclass(frozen=True)
class Constraint:
    """One cost with the limit that its expected (discounted) sum over an episode must stay under.

    Args:
        name: of the cost.
        limit: 0 or more.
        discount: of the sum, above 0 and up to 1; with 1 the limit bounds the plain sum.
        step_bound: what no step can cost more than, nor less than 0, where that is known; certificates are then exact.
    """

    name: str
    limit: float
    discount: float = 0.99
    step_bound: float | None = None

    def __post_init__(self) -> None:
        for part in ("limit", "discount"):
            object.__setattr__(self, part, as_number(getattr(self, part), f"the {part} of cost {self.name!r}"))
        if not np.isfinite(self.limit):
            raise UserError(f"the limit of cost {self.name!r} is {self.limit}; give a finite number.")
        if self.limit < 0.0:
            raise UserError(f"the limit of cost {self.name!r} is {self.limit}; give 0 or more.")
        if not 0.0 < self.discount <= 1.0:
            raise UserError(f"the discount of cost {self.name!r} is {self.discount}; it must be in (0, 1].")
        if self.step_bound is not None:
            object.__setattr__(self, "step_bound", as_number(self.step_bound, f"the bound of cost {self.name!r}"))
            if not 0.0 < self.step_bound < np.inf:
                raise UserError(f"the bound of cost {self.name!r} is {self.step_bound}; give a finite number above 0.")

    def largest_sum(self, horizon: int) -> float | None:
        """Bound the discounted cost of an episode of at most `horizon` steps; None where no step's bound is known."""
        if self.step_bound is None:
            return None
        rest = 1.0 - self.discount
        return self.step_bound * (horizon if rest == 0.0 else (1.0 - self.discount**horizon) / rest)


@dataclass(frozen=True)
class Spec:
    """Everything an algorithm needs to know of a task. Hashable, so that a compiled update can depend on it.

    Args:
        name: of the task.
        obs_dim: numbers of an observation.
        action: a `Box`, `Discrete` or `MultiDiscrete`.
        constraints: a `Constraint` for each cost, in the order in which costs are given.
        horizon: steps of a full episode; their mean where it ends by chance.
        step_seconds: from one action to the next; None where the task does not tell.
        ends_by_chance: the end of an episode is drawn at every step, whatever its length.
    """

    name: str
    obs_dim: int
    action: Action
    constraints: tuple[Constraint, ...]
    horizon: int
    step_seconds: float | None = None
    ends_by_chance: bool = False

    def __post_init__(self) -> None:
        for part in ("obs_dim", "horizon"):
            object.__setattr__(self, part, whole(getattr(self, part), f"{part} of {self.name}"))
        if self.step_seconds is not None:
            object.__setattr__(self, "step_seconds", as_number(self.step_seconds, f"step_seconds of {self.name}"))
            if not 0.0 < self.step_seconds < np.inf:
                raise UserError(f"step_seconds of {self.name} is {self.step_seconds}; give a finite number above 0.")
        if not isinstance(self.ends_by_chance, bool):
            raise UserError(f"ends_by_chance of {self.name} is {self.ends_by_chance!r}; give True or False.")
        if not isinstance(self.action, Action):
            raise UserError(f"action of {self.name} is {self.action!r}; give a cuprl.Box, Discrete or MultiDiscrete.")
        object.__setattr__(self, "constraints", as_tuple(self.constraints, f"constraints of {self.name}"))
        for constraint in self.constraints:
            if not isinstance(constraint, Constraint):
                raise UserError(f"a constraint of {self.name} is {constraint!r}; give cuprl.Constraint(name, limit).")
        for name, times in Counter(constraint.name for constraint in self.constraints).items():
            if times > 1:
                raise UserError(f"{times} constraints of {self.name} are named {name!r}; give each its own name.")

    @property
    def limits(self) -> np.ndarray:
        """Give the constraints' limits, in their order [m]."""
        return np.array([c.limit for c in self.constraints], np.float32)
