"""What whoever drives an `Agent` tells it, of the task and of N robots: checked, and in the shapes that a rollout has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cuprl import envs
from cuprl.core.observations import LARGEST, fault
from cuprl.core.spec import Spec
from cuprl.core.task import Task
from cuprl.errors import UserError, unknown

LARGEST_SIGNAL = float(np.finfo(np.float32).max)  # a rollout keeps rewards and costs in float32


def spec_and_task(given: Spec | Task | str) -> tuple[Spec, Task | None]:
    """Find out what is controlled: a spec itself, or that of a task or of a task's name."""
    if isinstance(given, Spec):
        return given, None
    if not isinstance(given, str) and not hasattr(given, "vector_env"):
        raise UserError(f"spec is {given!r}; give a cuprl.Spec, a task, or the name of one.")
    task = envs.find(given)
    return envs.spec_of(task), task


def numbers(value: Any, name: str, shape: tuple[int, ...]) -> np.ndarray:
    """Check and give [*shape], float64; an axis of length 1 may be left out, as that of the robots where there is one."""
    plain = [n for n in shape if n != 1]
    wanted = "a number" if not plain else f"numbers of the shape {plain}"
    try:
        array = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        raise UserError(f"{name} is {value!r}; give {wanted}.") from None
    if [n for n in array.shape if n != 1] != plain:
        raise UserError(f"{name} has the shape {list(array.shape)}; give {wanted}.")
    if not np.isfinite(array).all():
        raise UserError(f"{name} has NaN or infinite values: nothing was recorded; give finite ones.")
    return array.reshape(shape)


def flags(value: Any, name: str, num_envs: int) -> np.ndarray:
    """Check and give [N], of 0 and 1; a status code of a robot is neither."""
    array = numbers(value, name, (num_envs,))
    if not np.isin(array, (0.0, 1.0)).all():
        raise UserError(f"{name} is {value!r}: nothing was recorded; give True or False.")
    return array


def observation(obs: Any, name: str, num_envs: int, obs_dim: int) -> np.ndarray:
    """Check and give [N, obs]; one that is too large to be an observation is refused."""
    array = numbers(obs, name, (num_envs, obs_dim))
    if wrong := fault(array, name):
        raise UserError(f"{wrong}: nothing was recorded; give numbers of at most {LARGEST:g} in size.")
    return array


def costs(cost: Any, num_envs: int, names: Sequence[str]) -> np.ndarray:
    """Check and give [N, m], of numbers in the order of the constraints or of a dict by their names."""
    if not isinstance(cost, dict):
        return numbers(cost, "cost", (num_envs, len(names)))
    for name in cost:
        if name not in names:
            raise unknown("cost", name, names)
    for name in names:
        if name not in cost:
            raise UserError(f"cost {name!r} is missing; give all of {', '.join(names)}.")
    return np.stack([numbers(cost[name], f"cost {name!r}", (num_envs,)) for name in names], axis=1)


def signals(reward: Any, cost: Any, num_envs: int, names: Sequence[str]) -> np.ndarray:
    """Check and give [N, 1 + m], the reward and then the costs; one that a rollout cannot keep is refused."""
    both = np.concatenate((numbers(reward, "reward", (num_envs, 1)), costs(cost, num_envs, names)), axis=1)
    largest = both.flat[np.abs(both).argmax()]
    if abs(largest) > LARGEST_SIGNAL:
        said = f"a reward or cost is {largest:g}: nothing was recorded"
        raise UserError(f"{said}; give numbers of at most {LARGEST_SIGNAL:.4g} in size.")
    return both
