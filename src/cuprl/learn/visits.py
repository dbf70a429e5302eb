"""How often a state counts: the weights of states in a cost's surrogate.

J^C = E[ sum_t gamma_C^t c_t ] weighs step t of an episode by gamma_C^t (63% of the weight lies on the first 100 steps at
gamma_C = 0.99), and so does the change of J^C from one policy to the next. Where a batch has E episodes' worth of steps,

    J^C(pi) - J^C(pi_k)  =  1/E sum_rows gamma_C^t (ratio - 1) A^C  =  span * mean( weight (ratio - 1) A^C )

with weight = gamma_C^t / mean(gamma_C^t) and span = sum_rows gamma_C^t / E, for policies near pi_k.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from cuprl.core.spec import Spec
from cuprl.learn.settings import Common

MANY = 1_000_000  # steps of an episode whose powers are not worth an array
TINY = 1e-20  # of gamma_C^t: smaller ones may be 0 in 32 bits
LEAST_SPAN = 0.01  # of a full episode's, where no row of a batch is near the start of one and J^C hardly depends on any


class Visits(NamedTuple):
    """How much each row of a batch counts in a cost's surrogate."""

    weight: jax.Array  # [T, N, m] of each row in the surrogates, 1 on average
    span: jax.Array  # [m] discounted steps of an episode: what one unit of cost at every step adds to J^C
    step: jax.Array  # [T, N] t, which step of its episode it is
    start: jax.Array  # [T, N] 1 where an episode begins
    discount: jax.Array  # [T, N, m] gamma_C^t
    episodes: jax.Array  # [] E, those that begin; where none does, how many full ones have so many steps


def limit_discounts(spec: Spec, config: Common) -> np.ndarray:
    """Give gamma_C of J^C [m]: 1 where the limit is for a plain sum."""
    plain = config.cost_return == "undiscounted"
    return np.array([1.0 if plain else c.discount for c in spec.constraints])


def cost_discounts(spec: Spec, config: Common) -> np.ndarray:
    """Give gamma of each cost's critic [m]; one with an undiscounted limit is still learnt with a discounted critic."""
    plain = config.cost_gamma or config.gamma
    return np.array([c.discount if c.discount < 1.0 else plain for c in spec.constraints], np.float32)


def steps_at(gamma: Any, horizon: int) -> Any:
    """Sum gamma^t over a full episode's steps t, for each gamma [k]: 1 / (1 - gamma) if it is long, the horizon at 1."""
    if horizon > MANY:
        return powers_summed(gamma, float(horizon))
    return (gamma[:, None] ** np.arange(horizon)).sum(axis=1)


def powers_summed(gamma: Any, steps: Any) -> Any:
    """Sum gamma^t over so many steps t, in closed form: the steps themselves at 1."""
    plain = gamma == 1.0
    return (1.0 - gamma**steps) / (1.0 - gamma + plain) + plain * steps


def discounted_steps(spec: Spec, config: Common) -> np.ndarray:
    """Count a full episode's steps as J^C of each cost does [m]."""
    return steps_at(limit_discounts(spec, config), spec.horizon).astype(np.float32)


def episode_steps(first: jax.Array, done: jax.Array) -> jax.Array:
    """Count which step of its episode each row is [T, N]; first [N]: what row 0 is; done [T, N]."""

    def forward(step: jax.Array, done_now: jax.Array) -> tuple[jax.Array, jax.Array]:
        return jnp.where(done_now > 0, 0, step + 1), step

    return jax.lax.scan(forward, first, done)[1]


def visits(first: jax.Array, done: jax.Array, spec: Spec, config: Common) -> Visits:
    """Weigh the rows of a rollout, from where its episodes stood; first [N], done [T, N]."""
    step = episode_steps(first, done)
    gamma = jnp.asarray(limit_discounts(spec, config), jnp.float32)
    discount = gamma ** step[..., None]  # [T, N, m]
    start = (step == 0).astype(jnp.float32)
    begun = start.sum()
    episodes = jnp.where(begun > 0, begun, step.size / spec.horizon)
    full = jnp.asarray(discounted_steps(spec, config))
    if config.cost_weights == "alike":
        return Visits(jnp.ones_like(discount), full, step, start, discount, episodes)
    # Late in all episodes the powers are too small for 32 bits; counted from the earliest step the weights are the same.
    earliest = jnp.where(gamma ** step.min() < TINY, step.min(), 0)  # [m]
    power = gamma ** (step[..., None] - earliest)  # [T, N, m]
    total = power.sum(axis=(0, 1))  # [m]
    of_these = total * gamma**earliest / episodes
    span = jnp.where(begun > 0, jnp.minimum(of_these, full), jnp.clip(of_these, LEAST_SPAN * full, full))
    return Visits(power / (total / step.size), span, step, start, discount, episodes)
