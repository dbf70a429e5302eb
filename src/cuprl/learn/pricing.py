"""What a projection pays for cost: the printed rule, once an iteration, or the projection problem's own multiplier.

Section 4 of CUP projects onto J^C(pi) + beta sqrt(KL) <= b. nu is the multiplier of that problem: dual ascent on the excess
that the batch predicts of the policy as it stands, before the projection and after each of its epochs, finds it on the way.

Differs from Section 4: beta counts in the excess alone, and the loss has no nu beta sqrt(KL); the excess is of the surrogate
unclipped, in its own deviations, so that nu stands in the loss without (1 - gamma lambda)/(1 - gamma).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from cuprl.core.spec import Spec
from cuprl.learn import multipliers
from cuprl.learn.minibatch import Pricing
from cuprl.learn.multipliers import Multiplier
from cuprl.learn.settings import Lagrangian
from cuprl.learn.visits import cost_discounts

Excess = Callable[[Any], jax.Array]  # params -> [m] by how much their policy is predicted to be over its limits


class Prices(NamedTuple):
    """The price of each cost in the projection, and how it changes there."""

    multiplier: Multiplier  # nu as the projection begins
    scale: Any  # [m] of nu in the projection's loss
    reprice: Callable[[Any, jax.Array], jax.Array]  # (params, nu) -> nu, after an epoch
    needed: jax.Array | bool = True  # whether there is anything to project

    def pricing(self) -> Pricing:
        """Give nu to a fit."""
        return Pricing(self.multiplier.value, self.reprice, self.needed)


def prices(nu: Multiplier, now: jax.Array, excess: Excess, half: Any, config: Lagrangian, spec: Spec) -> Prices:
    """Choose nu as the settings say: by the excess `now` [m] = J^C - b, or by what `excess` predicts, from pi_half on."""
    return (
        while_projecting(nu, half, excess, config)
        if config.multiplier == "projection"
        else once_an_iteration(nu, now, config, spec)
    )


def once_an_iteration(nu: Multiplier, excess: jax.Array, config: Lagrangian, spec: Spec) -> Prices:
    """Set nu_{k+1} = clip(nu_k + eta (J^C - b), 0, nu_max) (Algorithm 1); the loss has (1 - gamma lambda)/(1 - gamma) nu."""
    gamma_c = cost_discounts(spec, config)
    left = jnp.where(gamma_c < 1.0, 1.0 - gamma_c, 1.0 / spec.horizon)  # a sum without a discount has the horizon's steps
    scale = jnp.maximum(1.0 - gamma_c * config.cost_lam, left) / left  # [m]; 1 at lambda 1
    return Prices(multipliers.follow(nu, excess, config), scale, lambda params, nu: nu)


def while_projecting(nu: Multiplier, half: Any, excess: Excess, config: Lagrangian) -> Prices:
    """Raise nu <- clip(nu + eta excess(pi), 0, nu_max) (Section 4), from what pi_half is predicted to cost on.

    Where nu is 0 for all constraints pi_half is within the safe set, and so its own projection.
    """

    def reprice(params: Any, value: jax.Array) -> jax.Array:
        return jnp.clip(value + config.multiplier_lr * excess(params), 0.0, config.multiplier_max)

    first = reprice(half, nu.value)
    return Prices(replace(nu, value=first), jnp.ones_like(nu.value), reprice, (first > 0.0).any())
