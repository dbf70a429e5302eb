"""N copies of anyone's Gymnasium environment, stepped together in this process (workers.py: over several).

An environment's inner state cannot be read out. What is kept instead is the seed of each episode and the actions since
its start: to put a state back, the episode is begun again with that seed and its actions are taken again.
"""

from __future__ import annotations

import copy
import math
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from cuprl.envs.protocol import Box, Constraint, Spec, Step, pack_generators, unpack_generators
from cuprl.envs.spaces import action_of, observation_of
from cuprl.errors import RunStopped, UserError, blame

if TYPE_CHECKING:
    from cuprl.envs.gymnasium_task import GymnasiumTask

SIGNATURES = "(obs, reward, terminated, truncated, info), or with the cost after the reward as in Safety-Gymnasium"


def restart(env: Any, seed: int, name: str) -> Any:
    """The first observation of the episode with this seed."""
    try:
        answer = env.reset(seed=seed)
    except Exception as error:
        raise blame(f"reset of {name}", error, "(seed=NUMBER)") from error
    if not (isinstance(answer, tuple) and len(answer) == 2 and isinstance(answer[1], dict)):
        raise UserError(f"reset of {name} gave {type(answer).__name__}; it must give (obs, info), info a dict.")
    return answer[0]


def advance(env: Any, action: Any, name: str) -> tuple[Any, float, bool, bool, dict[str, Any]]:
    """One step; a cost that comes beside the reward is put into info["cost"]."""
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
    except (TypeError, ValueError):
        raise UserError(f"step of {name} gave the reward {reward!r}; it must be one number.") from None
    return obs, reward, bool(terminated), bool(truncated), {**info, "cost": cost[0]} if cost else info


def costs_of(task: GymnasiumTask, obs: Any, action: Any, next_obs: Any, info: dict[str, Any]) -> list[float]:
    """[m] each a finite number, or a sentence that names the cost."""
    values = []
    for name, function in task.costs.items():
        try:
            value = function(obs, action, next_obs, info)
        except UserError:
            raise
        except Exception as error:
            raise blame(f"cost {name!r}", error, "(obs, action, next_obs, info)") from error
        try:
            value = float(value)
        except (TypeError, ValueError):
            shape = f"an array of shape {np.shape(value)}" if np.shape(value) else repr(value)
            raise UserError(f"cost {name!r} is {shape}; let it be one number a step.") from None
        if not math.isfinite(value):
            raise UserError(f"cost {name!r} is {value}; let it be finite at every step.")
        values.append(value)
    return values


class Lane:
    """One environment, and how to come back to its present step: a seed and the actions since."""

    def __init__(self, task: GymnasiumTask):
        self.task, self.env = task, task.make()
        self.size, self.flat = observation_of(self.env.observation_space, task.name)
        self.action, self.convert = action_of(self.env.action_space, task.name)
        self.horizon = task.horizon_of(self.env)
        self.looks_back = task.looks_at_observations
        self.actions: list[np.ndarray] = []  # the policy's, since the episode began
        self.stale = False  # a state was put back, and the environment has not been brought there yet
        self.closed = False

    def reset(self, seed: int) -> np.ndarray:
        self.generator = np.random.default_rng(seed)
        return self.begin()

    def begin(self) -> np.ndarray:
        self.seed, self.actions, self.stale = int(self.generator.integers(2**31)), [], False
        self.raw = restart(self.env, self.seed, self.task.name)
        self.obs = self.flat(self.raw)
        return self.obs

    def step(self, policy_action: np.ndarray) -> tuple[np.ndarray, float, list[float], bool, bool, np.ndarray]:
        """As `Step`, for one environment."""
        if self.stale:
            self.replay()
        name = self.task.name
        # A copy: many environments write the next observation over the last one.
        before = copy.deepcopy(self.raw) if self.looks_back else None
        self.actions.append(policy_action)
        action = self.convert(policy_action)
        self.raw, reward, terminated, truncated, info = advance(self.env, action, name)
        cost = costs_of(self.task, before, action, self.raw, info)
        next_obs = self.obs = self.flat(self.raw)
        truncated = truncated or len(self.actions) >= self.horizon
        return next_obs, reward, cost, terminated, truncated, self.begin() if terminated or truncated else next_obs

    def replay(self) -> None:
        """Bring the environment to the state that was put back."""
        self.stale = False
        self.raw, ended = restart(self.env, self.seed, self.task.name), False
        for action in self.actions:
            if not ended:
                self.raw, _, *end, _ = advance(self.env, self.convert(action), self.task.name)
                ended = any(end)
        if ended or not np.array_equal(self.flat(self.raw), self.obs, equal_nan=True):
            warnings.warn(
                f"{self.task.name} does not repeat an episode from its seed and its actions: "
                "the run continues, but not bit for bit.", stacklevel=2,
            )  # fmt: skip
        if ended:
            self.begin()

    def close(self) -> None:
        """Once; an error in it is only told, since it takes nothing from what was learnt."""
        if self.closed:
            return
        self.closed = True
        try:
            getattr(self.env, "close", lambda: None)()
        except Exception as error:
            warnings.warn(str(blame(f"close of {self.task.name}", error)), stacklevel=2)


class GymnasiumVectorEnv:
    """Environments in this process. Environment i draws the seeds of its episodes from a generator seeded seed + i."""

    def __init__(self, task: GymnasiumTask, num_envs: int, constraints: tuple[Constraint, ...]):
        self.num_envs = num_envs
        self.lanes: list[Lane] = []
        try:
            for _ in range(num_envs):
                self.lanes.append(Lane(task))
            first = self.lanes[0]
            self.spec = Spec(task.name, first.size, first.action, constraints, first.horizon)
            first.reset(0)
            first.step(np.zeros(first.action.shape))  # what is wrong with a step is known before anything is learnt
        except UserError:
            self.close()
            raise

    def close(self) -> None:
        """Closes every environment; nothing happens the second time."""
        for lane in self.lanes:
            lane.close()

    def reset(self, seed: int) -> np.ndarray:
        return np.array([lane.reset(seed + i) for i, lane in enumerate(self.lanes)])

    def step(self, action: np.ndarray) -> Step:
        try:
            rows = [lane.step(a) for lane, a in zip(self.lanes, action)]
        except UserError as error:  # known only in the middle of a run
            raise RunStopped(str(error).removesuffix(".")) from error
        return Step(*map(np.array, zip(*rows))).shared()

    def get_state(self) -> dict[str, np.ndarray]:
        actions = [action for lane in self.lanes for action in lane.actions]
        kind = np.float32 if isinstance(self.spec.action, Box) else np.int64
        return {
            "seed": np.array([lane.seed for lane in self.lanes]),
            "steps": np.array([len(lane.actions) for lane in self.lanes]),
            "actions": np.array(actions) if actions else np.zeros((0, *self.spec.action.shape), kind),  # [sum steps, ...]
            "obs": np.array([lane.obs for lane in self.lanes]),
            "generators": pack_generators([lane.generator for lane in self.lanes]),
        }

    def set_state(self, state: dict[str, np.ndarray]) -> np.ndarray:
        """The episodes are replayed only when the next step is taken: a saved policy is looked at without."""
        actions = np.split(state["actions"], np.cumsum(state["steps"])[:-1])
        generators = unpack_generators(state["generators"])
        for i, lane in enumerate(self.lanes):
            lane.seed, lane.actions, lane.obs = int(state["seed"][i]), list(actions[i]), state["obs"][i].copy()
            lane.generator, lane.stale = generators[i], True
        return state["obs"].copy()
