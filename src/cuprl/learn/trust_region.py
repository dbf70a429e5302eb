"""What the trust-region methods share: the problem around pi_k, the scale of the constraints, and taking a step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree

from cuprl.core.spec import Spec
from cuprl.learn.estimate import standardise
from cuprl.learn.full_batch import fit_critics_full_batch
from cuprl.learn.natural import (
    Directions,
    Product,
    damped,
    fisher_product,
    line_search,
    natural_directions,
)
from cuprl.learn.policy import Policy, policy_for
from cuprl.learn.settings import SecondOrder
from cuprl.learn.surrogate import ratio_to_k, report, rows_at
from cuprl.learn.types import Batch, Metrics, State

Divergence = Callable[[Any, Any], jax.Array]  # (dist_k, dist) -> [B]
Accept = Callable[[jax.Array, jax.Array], jax.Array]  # (changes of the k surrogates, mean divergence) -> bool


def scaled_constraints(batch: Batch) -> tuple[jax.Array, jax.Array]:
    """Give the cost advantages [B, m] and the constraint values c [m] that go with them: c + mean (ratio - 1) A^C <= 0.

    The scales must match. With GAE's A^C, an estimate of the advantage whatever its lambda, a policy near pi_k has
    J^C(pi) - J^C(pi_k) = sum_t gamma_C^t E[ ratio A^C(s_t, a_t) ]. The mean over a batch is that sum divided by
    sum_t gamma_C^t where states weigh as in it (`cost_weights` discounted), and is taken for it where all weigh alike.
    So the excess J^C - b is divided by it too, the paper's c = (1 - gamma_C) (J^C - b). (The paper's factor
    1 / (1 - gamma-tilde) belongs to a sum weighted by (gamma lambda)^t, not to a mean: that sum of the weights,
    1 / (1 - gamma lambda), turns it into 1 / (1 - gamma).) Then both are divided by the standard deviation of A^C, as
    `standardise` does: no step depends on it, but float32 does.
    """
    std = batch.adv_c.std(axis=0) + 1e-6
    return standardise(batch.adv_c), (batch.cost_return - batch.limits) / batch.cost_span / std


def keeps_limits(change: jax.Array, c: jax.Array) -> jax.Array:
    """Tell whether costs under their limit stay under it, and those over it do not rise: change [m] <= max(-c, 0)."""
    return (change <= jnp.maximum(-c, 0.0)).all()


class Local(NamedTuple):
    """The problem around pi_k in flat parameters v, with k surrogates L_i = mean (pi / pi_k) A_i."""

    policy: Policy
    rows: Any
    vector: jax.Array  # [n] pi_k
    unravel: Callable[[jax.Array], Any]
    product: Product  # x -> (H + damping) x
    gradients: jax.Array  # [k, n] of the surrogates
    directions: Directions  # H^-1 gradients
    changes: Callable[[jax.Array], jax.Array]  # v -> L(v) - L(pi_k) [k]
    mean_kl: Callable[[jax.Array], jax.Array]  # v -> the divergence that the trust region bounds


def around(
    policy: Policy,
    params: Any,
    batch: Batch,
    adv_c: jax.Array,
    advantages: jax.Array,
    kl: Divergence,
    config: SecondOrder,
) -> Local:
    """Pose the problem around pi_k; advantages [B, k]: whose surrogates matter; adv_c [B, m]: the costs' for the report."""
    rows = rows_at(policy, params, batch, adv_c)
    vector, unravel = ravel_pytree(params)

    def changes(v: jax.Array) -> jax.Array:
        return (ratio_to_k(policy, policy.dist(unravel(v), batch.obs), rows) - 1.0) @ advantages / len(advantages)

    def mean_kl(v: jax.Array) -> jax.Array:
        return kl(rows.dist_k, policy.dist(unravel(v), batch.obs)).mean()

    product = damped(fisher_product(policy, unravel, vector, batch.obs), config.damping)
    gradients = jax.jacrev(changes)(vector)
    directions = natural_directions(product, gradients, config.cg_iterations)
    return Local(policy, rows, vector, unravel, product, gradients, directions, changes, mean_kl)


def around_limits(state: State, batch: Batch, config: SecondOrder, spec: Spec) -> tuple[Local, jax.Array]:
    """Pose the problem of the reward and all costs around pi_k, in KL(pi, pi_k); gives the constraint values c [m] too."""
    policy = policy_for(spec, config)
    adv_c, c = scaled_constraints(batch)
    advantages = jnp.column_stack((batch.adv_r, adv_c))  # [B, 1 + m]
    return around(policy, state.policy, batch, adv_c, advantages, lambda dist_k, dist: policy.kl(dist, dist_k), config), c


def take(
    local: Local, step: jax.Array, accept: Accept, state: State, batch: Batch, config: SecondOrder
) -> tuple[State, Metrics]:
    """Take the step, shortened until accepted, and fit the critics. Where the curvature failed or none is accepted: pi_k."""
    search = line_search(
        local.vector,
        jnp.where(local.directions.ok, step, 0.0),
        lambda v: accept(local.changes(v), local.mean_kl(v)),
        config,
    )
    new = local.unravel(search.vector)
    critics = fit_critics_full_batch(state, batch, config)
    metrics: Metrics = {
        **report(local.policy, new, local.rows, batch),
        "train/kl_trust_region": local.mean_kl(search.vector),
        "train/curvature_failed": (~local.directions.ok).astype(jnp.int32),
        "train/line_search_failed": search.failed.astype(jnp.int32),
        "train/line_search_tries": search.tries,
    }
    # Nothing here is random, but the noise of the next actions comes from the key: it must not stay the same.
    key, _ = jax.random.split(state.key)
    return State(new, critics.params, state.policy_opt, critics.opt_state, state.multiplier, key), metrics
