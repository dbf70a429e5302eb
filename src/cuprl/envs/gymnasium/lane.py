"""One of anyone's Gymnasium environments: called as it wants to be, with all it gives looked at, and brought back to a step.

An environment's inner state cannot be read out. What is kept instead is the seed of each episode and the actions since
its start: to put a state back, the episode is begun again with that seed and its actions are taken again.
"""

from __future__ import annotations

import copy
import math
import warnings
import weakref
from typing import Any

import numpy as np

from cuprl.envs.gymnasium.parts import GymnasiumParts
from cuprl.envs.gymnasium.spaces import action_of, observation_of
from cuprl.envs.gymnasium.watch import Calls, Overdue
from cuprl.errors import UserError, blame

OPEN: weakref.WeakSet[Lane] = weakref.WeakSet()  # those that are not closed
SIGNATURES = "(obs, reward, terminated, truncated, info), or with the cost after the reward as in Safety-Gymnasium"


def restart(env: Any, seed: int, name: str) -> Any:
    """Begin the episode with this seed, and give its first observation."""
    try:
        answer = env.reset(seed=seed)
    except UserError:
        raise
    except Exception as error:
        raise blame(f"reset of {name}", error, "(seed=NUMBER)") from error
    if not (isinstance(answer, tuple) and len(answer) == 2 and isinstance(answer[1], dict)):
        raise UserError(f"reset of {name} gave {type(answer).__name__}; it must give (obs, info), info a dict.")
    return answer[0]


def advance(env: Any, action: Any, name: str) -> tuple[Any, float, bool, bool, dict[str, Any]]:
    """Take one step; a cost that comes beside the reward is put into info["cost"]."""
    try:
        answer = env.step(action)
    except Exception as error:
        raise blame(f"step of {name}", error, "(action)") from error
    if not isinstance(answer, tuple) or len(answer) not in (5, 6):
        size = f"{len(answer)} values" if isinstance(answer, tuple) else type(answer).__name__
        raise UserError(f"step of {name} gave {size}; it must give {SIGNATURES}.")
    obs, reward, *cost, terminated, truncated, info = answer
    if not isinstance(info, dict):
        raise UserError(f"step of {name} gave an info that is {type(info).__name__}; it must be a dict.")
    try:
        reward = float(reward)
    except (TypeError, ValueError, OverflowError):
        raise UserError(f"step of {name} gave the reward {reward!r}; it must be one number.") from None
    try:
        ends = bool(terminated), bool(truncated)
    except (TypeError, ValueError):  # arrays of several
        given = f"terminated {terminated!r} and truncated {truncated!r}"
        raise UserError(f"step of {name} gave {given}; each must be one truth value.") from None
    return obs, reward, *ends, {**info, "cost": cost[0]} if cost else info


def for_reading(value: Any) -> Any:
    """Give arrays, also those in a dict or tuple, as views that cannot be written to: a cost changes nothing."""
    if isinstance(value, np.ndarray):
        view = value.view()
        view.flags.writeable = False
        return view
    if isinstance(value, dict):
        return {name: for_reading(part) for name, part in value.items()}
    return tuple(map(for_reading, value)) if type(value) is tuple else value


def costs_of(task: GymnasiumParts, obs: Any, action: Any, next_obs: Any, info: dict[str, Any]) -> list[float]:
    """Compute the costs of a step [m], each a finite number, or refuse by a sentence that names the cost."""
    values = []
    obs, action, next_obs = map(for_reading, (obs, action, next_obs))
    for name, function in task.costs.items():
        try:
            value = function(obs, action, next_obs, info)
        except UserError:
            raise
        except Exception as error:
            raise blame(f"cost {name!r}", error, "(obs, action, next_obs, info)") from error
        try:
            value = float(value)
        except (TypeError, ValueError, OverflowError):
            shape = f"an array of shape {np.shape(value)}" if np.shape(value) else repr(value)
            raise UserError(f"cost {name!r} is {shape}; let it be one number a step.") from None
        if not math.isfinite(value):
            raise UserError(f"cost {name!r} is {value}; let it be finite at every step.")
        values.append(value)
    return values


def unwrapped(env: Any, name: str) -> Any:
    """Give what is inside of an environment's wrappers; one that another lane has open, and steps, is refused."""
    inside = getattr(env, "unwrapped", None)
    inside = env if inside is None else inside
    if any(lane.inside is inside for lane in list(OPEN)):
        said = f"making {name} gave an environment that is still in use"
        raise UserError(f"{said}; make a new one in each call, as `lambda: Env()`.")
    return inside


class Lane:
    """One environment, and how to come back to its present step: a seed and the actions since."""

    def __init__(self, task: GymnasiumParts, calls: Calls | None = None):
        self.task, self.env = task, task.make()
        self.calls = calls or [0, 0]  # the first is raised whenever the environment is called
        self.size, self.flat = observation_of(self.env.observation_space, task.name)
        self.action, self.convert = action_of(self.env.action_space, task.name)
        self.horizon = task.horizon_of(self.env)
        self.looks_back = task.looks_at_observations
        self.actions: list[np.ndarray] = []  # the policy's, since the episode began
        self.stale = False  # a state was put back, and the environment has not been brought there yet
        self.closed = False
        self.inside = unwrapped(self.env, task.name)
        OPEN.add(self)

    def reset(self, seed: int) -> np.ndarray:
        self.generator = np.random.default_rng(seed)
        return self.begin()

    def begin(self) -> np.ndarray:
        """Begin an episode with the next seed; returns its first observation [obs]."""
        self.seed, self.actions, self.stale = int(self.generator.integers(2**31)), [], False
        self.calls[0] += 1
        self.raw = restart(self.env, self.seed, self.task.name)
        self.obs = self.flat(self.raw)
        return self.obs

    def step(self, policy_action: np.ndarray) -> tuple[np.ndarray, float, list[float], bool, bool, np.ndarray]:
        """Take a step; gives what a `Step` has, for one environment."""
        if self.stale:
            self.replay()
        name = self.task.name
        # A copy: many environments write the next observation over the last one.
        before = copy.deepcopy(self.raw) if self.looks_back else None
        self.actions.append(policy_action)
        action = self.convert(policy_action)
        self.calls[0] += 1
        self.raw, reward, terminated, truncated, info = advance(self.env, action, name)
        cost = costs_of(self.task, before, action, self.raw, info)
        next_obs = self.obs = self.flat(self.raw)
        truncated = truncated or len(self.actions) >= self.horizon
        return next_obs, reward, cost, terminated, truncated, self.begin() if terminated or truncated else next_obs

    def replay(self) -> None:
        """Bring the environment to the state that was put back."""
        self.stale = False
        self.calls[0] += 1
        self.raw, ended = restart(self.env, self.seed, self.task.name), False
        for action in self.actions:
            if not ended:
                self.calls[0] += 1
                self.raw, _, *end, _ = advance(self.env, self.convert(action), self.task.name)
                ended = any(end)
        if ended or not np.array_equal(self.flat(self.raw), self.obs, equal_nan=True):
            warnings.warn(
                f"{self.task.name} does not repeat an episode from its seed and its actions: "
                "the run continues, but not bit for bit.",
                stacklevel=2,
            )
        if ended:
            self.begin()

    def close(self) -> None:
        """End the environment, once; an error in it is only told, since it takes nothing from what was learnt."""
        if self.closed:
            return
        self.closed = True
        OPEN.discard(self)
        self.calls[0] += 1
        try:
            getattr(self.env, "close", lambda: None)()
        except Overdue:
            warnings.warn(f"close of {self.task.name} did not return.", stacklevel=2)
        except Exception as error:
            warnings.warn(str(blame(f"close of {self.task.name}", error)), stacklevel=2)
