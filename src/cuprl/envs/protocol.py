"""What a constrained task is to the rest of the package: its spec, its step, and how it continues exactly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from cuprl.errors import UserError


def whole(value: Any, what: str, least: int = 1) -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise UserError(f"{what} is {value!r}; give a whole number of at least {least}.")


def as_number(value: Any, what: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise UserError(f"{what} is {value!r}; give a number.") from None


def as_tuple(value: Any, what: str) -> tuple[Any, ...]:
    """Lists and arrays too: a Spec must be hashable."""
    if not isinstance(value, Iterable) or isinstance(value, str):
        raise UserError(f"{what} is {value!r}; give a tuple.")
    return tuple(value)


@dataclass(frozen=True)
class Constraint:
    """One cost with the limit that its expected (discounted) sum over an episode must stay under."""

    name: str
    limit: float
    discount: float = 0.99  # 1.0: the limit bounds the undiscounted sum

    def __post_init__(self) -> None:
        for part in ("limit", "discount"):
            as_number(getattr(self, part), f"the {part} of cost {self.name!r}")
        if not np.isfinite(self.limit):
            raise UserError(f"the limit of cost {self.name!r} is {self.limit}; give a finite number.")
        if self.limit < 0.0:
            raise UserError(f"the limit of cost {self.name!r} is {self.limit}; give 0 or more.")
        if not 0.0 < self.discount <= 1.0:
            raise UserError(f"the discount of cost {self.name!r} is {self.discount}; it must be in (0, 1].")


@dataclass(frozen=True)
class Box:
    """Real actions in R^dim; `low` and `high` are what the actuators accept (the policy is not squashed to them)."""

    dim: int
    low: tuple[float, ...]
    high: tuple[float, ...]

    def __post_init__(self) -> None:
        whole(self.dim, "dim of a Box")
        for name in ("low", "high"):
            bounds = as_tuple(getattr(self, name), f"{name} of a Box")
            if len(bounds) != self.dim:
                raise UserError(f"{name} of a Box has {len(bounds)} numbers; give {self.dim}, one for each action.")
            object.__setattr__(self, name, tuple(as_number(bound, f"{name} of a Box") for bound in bounds))

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.dim,)

    def __str__(self) -> str:
        return str(self.dim)


@dataclass(frozen=True)
class Discrete:
    """One of n actions."""

    n: int

    def __post_init__(self) -> None:
        whole(self.n, "n of a Discrete")

    @property
    def shape(self) -> tuple[int, ...]:
        return ()

    def __str__(self) -> str:
        return f"1 of {self.n}"


@dataclass(frozen=True)
class MultiDiscrete:
    """Several choices at once: entry i of an action is one of sizes[i]."""

    sizes: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "sizes", as_tuple(self.sizes, "sizes of a MultiDiscrete"))
        for size in self.sizes:
            whole(size, "a size of a MultiDiscrete")

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.sizes),)

    def __str__(self) -> str:
        return ", ".join(f"1 of {size}" for size in self.sizes)


@dataclass(frozen=True)
class Spec:
    """Everything an algorithm needs to know of a task. Hashable, so that a compiled update can depend on it."""

    name: str
    obs_dim: int
    action: Box | Discrete | MultiDiscrete
    constraints: tuple[Constraint, ...]
    horizon: int  # steps of a full episode; their mean where the end is drawn by chance

    def __post_init__(self) -> None:
        whole(self.obs_dim, f"obs_dim of {self.name}")
        whole(self.horizon, f"horizon of {self.name}")
        if not isinstance(self.action, Box | Discrete | MultiDiscrete):
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
        return np.array([c.limit for c in self.constraints], np.float32)  # [m]


class Step(NamedTuple):
    """The outcome of one step of N environments with m costs, in arrays which later steps leave alone."""

    next_obs: np.ndarray  # [N, obs] the true successor: what values are bootstrapped from
    reward: np.ndarray  # [N]
    cost: np.ndarray  # [N, m]
    terminated: np.ndarray  # [N] the task ended here: no future
    truncated: np.ndarray  # [N] the clock ended the episode: the future was only not seen
    obs: np.ndarray  # [N, obs] what to act on next: the reset already applied where an episode ended (another array then)

    def shared(self) -> Step:
        """The same, with `next_obs` itself to act on next if no episode ended: nobody need look at both."""
        return self if (self.terminated | self.truncated).any() else self._replace(obs=self.next_obs)


class VectorEnv(Protocol):
    """N copies of a task, stepped together.

    One may also have `late_scores()`: None, or an object whose `step` leaves reward and cost out, and whose `scores` then
    gives those of all steps at once, [T, N] and [T, N, m].
    """

    spec: Spec
    num_envs: int

    def reset(self, seed: int) -> np.ndarray: ...

    def step(self, action: np.ndarray) -> Step: ...

    def get_state(self) -> dict[str, np.ndarray]:
        """All that is needed to continue exactly, as plain arrays."""
        ...

    def set_state(self, state: dict[str, np.ndarray]) -> np.ndarray:
        """Put a state back; returns the observation to act on next."""
        ...


class Task(Protocol):
    """What can be trained on: anything with a name and constraints that makes its vector environment.

    A task may also have `settings`, a dict: what it changes of every algorithm's defaults.
    """

    @property
    def name(self) -> str: ...

    @property
    def constraints(self) -> tuple[Constraint, ...]: ...

    def vector_env(self, num_envs: int, threads: int, constraints: tuple[Constraint, ...]) -> VectorEnv: ...


def pack_generators(generators: list[np.random.Generator]) -> np.ndarray:
    """PCG64 generators as unsigned integers [N, 6], so that a checkpoint holds them without pickling."""
    low = (1 << 64) - 1
    rows = []
    for generator in generators:
        bits = generator.bit_generator.state
        state, inc = bits["state"]["state"], bits["state"]["inc"]
        rows.append([state >> 64, state & low, inc >> 64, inc & low, bits["has_uint32"], bits["uinteger"]])
    return np.array(rows, np.uint64)


def unpack_generators(packed: np.ndarray) -> list[np.random.Generator]:
    generators = []
    for row in packed.tolist():
        bits = np.random.PCG64()
        bits.state = {
            "bit_generator": "PCG64",
            "state": {"state": (row[0] << 64) | row[1], "inc": (row[2] << 64) | row[3]},
            "has_uint32": int(row[4]),
            "uinteger": int(row[5]),
        }
        generators.append(np.random.Generator(bits))
    return generators
