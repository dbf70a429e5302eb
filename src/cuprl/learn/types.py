"""What passes between collecting, estimating and updating. T steps, N environments, B = T N, m costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import jax

from cuprl.core.spec import Spec
from cuprl.learn.multipliers import Multiplier


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Rollout:
    """What one policy did, time-major; observations already normalised."""

    obs: Any  # [T, N, obs]
    action: Any  # [T, N, act] or [T, N]
    signal: Any  # [T, N, 1 + m] the reward, then the costs
    next_obs: Any  # [T, N, obs] true successors
    terminated: Any  # [T, N]
    truncated: Any  # [T, N]


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Batch:
    """What an update learns from, flat."""

    obs: Any  # [B, obs]
    action: Any  # [B, act] or [B]
    adv_r: Any  # [B] standardised
    adv_c: Any  # [B, m] as GAE gives it, or as its state counts in J^C; each algorithm says what it does with the scale
    ret: Any  # [B, 1 + m] value targets of the reward and the costs
    cost_return: Any  # [m] the estimate of J^C
    limits: Any  # [m] b: data, so that one compiled update serves every limit
    cost_span: Any  # [m] what one unit of mean (ratio - 1) adv_c adds to J^C
    episodes: Any  # [] how many episodes' worth of data the estimate rests on
    lr_scale: Any  # [] falls from 1 to 0 over the run if the learning rate is annealed


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class State:
    """All that an algorithm learns."""

    policy: Any
    critics: Any  # a list of 1 + m networks: the reward's, then each cost's
    policy_opt: Any
    critic_opt: Any
    multiplier: Multiplier
    key: Any
    belief: Any = None  # learn.belief.Belief, of algorithms that keep one


Metrics = dict[str, Any]


class Algorithm(Protocol):
    """What a module must have to be an algorithm, and no more: pure functions, no base class."""

    Config: Any  # a frozen dataclass: its settings with their defaults, help and what they accept

    def init(self, key: jax.Array, config: Any, spec: Spec) -> State:
        """Draw the state to begin with."""
        ...

    def update(self, state: State, batch: Batch, config: Any, spec: Spec) -> tuple[State, Metrics]:
        """Learn from one batch; gives the new state, and metrics by their columns."""
        ...
