"""The kinds of actions: real numbers, one choice, several choices at once.

Each says how many numbers a network gives for an action, and what action they stand for: `decode` is used by all that acts,
in training, in exported files and where these are deployed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Any

import numpy as np

from cuprl.core.values import as_number, as_tuple, whole
from cuprl.errors import UserError


@dataclass(frozen=True)
class Box:
    """Real actions in R^dim.

    Args:
        dim: how many numbers an action has.
        low: the least that the actuators accept, for each; only a squashed policy stays within them.
        high: the most, likewise.
    """

    dim: int
    low: tuple[float, ...]
    high: tuple[float, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "dim", whole(self.dim, "dim of a Box"))
        for name in ("low", "high"):
            bounds = as_tuple(getattr(self, name), f"{name} of a Box")
            if len(bounds) != self.dim:
                raise UserError(f"{name} of a Box has {len(bounds)} numbers; give {self.dim}, one for each action.")
            object.__setattr__(self, name, tuple(as_number(bound, f"{name} of a Box") for bound in bounds))
        for i, (low, high) in enumerate(zip(self.low, self.high)):
            if not low <= high:  # also where one is NaN
                raise UserError(f"action {i} of a Box has the bounds {low:g} to {high:g}; give the lower one as low.")

    @property
    def shape(self) -> tuple[int, ...]:
        """Give the shape of one action's array."""
        return (self.dim,)

    @property
    def outputs(self) -> int:
        """Count the numbers that a network gives for one action."""
        return self.dim

    def decode(self, outputs: Any, xp: ModuleType = np) -> Any:
        """Map a network's outputs [..., dim], with noise or without, to actions [..., dim]: they are the actions."""
        return outputs

    @cached_property
    def reach(self) -> np.ndarray:
        """Give half the width between the bounds [dim]."""
        return np.asarray((np.array(self.high) - np.array(self.low)) / 2.0, np.float32)

    @cached_property
    def inside(self) -> tuple[np.ndarray, np.ndarray]:
        """Give low and high [dim] in float32, rounded inwards: the nearest may lie a last digit outside."""
        low, high = (np.array(bound, np.float32) for bound in (self.low, self.high))
        low = np.where(low.astype(np.float64) < self.low, np.nextafter(low, np.float32(np.inf)), low)
        high = np.where(high.astype(np.float64) > self.high, np.nextafter(high, np.float32(-np.inf)), high)
        return low, high

    @cached_property
    def _bounds(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Give the middle between the bounds, and these, [dim] each."""
        middle = (np.array(self.low) + np.array(self.high)) / 2.0
        return np.asarray(middle, np.float32), *self.inside

    def squash(self, outputs: Any, xp: ModuleType = np) -> Any:
        """Map the outputs [..., dim] of a squashed policy to actions within finite bounds [..., dim]."""
        middle, low, high = self._bounds
        action = xp.tanh(outputs) * self.reach + middle
        return xp.minimum(xp.maximum(action, low), high)  # rounding may lead a last digit too far

    def squashing(self) -> dict[str, np.ndarray]:
        """Name the arrays that `squash` computes with."""
        return {"reach": self.reach, **dict(zip(("middle", "low", "high"), self._bounds))}

    def unbounded(self) -> str | None:
        """Say which bound nothing can be squashed into, as 'action 1 has the bounds 0 to inf'; None: there is none."""
        for i, (low, high) in enumerate(zip(self.low, self.high)):
            if not (np.isfinite((low, high)).all() and low < high):
                return f"action {i} has the bounds {low:g} to {high:g}"
        return None

    def __str__(self) -> str:
        return str(self.dim)


@dataclass(frozen=True)
class Discrete:
    """One of n actions.

    Args:
        n: how many there are, counted from 0.
    """

    n: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", whole(self.n, "n of a Discrete"))

    @property
    def shape(self) -> tuple[int, ...]:
        """Give the shape of one action's array."""
        return ()

    @property
    def outputs(self) -> int:
        """Count the numbers that a network gives for one action."""
        return self.n

    def decode(self, outputs: Any, xp: ModuleType = np) -> Any:
        """Map logits [..., n] to the likeliest action [...]; with Gumbel noise added that is a sample of their softmax."""
        return xp.argmax(outputs, axis=-1)

    def __str__(self) -> str:
        return f"1 of {self.n}"


@dataclass(frozen=True)
class MultiDiscrete:
    """Several choices at once.

    Args:
        sizes: entry i of an action is one of sizes[i].
    """

    sizes: tuple[int, ...]

    def __post_init__(self) -> None:
        sizes = as_tuple(self.sizes, "sizes of a MultiDiscrete")
        object.__setattr__(self, "sizes", tuple(whole(size, "a size of a MultiDiscrete") for size in sizes))

    @property
    def shape(self) -> tuple[int, ...]:
        """Give the shape of one action's array."""
        return (len(self.sizes),)

    @property
    def outputs(self) -> int:
        """Count the numbers that a network gives for one action."""
        return sum(self.sizes)

    def split(self, outputs: Any, xp: ModuleType = np) -> list[Any]:
        """Part logits [..., outputs] into those of each choice, [..., sizes[i]]."""
        return xp.split(outputs, np.cumsum(self.sizes)[:-1], axis=-1)

    def decode(self, outputs: Any, xp: ModuleType = np) -> Any:
        """Map logits [..., outputs], the choices' side by side, to actions [..., choices], as Discrete does each."""
        return xp.stack([xp.argmax(part, axis=-1) for part in self.split(outputs, xp)], axis=-1)

    def __str__(self) -> str:
        return ", ".join(f"1 of {size}" for size in self.sizes)


Action = Box | Discrete | MultiDiscrete
