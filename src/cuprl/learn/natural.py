"""Natural gradients: Fisher-vector products, conjugate gradient and the backtracking line search.

The Fisher matrix H = E_s[ E_a[ grad log pi grad log pi^T ] ] is the Hessian at pi_k of the mean over states of the KL
to pi_k (either way round), a KL that sums over action dimensions. It is only ever multiplied with vectors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from cuprl.learn.categorical import Logits
from cuprl.learn.gaussian import Normal
from cuprl.learn.policy import Policy
from cuprl.learn.settings import SecondOrder

Product = Callable[[jax.Array], jax.Array]


def information(dist: Any, tangent: Any) -> Any:
    """Multiply with M, the Fisher information of a distribution's own parameters: KL(p, p + t) = t M t / 2 + O(t³)."""
    if isinstance(dist, Normal):
        return Normal(jnp.exp(-2.0 * dist.log_std) * tangent.mean, 2.0 * tangent.log_std)
    return Logits(jnp.exp(dist.log_p) * tangent.log_p)


def fisher_product(policy: Policy, unravel: Callable[[jax.Array], Any], vector: jax.Array, obs: jax.Array) -> Product:
    """Make x -> H x = mean over states of J^T M J x, with J the Jacobian of the distribution in the parameters `vector`."""
    dist, push = jax.linearize(lambda v: policy.dist(unravel(v), obs), vector)
    pull = jax.linear_transpose(push, vector)

    def product(x: jax.Array) -> jax.Array:
        return pull(information(dist, push(x)))[0] / len(obs)

    return product


def damped(product: Product, damping: float) -> Product:
    """Make x -> (H + damping I) x."""
    return lambda x: product(x) + damping * x


def conjugate_gradient(product: Product, b: jax.Array, iterations: int) -> tuple[jax.Array, jax.Array]:
    """Solve H x = b, and tell whether H looked positive definite; where it did not, x is what was reached before.

    Stops moving once the residual is lost in rounding, so that b = 0 and early convergence divide by nothing.
    """
    small = (10.0 * jnp.finfo(b.dtype).eps) ** 2 * (b @ b)

    def iterate(_: Any, carry: Any) -> Any:
        x, residual, direction, square, ok = carry
        image = product(direction)
        curvature = direction @ image
        busy = ok & (square > small)
        ok &= (curvature > 0.0) | ~busy  # also False where the curvature is NaN
        busy &= ok
        length = jnp.where(busy, square / jnp.where(busy, curvature, 1.0), 0.0)
        x, residual = x + length * direction, residual - jnp.where(busy, length * image, 0.0)
        new_square = residual @ residual
        onward = residual + jnp.where(busy, new_square / jnp.where(busy, square, 1.0), 0.0) * direction
        return x, residual, jnp.where(busy, onward, direction), new_square, ok

    start = (jnp.zeros_like(b), b, b, b @ b, jnp.isfinite(b @ b))
    x, _, _, _, ok = jax.lax.fori_loop(0, iterations, iterate, start)
    return x, ok & jnp.isfinite(x).all()


class Directions(NamedTuple):
    """H^-1 times each of k gradients, as far as conjugate gradient gets."""

    natural: jax.Array  # [k, n]
    gram: jax.Array  # [k, k] natural H natural^T: with exact solves, gradients H^-1 gradients^T
    ok: jax.Array  # [] H was positive definite on the way


def natural_directions(product: Product, gradients: jax.Array, iterations: int) -> Directions:
    """Solve for each of the gradients [k, n] by so many iterations of conjugate gradient."""
    natural, ok = jax.vmap(lambda b: conjugate_gradient(product, b, iterations))(gradients)
    images = jax.vmap(product)(natural)
    gram = natural @ images.T
    return Directions(natural, 0.5 * (gram + gram.T), ok.all() & jnp.isfinite(gram).all())


def trust_region_length(square: jax.Array, delta: float) -> jax.Array:
    """Give sqrt(2 delta / x^T H x): the multiple of x that reaches the edge of the trust region; 0 for x = 0."""
    return jnp.where(square > 0.0, jnp.sqrt(2.0 * delta / jnp.where(square > 0.0, square, 1.0)), 0.0)


class Search(NamedTuple):
    """What a line search came to."""

    vector: jax.Array  # the accepted parameters, or the old ones
    tries: jax.Array  # [] steps tried
    failed: jax.Array  # [] none was accepted


def line_search(vector: jax.Array, step: jax.Array, accept: Callable[[jax.Array], jax.Array], config: SecondOrder) -> Search:
    """Take vector + backtrack^j step for the first j = 0, 1, … that `accept` takes; after `backtracks` refusals, vector.

    An acceptance that compares with NaN is a refusal.
    """

    def attempt(carry: tuple[jax.Array, jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array, jax.Array]:
        _, tried, _ = carry
        candidate = vector + config.backtrack**tried * step
        taken = accept(candidate) & jnp.isfinite(candidate).all()
        return jnp.where(taken, candidate, vector), tried + 1, taken

    start = (vector, jnp.zeros((), jnp.int32), jnp.array(False))
    new, tried, taken = jax.lax.while_loop(lambda c: ~c[2] & (c[1] < config.backtracks), attempt, start)
    return Search(new, tried, ~taken)
