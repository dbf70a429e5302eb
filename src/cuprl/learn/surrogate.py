"""What the policy losses share: the ratio to pi_k, surrogates, the scale of the cost advantage, what is reported."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from cuprl.learn.estimate import standardise
from cuprl.learn.policy import Policy
from cuprl.learn.types import Batch, Metrics


class Rows(NamedTuple):
    """What a policy loss reads, row by row."""

    obs: Any  # [B, obs]
    action: Any  # [B, act] or [B]
    adv_r: Any  # [B]
    adv_c: Any  # [B, m]
    logp_k: Any  # [B] log pi_k(a|s)
    dist_k: Any  # pi_k(.|s)
    dist_half: Any = None  # pi_{k+1/2}(.|s), of an algorithm that takes two steps


def rows_at(policy: Policy, params: Any, batch: Batch, adv_c: jax.Array) -> Rows:
    """Make the rows of a batch; `params` are those of pi_k, which collected it."""
    dist_k = policy.dist(params, batch.obs)
    return Rows(batch.obs, batch.action, batch.adv_r, adv_c, policy.log_prob(dist_k, batch.action), dist_k)


def ratio_to_k(policy: Policy, dist: Any, rows: Rows) -> jax.Array:
    """Give pi(a|s) / pi_k(a|s) [B]."""
    return jnp.exp(policy.log_prob(dist, rows.action) - rows.logp_k)


def clipped_surrogate(ratio: jax.Array, advantage: jax.Array, clip: float) -> jax.Array:
    """Give min( ratio A, clip(ratio, 1 - eps, 1 + eps) A ) of each row (Schulman et al. 2017, Eq. 7)."""
    return jnp.minimum(ratio * advantage, jnp.clip(ratio, 1.0 - clip, 1.0 + clip) * advantage)


def sqrt_kl(kl: jax.Array) -> jax.Array:
    """Take the root of a mean KL, with value and slope finite where rounding makes it 0 or slightly negative."""
    return jnp.sqrt(jnp.maximum(kl, 0.0) + 1e-12)


def mean_kl(policy: Policy, dist_from: Any, params: Any, obs: Any) -> jax.Array:
    """Average KL(dist_from, pi) of the policy with these parameters over the rows that obs and dist_from have."""
    return policy.kl(dist_from, policy.dist(params, obs)).mean()


def surrogates(policy: Policy, params: Any, rows: Rows) -> tuple[jax.Array, jax.Array]:
    """Give mean ratio A (a scalar) and mean ratio A^C [m]."""
    ratio = ratio_to_k(policy, policy.dist(params, rows.obs), rows)
    return (ratio * rows.adv_r).mean(), ratio @ rows.adv_c / len(ratio)


def cost_change(policy: Policy, params: Any, rows: Rows, batch: Batch) -> jax.Array:
    """Promise J^C(pi) - J^C(pi_k) [m] by the surrogate: span * mean (ratio - 1) A^C, A^C weighted (learn/visits.py)."""
    ratio = ratio_to_k(policy, policy.dist(params, rows.obs), rows)
    return batch.cost_span * ((ratio - 1.0) @ batch.adv_c) / len(ratio)


def cost_unit(batch: Batch) -> jax.Array:
    """Give what one unit of the standardised cost surrogate is in J^C [m]."""
    return batch.cost_span * (batch.adv_c.std(axis=0) + 1e-6)


def scaled_cost_advantage(adv_c: jax.Array, scale: str) -> jax.Array:
    """Scale the cost advantages [B, m] as a setting says: raw, standardise or centre."""
    if scale == "raw":
        return adv_c
    return standardise(adv_c) if scale == "standardise" else adv_c - adv_c.mean(axis=0)


def report(policy: Policy, params: Any, rows: Rows, batch: Batch) -> Metrics:
    """Measure the same of all algorithms.

    surrogate_cost is in the unit of the rows' advantages, which algorithms scale or not; approx_kl is the mean of
    KL(pi_k, pi), whichever KL the algorithm itself bounds; predicted_cost is what J^C of the next batch will be if the
    surrogate tells the truth.
    """
    dist = policy.dist(params, rows.obs)
    surrogate_return, surrogate_cost = surrogates(policy, params, rows)
    return {
        "train/approx_kl": policy.kl(rows.dist_k, dist).mean(),
        "train/surrogate_return": surrogate_return,
        "train/surrogate_cost": surrogate_cost,
        "train/entropy": policy.entropy(dist).mean(),
        "train/predicted_cost": batch.cost_return + cost_change(policy, params, rows, batch),
    }
