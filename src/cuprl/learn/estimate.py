"""From what was collected to what is learnt from: advantages, value targets and J^C."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from cuprl.core.spec import Spec
from cuprl.learn.critics import values
from cuprl.learn.gae import gae
from cuprl.learn.settings import Common
from cuprl.learn.types import Batch, Rollout
from cuprl.learn.visits import cost_from_steps, limit_discounts, visits


def cost_discounts(spec: Spec, config: Common) -> jax.Array:
    """[m] gamma_C of each cost; a cost with an undiscounted limit is still learnt with a discounted critic."""
    return jnp.array([c.discount if c.discount < 1.0 else config.gamma for c in spec.constraints])


def standardise(x: jax.Array) -> jax.Array:
    """(A - mean) / (std + 1e-6) over the batch, each column by itself."""
    return (x - x.mean(axis=0)) / (x.std(axis=0) + 1e-6)


def estimate(
    critics: list,
    rollout: Rollout,
    cost_return: jax.Array,  # [m] from the episodes that ended; NaN if none did
    running_cost: jax.Array,  # [N, m] discounted cost so far of the unfinished episodes
    running_discount: jax.Array,  # [N, m] gamma_C^t at their present step
    first_step: jax.Array,  # [N] which step of its episode the rollout's first is
    lr_scale: jax.Array,
    config: Common,
    spec: Spec,
) -> Batch:
    m = len(spec.constraints)
    gamma = jnp.append(config.gamma, cost_discounts(spec, config))  # [1 + m]
    lam = jnp.append(config.lam, jnp.full(m, config.cost_lam))
    value, next_value = values(critics, rollout.obs), values(critics, rollout.next_obs)  # [T, N, 1 + m]
    done = jnp.maximum(rollout.terminated, rollout.truncated)
    no_future = rollout.terminated if config.time_limits == "bootstrap" else done
    advantage, target = gae(rollout.signal, value, next_value, no_future, done, gamma, lam)

    # Where no episode ended, J^C is what the unfinished ones have cost so far and will by the critic: never NaN,
    # and never a silent 0 that would pass for safe.
    unfinished = (running_cost + running_discount * next_value[-1, :, 1:]).mean(axis=0)
    measured = jnp.where(jnp.isnan(cost_return), unfinished, cost_return)
    seen = visits(first_step, done, spec, config)
    if config.cost_estimate == "steps":
        gamma_limit = jnp.asarray(limit_discounts(spec, config), jnp.float32)
        of_steps = cost_from_steps(rollout.signal[..., 1:], value[..., 1:], next_value[..., 1:], done, seen, gamma_limit)
        measured = jnp.where(seen.start.sum() > 0, of_steps, measured)
    flat = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), (rollout.obs, rollout.action, advantage, target))
    obs, action, advantage, target = flat
    adv_c = advantage[:, 1:]
    if config.cost_weights == "discounted":
        weight = seen.weight.reshape(adv_c.shape)
        adv_c = weight * (adv_c - (weight * adv_c).mean(axis=0))
    return Batch(
        obs=obs,
        action=action,
        adv_r=standardise(advantage[:, 0]),
        adv_c=adv_c,
        ret=target,
        cost_return=measured,
        cost_span=seen.span,
        episodes=seen.start.sum(),
        lr_scale=lr_scale,
    )
