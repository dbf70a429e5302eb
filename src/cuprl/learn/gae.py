"""Generalised advantage estimation for the reward and every cost at once (paper Section 2.1 and its cost version)."""

from __future__ import annotations

import jax
import jax.numpy as jnp


def gae(
    signal: jax.Array,  # [T, N, k] reward and costs
    value: jax.Array,  # [T, N, k] V(s_t)
    next_value: jax.Array,  # [T, N, k] V of the true successor, also where an episode was cut off
    ended: jax.Array,  # [T, N, k] no future of this signal after this step
    done: jax.Array,  # [T, N] the episode ended here, for whatever reason
    gamma: jax.Array,  # [k]
    lam: jax.Array,  # [k]
) -> tuple[jax.Array, jax.Array]:
    """Estimate A_t = sum_l (gamma lambda)^l delta_{t+l}, cut where the episode ends; and the value targets A_t + V(s_t)."""
    delta = signal + gamma * next_value * (1.0 - ended) - value
    carry_on = gamma * lam * (1.0 - done)[..., None]  # [T, N, k]

    def backward(later: jax.Array, step: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        delta_t, carry_on_t = step
        advantage = delta_t + carry_on_t * later
        return advantage, advantage

    _, advantage = jax.lax.scan(backward, jnp.zeros_like(delta[0]), (delta, carry_on), reverse=True)
    return advantage, advantage + value
