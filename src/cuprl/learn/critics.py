"""The reward critic and the m cost critics: 1 + m separate networks with the same input."""

from __future__ import annotations

from operator import itemgetter
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from cuprl.learn.minibatch import descend, shuffled_minibatches
from cuprl.learn.networks import Network
from cuprl.learn.settings import Common
from cuprl.learn.types import Batch, State

Params = dict[str, Any]  # a network's


def init_critics(key: jax.Array, obs_dim: int, config: Common, m: int) -> list[Params]:
    """Draw the parameters of 1 + m critics: the reward's, then each cost's."""
    return [Network.of(config).init(k, obs_dim, 1) for k in jax.random.split(key, 1 + m)]


def values(critics: list[Params], obs: jax.Array, config: Common) -> jax.Array:
    """Give V(s) of the reward and each cost [..., 1 + m] for obs [..., obs]."""
    network = Network.of(config)
    return jnp.concatenate([network.apply(critic, obs) for critic in critics], axis=-1)


def critic_loss(critic: Params, obs: jax.Array, target: jax.Array, config: Common) -> jax.Array:
    """Give mean (V(s) - V^target)² + l2 |params|² (Algorithm 1, last lines; the paper's table)."""
    error = Network.of(config).apply(critic, obs)[:, 0] - target  # [B]
    return (error**2).mean() + config.critic_l2 * sum((leaf**2).sum() for leaf in jax.tree.leaves(critic))


class Fitted(NamedTuple):
    """Critics as a fit leaves them."""

    params: Any
    opt_state: Any  # Adam's, of all critics as one vector


def stacked(critics: Fitted, count: int) -> Fitted:
    """Stack the critics, one per row, for jax.lax.map."""
    return Fitted(
        jax.tree.map(lambda *leaves: jnp.stack(leaves), *critics.params),
        jax.tree.map(lambda x: x.reshape(count, -1) if x.ndim else jnp.broadcast_to(x, count), critics.opt_state),
    )


def unstacked(critics: Fitted, count: int) -> Fitted:
    """Undo `stacked`: a list of so many critics, and Adam's state as one vector again."""
    return Fitted(
        [jax.tree.map(itemgetter(i), critics.params) for i in range(count)],
        jax.tree.map(lambda x: x.reshape(-1) if x.ndim > 1 else x[0], critics.opt_state),
    )


def fit_critics(state: State, batch: Batch, key: jax.Array, config: Common) -> Fitted:
    """Fit over epochs of shuffled minibatches, the same for all critics.

    In an epoch one critic after the other takes its steps. On a CPU that is faster than all at once, for one stays in
    the processor's cache, and it is compiled once.
    """
    count = len(state.critics)

    def loss(critic: Params, rows: Any) -> jax.Array:
        obs, target = rows
        return critic_loss(critic, obs, target, config)

    def epoch(_: Any, carry: tuple[Fitted, jax.Array]) -> tuple[Fitted, jax.Array]:
        critics, key = carry
        key, key_epoch = jax.random.split(key)
        obs, target = shuffled_minibatches(key_epoch, (batch.obs, batch.ret), config.minibatch)

        def steps(critic_and_target: tuple[Fitted, jax.Array]) -> Fitted:
            critic, target = critic_and_target
            rate = config.critic_lr * batch.lr_scale
            return Fitted(*descend(loss, critic.params, critic.opt_state, (obs, target), rate))

        return jax.lax.map(steps, (critics, jnp.moveaxis(target, -1, 0))), key

    start = stacked(Fitted(state.critics, state.critic_opt), count)
    critics, _ = jax.lax.fori_loop(0, config.critic_epochs, epoch, (start, key))
    return unstacked(critics, count)
