"""What a projection pays for cost: the printed rule, once an iteration, or the projection problem's own multiplier.

Section 4 of CUP projects onto J^C(pi) + beta sqrt(KL) <= b. nu is the multiplier of that problem: dual ascent on the excess
that the batch predicts of the policy as it stands, after every epoch of the projection, finds it while projecting.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from cuprl.core.spec import Spec
from cuprl.learn import multipliers
from cuprl.learn.estimate import cost_discounts
from cuprl.learn.multipliers import Multiplier
from cuprl.learn.settings import Lagrangian

Excess = Callable[[Any], jax.Array]  # params -> [m] by how much their policy is predicted to be over its limits


class Pricing(NamedTuple):
    multiplier: Multiplier  # nu as the projection begins
    scale: jax.Array  # [m] of nu in the projection's loss
    reprice: Callable[[Any, jax.Array], jax.Array]  # (params, nu) -> nu, after an epoch


def once_an_iteration(nu: Multiplier, excess: jax.Array, config: Lagrangian, spec: Spec) -> Pricing:
    """Algorithm 1: nu_{k+1} = clip(nu_k + eta (J^C - b), 0, nu_max), in the loss times (1 - gamma lambda)/(1 - gamma)."""
    gamma_c = cost_discounts(spec, config)
    scale = (1.0 - gamma_c * config.cost_lam) / (1.0 - gamma_c)  # [m]
    return Pricing(multipliers.follow(nu, excess, config), scale, lambda params, nu: nu)


def while_projecting(nu: Multiplier, half: Any, excess: Excess, config: Lagrangian) -> Pricing:
    """Section 4: nu <- clip(nu + eta excess(pi), 0, nu_max), from what pi_half is predicted to cost on."""

    def reprice(params: Any, value: jax.Array) -> jax.Array:
        return jnp.clip(value + config.multiplier_lr * excess(params), 0.0, config.multiplier_max)

    return Pricing(replace(nu, value=reprice(half, nu.value)), jnp.ones_like(nu.value), reprice)
