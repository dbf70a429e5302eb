"""FOCOPS: First Order Constrained Optimization in Policy Space (Zhang, Vuong and Ross 2020).

The best policy within the trust region and the constraint is known up to its normaliser (Theorem 1):
pi* = pi_k exp( (A - nu A^C) / lambda ) / Z. FOCOPS moves pi towards it by first-order steps on KL(pi, pi*).

    paper                      here
    pi_{theta_k}, pi_theta     state.policy, new
    A, A^C                     adv_r, adv_c (GAE)
    lambda                     config.temperature (the paper holds it fixed)
    nu, alpha, nu_max          multiplier, config.multiplier_lr, config.multiplier_max
    J^C, b                     batch.cost_return, batch.limits
    delta                      config.delta, of the states that count and of the early stop alike

Every KL here is KL(pi, pi_k), new first, as in the paper. With several costs, nu A^C is the sum of nu_i A^C_i.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from cuprl.core.spec import Spec
from cuprl.learn import multipliers
from cuprl.learn.critics import fit_critics
from cuprl.learn.fields import choice, setting
from cuprl.learn.minibatch import Fit, fit, within
from cuprl.learn.policy import Policy, policy_for
from cuprl.learn.settings import COST_SCALES, FirstOrder, Lagrangian
from cuprl.learn.state import init_state
from cuprl.learn.surrogate import Rows, ratio_to_k, report, rows_at, scaled_cost_advantage
from cuprl.learn.types import Batch, Metrics, State


@dataclass(frozen=True)
class Config(FirstOrder, Lagrangian):
    temperature: float = setting(1.5, "lambda: the larger, the smaller the step", "more than 0")
    delta: float = setting(0.02, "trust region: states beyond this KL do not count; a mean beyond it is the end", "0 to inf")
    cost_advantage: str = choice("standardise", "scale of the cost advantage", COST_SCALES)


def init(key: jax.Array, config: Config, spec: Spec) -> State:
    return init_state(key, config, spec)


def kl_to_k(policy: Policy, params: Any, rows: Rows) -> jax.Array:
    """Give KL(pi, pi_k)[s] of each row [B]."""
    return policy.kl(policy.dist(params, rows.obs), rows.dist_k)


def focops_loss(policy: Policy, params: Any, rows: Rows, multiplier: jax.Array, config: Config) -> jax.Array:
    """Give the mean of ( KL(pi, pi_k)[s] - ratio (A - nu A^C) / lambda ) 1[ KL(pi, pi_k)[s] <= delta ].

    Its gradient is Corollary 1's, with the indicator of Algorithm 1. Every factor is [B], so that the indicator of a
    state masks that state's row and no other.
    """
    kl = kl_to_k(policy, params, rows)
    ratio = ratio_to_k(policy, policy.dist(params, rows.obs), rows)
    advantage = rows.adv_r - rows.adv_c @ multiplier
    inside = kl <= config.delta
    return jnp.where(inside, kl - ratio * advantage / config.temperature, 0.0).mean()


def update(state: State, batch: Batch, config: Config, spec: Spec) -> tuple[State, Metrics]:
    policy = policy_for(spec, config)
    key, key_policy, key_critics = jax.random.split(state.key, 3)

    # Algorithm 1: nu <- proj_[0, nu_max]( nu - alpha (b - J^C) ), before the policy
    multiplier = multipliers.follow(state.multiplier, batch.cost_return - batch.limits, config)
    rows = rows_at(policy, state.policy, batch, scaled_cost_advantage(batch.adv_c, config.cost_advantage))
    new = fit(
        lambda params, r: focops_loss(policy, params, r, multiplier.value, config),
        Fit(state.policy, state.policy_opt),
        rows,
        config,
        key=key_policy,
        lr_scale=batch.lr_scale,
        stop=within(lambda params, r: kl_to_k(policy, params, r).mean(), config.delta),
    )
    critics = fit_critics(state, batch, key_critics, config)

    kl = kl_to_k(policy, new.params, rows)
    metrics: Metrics = {
        **report(policy, new.params, rows, batch),
        "train/multiplier": multiplier.value,
        "train/kl_trust_region": kl.mean(),
        "train/states_inside": (kl <= config.delta).mean(),
        "train/epochs": new.epochs,
    }
    return State(new.params, critics.params, new.opt_state, critics.opt_state, multiplier, key), metrics
