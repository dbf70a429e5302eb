"""Activations in NumPy and in JAX against JAX's own, with their slopes, where numbers are large too."""

import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from cuprl.core.activations import ACTIVATIONS

THEIRS = {"tanh": jnp.tanh, "relu": jax.nn.relu, "elu": jax.nn.elu, "swish": jax.nn.swish}
X = np.array([-1e30, -200.0, -3.0, -0.5, -1e-3, 0.0, 1e-3, 0.5, 3.0, 200.0, 1e30], np.float32)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_values_and_slopes(name):
    ours = ACTIVATIONS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = ours(np)(X)
    assert found.dtype == np.float32 and np.isfinite(found).all()
    np.testing.assert_allclose(found, THEIRS[name](X), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found, ours(jnp)(X), rtol=1e-5, atol=1e-6)
    away = X[X != 0.0]  # at 0 relu has a kink: any slope from 0 to 1 is one
    slopes, theirs = (jax.vmap(jax.grad(f))(jnp.array(away)) for f in (ours(jnp), THEIRS[name]))
    np.testing.assert_allclose(slopes, theirs, rtol=1e-4, atol=1e-6)


def test_there_are_those_that_people_ask_for():
    assert ACTIVATIONS.keys() == THEIRS.keys()
