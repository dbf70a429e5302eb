"""First-order optimisation in epochs of shuffled minibatches, compiled as one loop that can stop early."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jax.flatten_util import ravel_pytree

from cuprl.learn.settings import FirstOrder

Params = Any
Loss = Callable[[Params, Any], jax.Array]
KeepGoing = Callable[[Params, Any], jax.Array]  # (params, the rows of the part just done) -> bool


class Fit(NamedTuple):
    """What is fitted, before and after."""

    params: Params
    opt_state: Any
    epochs: Any = 0  # epochs done
    price: Any = None  # what the loss would be given in the next epoch beside the rows, where that changes


class Pricing(NamedTuple):
    """What a loss is given beside the rows."""

    price: Any  # at first
    reprice: Callable[[Params, Any], Any]  # (params, price) -> price, after an epoch
    needed: jax.Array | bool = True  # whether there is anything to fit; else what is fitted stays as it is


MANY = 2**18  # rows: two of them in 2^14 have equal random bits
ADAM = optax.scale_by_adam()  # Adam's direction; the learning rate of the run's schedule comes at each update


def init_adam(params: Params) -> Any:
    """Begin Adam with all parameters as one vector: on a CPU one long step is faster than many short ones."""
    return ADAM.init(ravel_pytree(params)[0])


def clipped(gradient: jax.Array, max_norm: float) -> jax.Array:
    """Shorten a gradient to a norm of at most max_norm."""
    return gradient * jnp.minimum(1.0, max_norm / (jnp.linalg.norm(gradient) + 1e-12))


def shuffle(key: jax.Array, rows: int) -> jax.Array:
    """Draw a random order of [0, rows): sorted random integers that carry the row in their lowest bits.

    Ten times faster on a CPU than jax.random.permutation, which sorts pairs twice; rows whose random bits are equal
    (one pair in 2^19 for 5000 rows) keep their order. Of many rows too many would.
    """
    if rows > MANY:
        return jax.random.permutation(key, rows)
    mask = jnp.uint32((1 << (rows - 1).bit_length()) - 1)
    return jnp.sort((jax.random.bits(key, (rows,)) & ~mask) | jnp.arange(rows, dtype=jnp.uint32)) & mask


def minibatch_shape(data: Any, size: int) -> tuple[int, int]:
    """Count the minibatches of an epoch over [B, ...] and the rows of one: fewer than asked for where there are fewer."""
    rows = jax.tree.leaves(data)[0].shape[0]
    return rows // min(size, rows), min(size, rows)


def shuffled_minibatches(key: jax.Array, data: Any, size: int) -> Any:
    """Cut [B, ...] -> [B // size, size, ...]; what does not fill a minibatch is left out, other rows each epoch."""
    count, size = minibatch_shape(data, size)
    order = shuffle(key, jax.tree.leaves(data)[0].shape[0])[: count * size]
    return jax.tree.map(lambda x: x[order].reshape(count, size, *x.shape[1:]), data)


def descend(
    loss: Loss,
    params: Params,
    opt_state: Any,
    minibatches: Any,  # arrays [count, size, ...]
    learning_rate: jax.Array | float,
    max_grad_norm: float | None = None,
) -> tuple[Params, Any]:
    """Take one Adam step on each minibatch."""
    vector, unravel = ravel_pytree(params)

    def step(carry: tuple[jax.Array, Any], rows: Any) -> tuple[tuple[jax.Array, Any], None]:
        vector, opt_state = carry
        gradient = jax.grad(lambda v: loss(unravel(v), rows))(vector)
        if max_grad_norm is not None:
            gradient = clipped(gradient, max_grad_norm)
        direction, opt_state = ADAM.update(gradient, opt_state)
        return (vector - learning_rate * direction, opt_state), None

    (vector, opt_state), _ = jax.lax.scan(step, (vector, opt_state), minibatches)
    return unravel(vector), opt_state


class Stop(NamedTuple):
    """When a fit ends before its last epoch: it is asked after each of the equal parts of an epoch."""

    keep_going: KeepGoing
    parts: int = 1


def always(_: Params, rows: Any) -> jax.Array:
    """Go on whatever the parameters are: what a fit without a trust region asks."""
    return jnp.array(True)


NEVER = Stop(always)


def within(kl: Callable[[Params, Any], jax.Array], limit: float, parts: int = 1) -> Stop:
    """Stop a `fit` when kl(params, rows) passes the limit; without a limit (inf) no KL is computed."""
    return Stop((lambda params, rows: kl(params, rows) <= limit) if math.isfinite(limit) else always, parts)


def part_of_epoch(key: jax.Array, data: Any, size: int, part: jax.Array, parts: int) -> Any:
    """Take the minibatches of one of the equal parts of a shuffled epoch: [B // size // parts, size, ...]."""
    rows = jax.tree.leaves(data)[0].shape[0]
    whole, size = minibatch_shape(data, size)
    count = whole // parts
    order = jax.lax.dynamic_slice_in_dim(shuffle(key, rows), part * count * size, count * size)
    return jax.tree.map(lambda x: x[order].reshape(count, size, *x.shape[1:]), data)


def fit(
    loss: Callable[..., jax.Array],  # (params, rows), or (params, rows, price) where there is one
    start: Fit,
    rows: Any,  # arrays [B, ...]
    config: FirstOrder,
    *,
    key: jax.Array,
    lr_scale: jax.Array | float,
    stop: Stop = NEVER,
    epochs: int | None = None,
    pricing: Pricing | None = None,
) -> Fit:
    """Pass at most config.epochs (or `epochs`) times over the rows, less often where `stop` says so.

    With a pricing the loss has a price, constant within an epoch and set anew after it, and may need no fit at all.
    """
    price, reprice, needed = pricing or Pricing(None, lambda params, price: price)
    priced = (lambda params, rows, price: loss(params, rows)) if pricing is None else loss
    keep_going = stop.keep_going
    parts = min(stop.parts, minibatch_shape(rows, config.minibatch)[0])  # a part is a minibatch at least
    most = config.epochs if epochs is None else epochs
    rate = config.policy_lr * lr_scale

    def one_part(carry: tuple[Fit, jax.Array, jax.Array]) -> tuple[Fit, jax.Array, jax.Array]:
        done, key, _ = carry
        if parts == 1:
            key, key_epoch = jax.random.split(key)
            minibatches, seen = shuffled_minibatches(key_epoch, rows, config.minibatch), rows
        else:
            key_epoch = jax.random.fold_in(key, done.epochs // parts)
            minibatches = part_of_epoch(key_epoch, rows, config.minibatch, done.epochs % parts, parts)
            seen = jax.tree.map(lambda x: x.reshape(x.shape[0] * x.shape[1], *x.shape[2:]), minibatches)
        params, opt_state = descend(
            lambda params, rows: priced(params, rows, done.price),
            done.params,
            done.opt_state,
            minibatches,
            rate,
            config.max_grad_norm,
        )
        whole = (done.epochs + 1) % parts == 0
        price = jax.lax.cond(whole, reprice, lambda params, price: price, params, done.price)
        return Fit(params, opt_state, done.epochs + 1, price), key, keep_going(params, seen)

    first = Fit(start.params, start.opt_state, jnp.zeros((), jnp.int32), price)  # epochs counts parts here
    begin = (first, key, jnp.asarray(needed))
    done, _, _ = jax.lax.while_loop(lambda carry: carry[2] & (carry[0].epochs < most * parts), one_part, begin)
    return done if parts == 1 else done._replace(epochs=done.epochs / parts)
