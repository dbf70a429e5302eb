"""TRPO: Trust Region Policy Optimization (Schulman et al. 2015). Knows nothing of costs.

    paper                       here
    theta_old                   local.vector (state.policy)
    L_theta_old, D-bar_KL       local.changes, local.mean_kl (of pi_old from pi)
    g, A^-1 g (Appendix C)      local.gradients[0], local.directions.natural[0]; A is damped
    delta                       config.delta

The cost critics are fitted all the same, so that J^C is reported as for the others; the policy never sees them.
"""

from __future__ import annotations

from dataclasses import dataclass

import jax

from cuprl.core.spec import Spec
from cuprl.learn.natural import trust_region_length
from cuprl.learn.policy import policy_for
from cuprl.learn.settings import SecondOrder
from cuprl.learn.state import init_state
from cuprl.learn.trust_region import around, take
from cuprl.learn.types import Batch, Metrics, State


@dataclass(frozen=True)
class Config(SecondOrder):
    pass


def init(key: jax.Array, config: Config, spec: Spec) -> State:
    return init_state(key, config, spec)


def improve(state: State, batch: Batch, advantage: jax.Array, config: Config, spec: Spec) -> tuple[State, Metrics]:
    """Make one iteration that climbs `advantage` [B]: the reward's here, TRPO-L's own there."""
    policy = policy_for(spec, config)
    local = around(policy, state.policy, batch, batch.adv_c, advantage[:, None], policy.kl, config)

    # Appendix C: the natural gradient, as far as the quadratic model of the KL allows, then the line search
    step = trust_region_length(local.directions.gram[0, 0], config.delta) * local.directions.natural[0]

    def accept(changes: jax.Array, kl: jax.Array) -> jax.Array:
        return (changes[0] >= 0.0) & (kl <= config.delta)

    return take(local, step, accept, state, batch, config)


def update(state: State, batch: Batch, config: Config, spec: Spec) -> tuple[State, Metrics]:
    return improve(state, batch, batch.adv_r, config, spec)
