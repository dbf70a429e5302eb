"""A policy near pi_k, the rows of a batch, and whether a gradient is the slope of its loss."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from algorithms.plain_policies import batch_for, nearby, spec_for
from cuprl.learn.policy import policy_for
from cuprl.learn.settings import Common
from cuprl.learn.surrogate import rows_at


def problem(kind, rows=32, size=0.1):
    spec = spec_for(kind)
    policy = policy_for(spec, Common(hidden=(8,)))
    k = policy.init(jax.random.PRNGKey(0))
    batch = batch_for(spec, k, rows=rows)
    return policy, k, nearby(k, 1, size), batch, rows_at(policy, k, batch, batch.adv_c)


def expect_gradient_of_slopes(kind, loss):
    """The gradient of the loss is what finite differences give, in float64."""
    with jax.enable_x64(True):
        policy, _, new, _, rows = problem(kind, rows=16)
        rows = jax.tree.map(lambda x: x.astype(jnp.float64) if x.dtype == jnp.float32 else x, rows)
        flat, unravel = ravel_pytree(jax.tree.map(lambda x: x.astype(jnp.float64), new))
        value = jax.jit(jax.vmap(lambda v: loss(policy, unravel(v), rows)))
        steps = 1e-6 * jnp.eye(len(flat))
        slopes = (value(flat + steps) - value(flat - steps)) / 2e-6
        gradient = jax.jit(jax.grad(lambda v: loss(policy, unravel(v), rows)))(flat)
        np.testing.assert_allclose(gradient, slopes, rtol=1e-4, atol=1e-7)
        assert np.abs(gradient).max() > 0.01
