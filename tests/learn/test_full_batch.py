"""Steps on the gradient of the whole batch."""

import jax
import jax.numpy as jnp
import numpy as np

from cuprl.learn.full_batch import chunks, fit_full_batch
from cuprl.learn.minibatch import Fit, fit, init_adam
from cuprl.learn.settings import FirstOrder


def test_full_batch_steps_do_not_depend_on_the_chunk():
    """Chunks are speed alone; and one chunk is what `fit` does with one minibatch."""
    rng = np.random.default_rng(0)
    data = (jnp.array(rng.normal(size=(60, 3)), jnp.float32), jnp.array(rng.normal(size=60), jnp.float32))
    start = {"w": jnp.ones(3)}

    def loss(params, rows):
        x, y = rows
        return ((x @ params["w"] - y) ** 2).mean() + 0.1 * (params["w"] ** 2).sum()

    whole, parts = (fit_full_batch(loss, start, init_adam(start), data, 0.05, 20, chunk) for chunk in (1000, 25))
    np.testing.assert_allclose(whole.params["w"], parts.params["w"], rtol=1e-4)
    settings = FirstOrder(policy_lr=0.05, epochs=20, minibatch=60)
    other = fit(loss, Fit(start, init_adam(start)), data, settings, key=jax.random.PRNGKey(0), lr_scale=1.0)
    np.testing.assert_allclose(whole.params["w"], other.params["w"], rtol=1e-4)
    assert chunks(data, 25)[0].shape == (3, 20, 3)  # the largest divisor of 60 that is at most 25
    assert chunks(jnp.zeros((53, 2)), 25).shape == (1, 53, 2)  # not 53 chunks of a row
    assert chunks(jnp.zeros((7, 2)), 3).shape == (7, 1, 2)  # where that is all there is, it is
