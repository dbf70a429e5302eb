"""What a constrained task is to the rest of the package: its spec, its step, and how it continues exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from cuprl.errors import UserError


@dataclass(frozen=True)
class Constraint:
    """One cost with the limit that its expected (discounted) sum over an episode must stay under."""

    name: str
    limit: float
    discount: float = 0.99  # 1.0: the limit bounds the undiscounted sum

    def __post_init__(self) -> None:
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

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.dim,)

    def __str__(self) -> str:
        return str(self.dim)


@dataclass(frozen=True)
class Discrete:
    """One of n actions."""

    n: int

    @property
    def shape(self) -> tuple[int, ...]:
        return ()

    def __str__(self) -> str:
        return f"1 of {self.n}"


@dataclass(frozen=True)
class MultiDiscrete:
    """Several choices at once: entry i of an action is one of sizes[i]."""

    sizes: tuple[int, ...]

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

    @property
    def limits(self) -> np.ndarray:
        return np.array([c.limit for c in self.constraints], np.float32)  # [m]


class Step(NamedTuple):
    """The outcome of one step of N environments with m costs."""

    next_obs: np.ndarray  # [N, obs] the true successor: what values are bootstrapped from
    reward: np.ndarray  # [N]
    cost: np.ndarray  # [N, m]
    terminated: np.ndarray  # [N] the task ended here: no future
    truncated: np.ndarray  # [N] the clock ended the episode: the future was only not seen
    obs: np.ndarray  # [N, obs] what to act on next: the reset already applied where an episode ended


class VectorEnv(Protocol):
    """N copies of a task, stepped together."""

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
