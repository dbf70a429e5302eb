"""Shuffles, minibatches and fits with Adam."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from cuprl.learn.minibatch import Fit, clipped, fit, init_adam, shuffle, shuffled_minibatches, within
from cuprl.learn.settings import FirstOrder


@pytest.mark.parametrize("rows", [1, 7, 64, 5000, 400_000])
def test_shuffle_is_a_permutation_and_each_key_gives_another(rows):
    order = np.asarray(shuffle(jax.random.PRNGKey(0), rows))
    np.testing.assert_array_equal(np.sort(order), np.arange(rows))
    if rows > 7:
        assert (order != np.asarray(shuffle(jax.random.PRNGKey(1), rows))).any()
    if rows >= 5000:
        assert np.ptp(order[:64]) > 0.9 * rows  # a minibatch is from the whole batch


def test_shuffle_has_no_favourite_places():
    orders = jax.vmap(lambda key: shuffle(key, 50))(jax.random.split(jax.random.PRNGKey(0), 4000))
    np.testing.assert_allclose(np.asarray(orders).mean(axis=0), 24.5, atol=1.0)  # std of the mean: 14.4 / sqrt(4000)


def test_minibatches_keep_rows_together():
    data = {"a": jnp.arange(130), "b": jnp.arange(130)[:, None] * 2.0}
    parts = shuffled_minibatches(jax.random.PRNGKey(0), data, 64)
    assert parts["a"].shape == (2, 64) and parts["b"].shape == (2, 64, 1)
    np.testing.assert_array_equal(parts["b"][..., 0], 2.0 * parts["a"])
    assert len(np.unique(parts["a"])) == 128


def test_fit_is_plain_adam_on_minibatches():
    """One minibatch an epoch, so that the order of rows cannot matter: the steps are Adam's by hand."""
    x = np.random.default_rng(0).normal(size=(32, 3))
    params = {"w": jnp.ones(3)}
    settings = FirstOrder(policy_lr=0.1, epochs=5, minibatch=32)
    loss, start = lambda p, rows: ((rows - p["w"]) ** 2).mean(), Fit(params, init_adam(params))
    done = fit(loss, start, jnp.array(x), settings, key=jax.random.PRNGKey(0), lr_scale=1.0)
    w, first, second = np.ones(3), np.zeros(3), np.zeros(3)
    for k in range(1, 6):
        gradient = 2 * (w - x).mean(axis=0) / 3
        first, second = 0.9 * first + 0.1 * gradient, 0.999 * second + 0.001 * gradient**2
        w = w - 0.1 * (first / (1 - 0.9**k)) / (np.sqrt(second / (1 - 0.999**k)) + 1e-8)
    np.testing.assert_allclose(done.params["w"], w, rtol=1e-4)
    assert done.epochs == 5


def test_fit_stops_after_the_epoch_that_breaks_the_rule():
    params = {"w": jnp.zeros(())}
    data = jnp.ones((64, 1))
    loss, start = lambda p, rows: -(p["w"] * rows).mean(), Fit(params, init_adam(params))
    settings = FirstOrder(policy_lr=0.1, epochs=50, minibatch=64)

    def fitted(stop):
        return fit(loss, start, data, settings, key=jax.random.PRNGKey(0), lr_scale=1.0, stop=stop)

    done = fitted(within(lambda p, rows: p["w"], 0.55))
    assert done.epochs == 6  # Adam climbs 0.1 a step; 0.6 is the first above
    nan = fitted(within(lambda p, rows: p["w"] * jnp.nan, 0.55))
    assert nan.epochs == 1


def test_without_a_limit_no_kl_is_computed():
    def kl(params, rows):
        raise AssertionError

    assert within(kl, np.inf).keep_going({}, {})


def test_gradient_clipping_only_shortens():
    g = jnp.array([3.0, 4.0])
    np.testing.assert_allclose(clipped(g, 1.0), g / 5, rtol=1e-6)
    np.testing.assert_allclose(clipped(g, 40.0), g)
    assert (clipped(jnp.zeros(2), 1.0) == 0.0).all()


def test_a_part_of_an_epoch_is_a_minibatch_at_least():
    """Three minibatches an epoch: looked at ten times, it is still three steps, each row seen once."""
    params = {"w": jnp.zeros(12)}
    rows, settings = jnp.eye(12), FirstOrder(policy_lr=0.1, epochs=1, minibatch=4)
    loss, start = lambda p, rows: -(rows @ p["w"]).sum(), Fit(params, init_adam(params))
    stop = within(lambda p, rows: jnp.zeros(()), 1.0, parts=10)
    done = fit(loss, start, rows, settings, key=jax.random.PRNGKey(0), lr_scale=1.0, stop=stop)
    assert done.epochs == 1 and done.opt_state.count == 3
    assert (done.params["w"] > 0.0).all()


def test_rows_without_any_cost_are_fitted_in_parts_too():
    params = {"w": jnp.zeros(12)}
    rows, settings = (jnp.eye(12), jnp.zeros((12, 0))), FirstOrder(policy_lr=0.1, epochs=1, minibatch=4)
    loss, start = lambda p, rows: -(rows[0] @ p["w"]).sum() + rows[1].sum(), Fit(params, init_adam(params))
    stop = within(lambda p, rows: jnp.zeros(()), 1.0, parts=3)
    assert fit(loss, start, rows, settings, key=jax.random.PRNGKey(0), lr_scale=1.0, stop=stop).epochs == 1
