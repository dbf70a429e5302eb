"""PPO: Proximal Policy Optimization (Schulman et al. 2017), the clipped kind. Knows nothing of costs.

    paper                here
    theta_old, theta     state.policy, new
    r_t(theta), A-hat    ratio, advantage (GAE, standardised)
    epsilon              config.clip

The cost critics are fitted all the same, so that J^C is reported as for the others; the policy never sees them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax

from cuprl.core.spec import Spec
from cuprl.learn.critics import fit_critics
from cuprl.learn.fields import setting
from cuprl.learn.minibatch import Fit, fit
from cuprl.learn.policy import Policy, policy_for
from cuprl.learn.settings import FirstOrder
from cuprl.learn.state import init_state
from cuprl.learn.surrogate import Rows, clipped_surrogate, ratio_to_k, report, rows_at
from cuprl.learn.types import Batch, Metrics, State


@dataclass(frozen=True)
class Config(FirstOrder):
    clip: float = setting(0.2, "epsilon: the ratio counts only within 1 ± this", "more than 0")


def init(key: jax.Array, config: Config, spec: Spec) -> State:
    return init_state(key, config, spec)


def clip_loss(policy: Policy, params: Any, rows: Rows, clip: float) -> jax.Array:
    """Give -L^CLIP (Eq. 7)."""
    ratio = ratio_to_k(policy, policy.dist(params, rows.obs), rows)
    return -clipped_surrogate(ratio, rows.adv_r, clip).mean()


def improve(state: State, batch: Batch, advantage: jax.Array, config: Config, spec: Spec) -> tuple[State, Metrics]:
    """Make one iteration (Algorithm 1) that climbs `advantage` [B]: the reward's here, PPO-L's own there."""
    policy = policy_for(spec, config)
    key, key_policy, key_critics = jax.random.split(state.key, 3)
    rows = rows_at(policy, state.policy, batch, batch.adv_c)
    new = fit(
        lambda params, r: clip_loss(policy, params, r, config.clip),
        Fit(state.policy, state.policy_opt),
        rows._replace(adv_r=advantage),
        config,
        key=key_policy,
        lr_scale=batch.lr_scale,
    )
    critics = fit_critics(state, batch, key_critics, config)
    metrics = report(policy, new.params, rows, batch)
    return State(new.params, critics.params, new.opt_state, critics.opt_state, state.multiplier, key), metrics


def update(state: State, batch: Batch, config: Config, spec: Spec) -> tuple[State, Metrics]:
    return improve(state, batch, batch.adv_r, config, spec)
