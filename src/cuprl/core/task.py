"""What a constrained task is to the rest of the package: its vector environment, its step, and how it continues exactly."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from cuprl.core.spec import Constraint, Spec


class Step(NamedTuple):
    """The outcome of one step of N environments with m costs, in arrays which later steps leave alone."""

    next_obs: np.ndarray  # [N, obs] the true successor: what values are bootstrapped from
    reward: np.ndarray  # [N]
    cost: np.ndarray  # [N, m]
    terminated: np.ndarray  # [N] the task ended here: no future
    truncated: np.ndarray  # [N] the clock ended the episode: the future was only not seen
    obs: np.ndarray  # [N, obs] what to act on next: the reset already applied where an episode ended (another array then)

    def shared(self) -> Step:
        """Give it with `next_obs` itself to act on next if no episode ended: nobody need look at both."""
        return self if (self.terminated | self.truncated).any() else self._replace(obs=self.next_obs)


class Steppable(Protocol):
    """N copies of a task, in which a policy can act."""

    spec: Spec
    num_envs: int

    def reset(self, seed: int) -> np.ndarray:
        """Begin an episode in every environment; returns obs [N, obs]."""

    def step(self, action: np.ndarray) -> Step:
        """Take actions [N, ...]; an environment whose episode ends is reset at once."""


class VectorEnv(Steppable, Protocol):
    """N copies of a task, stepped together.

    One may also have `late_scores()`: None, or an object whose `step` leaves reward and cost out, and whose `scores` then
    gives those of all steps at once, [T, N] and [T, N, m].
    """

    def get_state(self) -> dict[str, np.ndarray]:
        """Give all that is needed to continue exactly, as plain arrays."""
        ...

    def set_state(self, state: dict[str, np.ndarray]) -> np.ndarray:
        """Put a state back; returns the observation to act on next."""
        ...


class Task(Protocol):
    """What can be trained on: anything with a name and constraints that makes its vector environment.

    A task may also have `settings`, a dict: what it changes of every algorithm's defaults.
    """

    @property
    def name(self) -> str:
        """Give the name that finds it again, or that people know it by."""

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """Give its costs and their usual limits."""

    def vector_env(self, num_envs: int, threads: int, constraints: tuple[Constraint, ...]) -> VectorEnv:
        """Make N environments with these constraints; threads: of the physics, which change no result."""


def bare(name: str) -> str:
    """Take off a task's name its costs, its limits and how its environments are run, which follow a +."""
    return name.partition("+")[0]


def refuse_misfit(state: dict[str, np.ndarray], like: dict[str, np.ndarray], any_length: str = "") -> None:
    """Raise KeyError or ValueError for a state whose arrays are not of the sizes and kinds of `like`.

    any_length: the array whose first axis is as long as it is.
    """
    for name, b in like.items():
        a = state[name]
        axes = slice(name == any_length, None)
        if (a.ndim, a.shape[axes], a.dtype.kind) != (b.ndim, b.shape[axes], b.dtype.kind):
            raise ValueError(f"env/{name} is {a.dtype} {list(a.shape)}, expected {b.dtype} {list(b.shape)}")


def pack_generators(generators: list[np.random.Generator]) -> np.ndarray:
    """Write PCG64 generators as unsigned integers [N, 6], so that a checkpoint holds them without pickling."""
    low = (1 << 64) - 1
    rows = []
    for generator in generators:
        bits = generator.bit_generator.state
        state, inc = bits["state"]["state"], bits["state"]["inc"]
        rows.append([state >> 64, state & low, inc >> 64, inc & low, bits["has_uint32"], bits["uinteger"]])
    return np.array(rows, np.uint64)


def unpack_generators(packed: np.ndarray) -> list[np.random.Generator]:
    """Make the generators again that `pack_generators` wrote [N, 6]."""
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
