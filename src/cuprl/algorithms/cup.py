"""CUP: a Conservative Update Policy algorithm for safe reinforcement learning (Yang et al. 2022).

Each iteration improves the policy without a thought for the cost, then projects it back onto the safe set, both by
first-order steps on minibatches (Section 4; Algorithm 1 in Appendix B).

    paper                      here
    pi_k, pi_{k+1/2}, pi_k+1   state.policy, half, new
    A-hat, A-hat^C             adv_r, adv_c (GAE)
    alpha, eta, delta          config.alpha, config.multiplier_lr, config.delta
    nu                         multiplier
    J-hat^C, b                 batch.cost_return, spec.limits
    1/(1 - gamma-tilde)        (1 - gamma lambda) / (1 - gamma)

Differs from the paper: both advantages are standardised over the batch, as in the runs behind its table; a step stops
when its KL passes delta; with several constraints the projection sums nu_i times each cost's surrogate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from cuprl.envs.protocol import Spec
from cuprl.learn import lagrange
from cuprl.learn.critics import fit_critics
from cuprl.learn.estimate import cost_discounts
from cuprl.learn.minibatch import fit, within
from cuprl.learn.policy import Policy, policy_for
from cuprl.learn.settings import FirstOrder, Lagrangian, choice, setting
from cuprl.learn.state import init_state
from cuprl.learn.surrogate import (
    COST_SCALES,
    clipped_surrogate,
    ratio_to_k,
    report,
    rows_at,
    scaled_cost_advantage,
    surrogates,
)
from cuprl.learn.types import Batch, Metrics, State


@dataclass(frozen=True)
class Config(FirstOrder, Lagrangian):
    alpha: float = setting(0.2, "weight of sqrt(KL) in the improvement; the paper tries 0.1 to 0.3", "0 or more")
    delta: float = setting(0.02, "trust region: the epoch that brings mean KL beyond it is the last; inf: never", "0 to inf")
    projection_epochs: int = setting(10, "most passes of the projection over a batch", "1 or more")
    improvement: str = choice("sqrt-kl", "penalty of the improvement", ("sqrt-kl", "clip"))
    clip: float = setting(0.2, "range of the ratio where the improvement clips it", "more than 0")
    projection_kl: str = choice("half-new", "which KL the projection minimises", ("half-new", "new-half"))
    projection_stop: str = choice("k", "the projection stops on the KL from pi_k or from pi_half", ("k", "half"))
    projection_delta: float = setting(0.02, "the epoch that brings that KL beyond it is the last; inf: never", "0 to inf")
    cost_advantage: str = choice("standardise", "scale of the cost advantage", COST_SCALES)


def init(key: jax.Array, config: Config, spec: Spec) -> State:
    return init_state(key, config, spec)


def sqrt_kl(kl: jax.Array) -> jax.Array:
    """sqrt of a mean KL, with value and slope finite where rounding makes it 0 or slightly negative."""
    return jnp.sqrt(jnp.maximum(kl, 0.0) + 1e-12)


def improvement_loss(policy: Policy, params: Any, rows: Any, config: Config) -> jax.Array:
    """-( mean ratio A-hat - alpha sqrt(mean KL(pi_k, pi)) ): Algorithm 1, policy improvement."""
    dist = policy.dist(params, rows["obs"])
    ratio = ratio_to_k(policy, dist, rows)
    if config.improvement == "clip":
        return -clipped_surrogate(ratio, rows["adv_r"], config.clip).mean()
    return -(ratio * rows["adv_r"]).mean() + config.alpha * sqrt_kl(policy.kl(rows["dist_k"], dist).mean())


def projection_loss(policy: Policy, params: Any, rows: Any, weight: jax.Array, config: Config) -> jax.Array:
    """mean KL(pi_half, pi) + sum_i nu_i (1 - gamma lambda)/(1 - gamma) ratio A-hat^C_i: Algorithm 1, projection.

    The ratio is against pi_k, which collected the data; `weight` [m] is nu (1 - gamma lambda)/(1 - gamma).
    """
    dist = policy.dist(params, rows["obs"])
    ratio = ratio_to_k(policy, dist, rows)
    half_new = config.projection_kl == "half-new"
    kl = policy.kl(rows["dist_half"], dist) if half_new else policy.kl(dist, rows["dist_half"])
    return (kl + ratio * (rows["adv_c"] @ weight)).mean()


def update(state: State, batch: Batch, config: Config, spec: Spec) -> tuple[State, Metrics]:
    policy = policy_for(spec, config.hidden, config.init_log_std)
    key, key_improve, key_project, key_critics = jax.random.split(state.key, 4)

    # Once an iteration, before the improvement: nu_{k+1} = clip(nu_k + eta (J^C - b), 0, nu_max)
    multiplier = lagrange.follow(state.multiplier, batch.cost_return - spec.limits, config)
    gamma_c = cost_discounts(spec, config)
    weight = multiplier.value * (1.0 - gamma_c * config.cost_lam) / (1.0 - gamma_c)  # [m]

    rows = rows_at(policy, state.policy, batch, scaled_cost_advantage(batch.adv_c, config.cost_advantage))
    dist_k = rows["dist_k"]

    def mean_kl(dist_from: Any, params: Any) -> jax.Array:
        return policy.kl(dist_from, policy.dist(params, batch.obs)).mean()

    half = fit(
        lambda params, r: improvement_loss(policy, params, r, config),
        state.policy, state.policy_opt, rows, key_improve,
        config.policy_lr * batch.lr_scale, config.epochs, config.minibatch, config.max_grad_norm,
        keep_going=within(lambda params: mean_kl(dist_k, params), config.delta),
    )  # fmt: skip

    dist_half = policy.dist(half.params, batch.obs)
    stop_from = dist_k if config.projection_stop == "k" else dist_half
    new = fit(
        lambda params, r: projection_loss(policy, params, r, weight, config),
        half.params, half.opt_state, {**rows, "dist_half": dist_half}, key_project,
        config.policy_lr * batch.lr_scale, config.projection_epochs, config.minibatch, config.max_grad_norm,
        keep_going=within(lambda params: mean_kl(stop_from, params), config.projection_delta),
    )  # fmt: skip

    critics = fit_critics(state, batch, key_critics, config)
    surrogate_half, surrogate_cost_half = surrogates(policy, half.params, rows)
    metrics: Metrics = {
        **report(policy, new.params, rows),
        "train/multiplier": multiplier.value,
        "train/kl_improvement": mean_kl(dist_k, half.params),
        "train/kl_projection": mean_kl(dist_half, new.params),
        "train/epochs_improvement": half.epochs,
        "train/epochs_projection": new.epochs,
        "train/surrogate_return_half": surrogate_half,
        "train/surrogate_cost_half": surrogate_cost_half,
    }
    return State(new.params, critics.params, new.opt_state, critics.opt_state, multiplier, key), metrics
