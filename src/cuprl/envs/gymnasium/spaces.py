"""Gymnasium's spaces as ours: an observation becomes one flat vector, an action of the policy one of the environment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium import spaces

from cuprl.core.actions import Box, Discrete, MultiDiscrete
from cuprl.errors import UserError

Action = Box | Discrete | MultiDiscrete
OBSERVATIONS = (spaces.Box, spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary)


def check_observation(space: Any, name: str) -> None:
    """Refuse what cannot become a vector. A Dict or Tuple may hold Dicts and Tuples."""
    if isinstance(space, spaces.Dict | spaces.Tuple):
        for part in space.spaces.values() if isinstance(space, spaces.Dict) else space.spaces:
            check_observation(part, name)
    elif not isinstance(space, OBSERVATIONS):
        raise UserError(
            f"{name} has observations in {space}, which are no vector of a fixed length; wrap it in "
            "gymnasium.wrappers.TransformObservation so that they lie in a Box, a Discrete, or a Dict or Tuple of these."
        )


def observation_of(space: Any, name: str) -> tuple[int, Callable[[Any], np.ndarray]]:
    """Give the length of a flat observation, and the function that makes one [obs].

    A Box goes row by row, a Discrete one-hot, a Tuple in order, a Dict in the order of its space (Gymnasium sorts keys).
    """
    check_observation(space, name)
    size = spaces.flatdim(space)

    def flat(obs: Any) -> np.ndarray:
        try:
            vector = np.asarray(spaces.flatten(space, obs), np.float64)
            if vector.shape == (size,):
                return vector
            problem = f"it flattens to {vector.size} numbers, not {size}"
        except (TypeError, ValueError, OverflowError, IndexError, KeyError, AttributeError) as error:
            problem = f"{type(error).__name__}: {error}"
        raise UserError(f"{name} gave an observation that does not fit its space {space} ({problem}); mend one of them.")

    return size, flat


def action_of(space: Any, name: str) -> tuple[Action, Callable[[np.ndarray], Any]]:
    """Give what the policy chooses from, and how its choice becomes an action of the environment.

    A real action is clipped to the bounds on the way; what is learnt from is the action before that.
    """
    if isinstance(space, spaces.Box) and np.issubdtype(space.dtype, np.floating):
        low, high = space.low, space.high
        bounds = (tuple(map(float, bound.ravel())) for bound in (low, high))
        return Box(low.size, *bounds), lambda a: np.clip(np.reshape(a, low.shape), low, high).astype(space.dtype)
    if isinstance(space, spaces.Discrete):
        return Discrete(int(space.n)), lambda a: space.dtype.type(space.start + a)
    if isinstance(space, spaces.MultiDiscrete):
        sizes = tuple(map(int, space.nvec.ravel()))
        return MultiDiscrete(sizes), lambda a: (np.reshape(a, space.nvec.shape) + space.start).astype(space.dtype)
    if isinstance(space, spaces.MultiBinary):
        size = int(np.prod(space.shape))
        return MultiDiscrete((2,) * size), lambda a: np.reshape(a, space.shape).astype(space.dtype)
    raise UserError(
        f"{name} has actions in {space}, which no policy here can choose; wrap it in gymnasium.wrappers.TransformAction "
        "so that they lie in a Box of real numbers, a Discrete or a MultiDiscrete."
    )
