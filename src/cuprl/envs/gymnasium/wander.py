"""Random actions in a Gymnasium environment, and what they show: costs, ends, times, and what is wrong with a signal."""

from __future__ import annotations

import copy
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from gymnasium import spaces

from cuprl.core.observations import LARGEST, fault
from cuprl.envs.gymnasium.lane import Lane, advance, costs_of, restart
from cuprl.errors import UserError


@dataclass
class Trial:
    """What random actions showed."""

    episodes: list[np.ndarray] = field(default_factory=list)  # [T, m] the costs of each ended episode
    costs: list[list[float]] = field(default_factory=list)  # of every step; NaN where there was none
    unended: int = 0  # episodes that only the horizon cut
    seconds: float = 0.0  # spent in the environment's steps
    wrong: dict[str, str] = field(default_factory=dict)  # the first time each kind of thing was wrong


def wander(lane: Lane, steps: int, seed: int) -> Trial:
    """Take so many random steps, over as many episodes as they make, and note what is seen."""
    trial, env, task = Trial(), lane.env, lane.task
    obs: Any = None
    try:
        for t in range(steps):
            if obs is None:
                obs, costs = restart(env, seed + t, task.name), list[list[float]]()
                look_at(obs, env.observation_space, "reset", trial)
                look_at_size(lane.flat(obs), "reset", trial)
            action, before = env.action_space.sample(), copy.deepcopy(obs)  # many write the next one over it
            clock = time.perf_counter()
            next_obs, reward, terminated, truncated, info = advance(env, action, task.name)
            trial.seconds += time.perf_counter() - clock
            look_at(next_obs, env.observation_space, "step", trial)
            look_at_size(lane.flat(next_obs), "step", trial)
            if not np.isfinite(reward):
                trial.wrong.setdefault("reward", f"the reward is {reward} after {t + 1} steps; let it be finite.")
            try:
                costs.append(costs_of(task, before, action, next_obs, info))
            except UserError as error:
                trial.wrong.setdefault("cost", str(error))
                costs.append([np.nan] * len(task.costs))
            trial.costs.append(costs[-1])
            obs = next_obs
            cut = len(costs) >= lane.horizon
            if terminated or truncated or cut:
                trial.unended += not (terminated or truncated)
                trial.episodes.append(np.array(costs))
                obs = None
    except UserError as error:
        trial.wrong["step"] = str(error)
    return trial


def look_at(obs: Any, space: Any, source: str, trial: Trial) -> None:
    """Note the first observation that is outside of its space; source: reset or step."""
    if "observation" in trial.wrong or fits(obs, space):
        return
    trial.wrong["observation"] = f"{source} gives an observation outside its space: {difference(obs, space)}."


def look_at_size(obs: np.ndarray, source: str, trial: Trial) -> None:
    """Note the first observation, flattened, that training would refuse."""
    if wrong := fault(obs):
        said = f"{source} gives an observation that cannot be used ({wrong}); give finite numbers of at most {LARGEST:g}."
        trial.wrong.setdefault("observation", said)


def fits(obs: Any, space: Any) -> bool:
    """Tell whether an observation is in its space; Gymnasium raises on some that are not."""
    try:
        return space.contains(obs)
    except (TypeError, ValueError):
        return False


def difference(obs: Any, space: Any) -> str:
    """Say in what an observation does not fit its space, and the fix."""
    if isinstance(space, spaces.Dict) and isinstance(obs, dict):
        if obs.keys() != space.spaces.keys():
            return f"it has the keys {', '.join(map(str, obs))}, the space {', '.join(map(str, space))}; let them agree"
        return next(f"{key!r}, {difference(obs[key], part)}" for key, part in space.items() if not fits(obs[key], part))
    if isinstance(space, spaces.Box):
        try:
            array = np.asarray(obs)
            numbers = array.astype(np.float64)
        except (TypeError, ValueError, OverflowError):
            return f"it is no array of numbers; let it be one of {space.dtype} with the shape {space.shape}"
        if array.shape != space.shape:
            return f"its shape is {array.shape}, the space's {space.shape}; let them agree"
        outside = ~((numbers >= space.low) & (numbers <= space.high))  # also where it is NaN
        if outside.any():
            i = tuple(int(index) for index in np.argwhere(outside)[0])
            bounds = f"{space.low[i]:g} to {space.high[i]:g}"
            return f"entry {', '.join(map(str, i))} is {numbers[i]:g}, the space has {bounds}; widen the space or mend it"
        return f"it is {type(obs).__name__} of {array.dtype}, the space holds arrays of {space.dtype}; convert it"
    return f"{obs!r} is not in {space}; let them agree"
