"""The state an algorithm starts from: networks, optimisers, multipliers."""

from __future__ import annotations

import jax

from cuprl.core.spec import Spec
from cuprl.learn.critics import init_critics
from cuprl.learn.minibatch import init_adam
from cuprl.learn.multipliers import init_multiplier
from cuprl.learn.policy import policy_for
from cuprl.learn.settings import Common
from cuprl.learn.types import State


def init_state(key: jax.Array, config: Common, spec: Spec) -> State:
    """Draw the state that every algorithm begins with: policy, critics, Adam's, and the multipliers."""
    key, key_policy, key_critics = jax.random.split(key, 3)
    policy = policy_for(spec, config).init(key_policy)
    critics = init_critics(key_critics, spec.obs_dim, config, len(spec.constraints))
    multiplier = init_multiplier(len(spec.constraints), getattr(config, "multiplier_init", 0.0))
    return State(policy, critics, init_adam(policy), init_adam(critics), multiplier, key)
