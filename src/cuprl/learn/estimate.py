"""From what was collected to what is learnt from: advantages and value targets; J^C as `cost_return` has it."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from cuprl.core.spec import Spec
from cuprl.learn.cost_return import EpisodeCosts, cost_return
from cuprl.learn.critics import values
from cuprl.learn.gae import gae
from cuprl.learn.settings import Common
from cuprl.learn.types import Batch, Rollout
from cuprl.learn.visits import cost_discounts, steps_at, visits


def critic_units(size: Any, gamma: jax.Array, config: Common, spec: Spec) -> jax.Array:
    """Give what 1 of a critic's network means [1 + m]; size [1 + m]: of a usual step's reward and costs.

    A network that must say thousands takes hundreds of iterations to get there, for Adam moves a weight by its rate at most,
    and one that must say hundredths never does. A return in these units is about 1.
    """
    if config.critic_unit == "return":
        return jnp.ones_like(gamma)
    return size * steps_at(gamma, spec.horizon)


def standardise(x: jax.Array) -> jax.Array:
    """Scale to (A - mean) / (std + 1e-6) over the batch, each column by itself."""
    return (x - x.mean(axis=0)) / (x.std(axis=0) + 1e-6)


def estimate(
    critics: list,
    rollout: Rollout,
    costs: EpisodeCosts,  # what was counted of the episodes while they were collected
    size: Any,  # [1 + m] of a usual step's reward and costs
    limits: Any,  # [m]
    lr_scale: jax.Array,
    config: Common,
    spec: Spec,
) -> Batch:
    """Make what an update learns from."""
    m = len(spec.constraints)
    gamma = jnp.append(config.gamma, cost_discounts(spec, config))  # [1 + m]
    lam = jnp.append(config.lam, jnp.full(m, config.cost_lam))
    unit = critic_units(size, gamma, config, spec)
    value, next_value = (unit * values(critics, obs, config) for obs in (rollout.obs, rollout.next_obs))  # [T, N, 1 + m]
    done = jnp.maximum(rollout.terminated, rollout.truncated)
    no_future = rollout.terminated if config.time_limits == "bootstrap" else done
    ended = jnp.repeat(no_future[..., None], 1 + m, axis=-1)  # [T, N, 1 + m]
    if config.cost_ends == "bootstrap":  # an early end then saves no cost: the projection cannot learn to fall
        cut = 0.0 if config.time_limits == "bootstrap" else (no_future * (1.0 - rollout.terminated))[..., None]
        ended = ended.at[..., 1:].set(cut)
    advantage, target = gae(rollout.signal, value, next_value, ended, done, gamma, lam)

    seen = visits(costs.first_step, done, spec, config)
    cost, cost_value, next_cost_value = (x[..., 1:] for x in (rollout.signal, value, next_value))  # [T, N, m]
    measured = cost_return(costs, cost, cost_value, next_cost_value, done, seen, config, spec)
    flat = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), (rollout.obs, rollout.action, advantage, target))
    obs, action, advantage, target = flat
    adv_c = advantage[:, 1:]
    if config.cost_weights == "discounted":
        weight = seen.weight.reshape(adv_c.shape)  # what all rows have alike is noise in a promise: it is left out
        adv_c = weight * (adv_c - (weight * adv_c).mean(axis=0))
    return Batch(
        obs=obs,
        action=action,
        adv_r=standardise(advantage[:, 0]),
        adv_c=adv_c,
        ret=target / unit,
        cost_return=measured,
        limits=limits,
        cost_span=seen.span,
        episodes=seen.episodes,
        lr_scale=lr_scale,
    )
