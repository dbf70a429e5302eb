"""From a method for rewards alone to one for constraints: its own step, on the Lagrangian J - nu (J^C - b)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax

from cuprl.core.spec import Spec
from cuprl.learn import multipliers
from cuprl.learn.settings import LagrangianAdvantage
from cuprl.learn.surrogate import scaled_cost_advantage
from cuprl.learn.types import Batch, Metrics, State

Improve = Callable[[State, Batch, jax.Array, Any, Spec], tuple[State, Metrics]]


def lagrangian_advantage(adv_r: jax.Array, adv_c: jax.Array, multiplier: jax.Array) -> jax.Array:
    """Give (A - sum_i nu_i A^C_i) / (1 + sum_i nu_i) [B].

    The division is safety-starter-agents' (Ray et al. 2019): it keeps the size of the gradient as nu grows.
    """
    return (adv_r - adv_c @ multiplier) / (1.0 + multiplier.sum())


def improve_lagrangian(
    improve: Improve, state: State, batch: Batch, config: LagrangianAdvantage, spec: Spec
) -> tuple[State, Metrics]:
    """Make one iteration: nu follows the excess J^C - b, then the policy climbs the Lagrangian's advantage."""
    multiplier = multipliers.follow(state.multiplier, batch.cost_return - batch.limits, config)
    adv_c = scaled_cost_advantage(batch.adv_c, config.cost_advantage)  # the batch keeps its own, in units of the cost
    advantage = lagrangian_advantage(batch.adv_r, adv_c, multiplier.value)
    state, metrics = improve(replace(state, multiplier=multiplier), batch, advantage, config, spec)
    return state, {**metrics, "train/multiplier": multiplier.value}
