"""The reward critic and the m cost critics: 1 + m separate networks, fitted together in one pass."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from cuprl.learn.minibatch import Fit, fit
from cuprl.learn.networks import Layers, init_mlp, mlp
from cuprl.learn.settings import Common
from cuprl.learn.types import Batch, State


def init_critics(key: jax.Array, obs_dim: int, hidden: tuple[int, ...], m: int) -> list[Layers]:
    return [init_mlp(k, (obs_dim, *hidden, 1)) for k in jax.random.split(key, 1 + m)]


def values(critics: list[Layers], obs: jax.Array) -> jax.Array:
    """obs [..., obs] -> [..., 1 + m]"""
    return jnp.concatenate([mlp(critic, obs) for critic in critics], axis=-1)


def critic_loss(critics: list[Layers], obs: jax.Array, target: jax.Array, l2: float) -> jax.Array:
    """sum over critics of mean (V(s) - V^target)² + l2 |params|² (Algorithm 1, last lines; the paper's table)."""
    error = values(critics, obs) - target  # [B, 1 + m]
    return (error**2).mean(axis=0).sum() + l2 * sum((leaf**2).sum() for leaf in jax.tree.leaves(critics))


def fit_critics(state: State, batch: Batch, key: jax.Array, config: Common) -> Fit:
    def loss(critics: list[Layers], rows: Any) -> jax.Array:
        obs, target = rows
        return critic_loss(critics, obs, target, config.critic_l2)

    return fit(
        loss, state.critics, state.critic_opt, (batch.obs, batch.ret), key,
        config.critic_lr * batch.lr_scale, config.critic_epochs, config.minibatch,
    )  # fmt: skip
