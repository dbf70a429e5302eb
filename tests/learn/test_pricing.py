"""nu, by the printed rule and as the multiplier of the projection."""

import jax.numpy as jnp
import numpy as np
import pytest

from algorithms.plain_policies import spec_for
from cuprl.algorithms import cup
from cuprl.learn.multipliers import init_multiplier
from cuprl.learn.pricing import prices
from cuprl.learn.settings import Lagrangian

SPEC = spec_for("gaussian", m=2)  # discounts 0.99 and 0.9
NOW = jnp.array([2.0, -3.0])


def predicted(params):
    return params * jnp.array([1.0, -1.0])


def test_once_an_iteration_nu_follows_what_was_measured_and_stays():
    config = Lagrangian(multiplier="ascent", multiplier_lr=0.1, multiplier_max=9.0)
    found = prices(init_multiplier(2, 0.1), NOW, predicted, 7.0, config, SPEC)
    np.testing.assert_allclose(found.multiplier.value, [0.3, 0.0], rtol=1e-6)
    np.testing.assert_allclose(found.scale, [(1 - 0.99 * 0.95) / 0.01, (1 - 0.9 * 0.95) / 0.1], rtol=1e-4)
    nu = found.multiplier.value
    np.testing.assert_array_equal(found.reprice(99.0, nu), nu)


def test_without_any_discount_the_scale_has_the_horizons_steps():
    spec = spec_for("gaussian", m=2, discounts=(1.0, 0.9))
    config = Lagrangian(gamma=1.0, multiplier="ascent")
    found = prices(init_multiplier(2, 0.1), NOW, predicted, 7.0, config, spec)
    np.testing.assert_allclose(found.scale, [0.05 * spec.horizon, (1 - 0.9 * 0.95) / 0.1], rtol=1e-4)


@pytest.mark.parametrize("gamma", [0.99, 1.0])
def test_at_lambda_1_nu_stands_as_it_is_in_the_loss(gamma):
    """Also without a discount, where (1 - gamma lambda)/(1 - gamma) is 0/0; a 0 would leave the cost out."""
    config = Lagrangian(gamma=gamma, cost_lam=1.0, multiplier="ascent")
    spec = spec_for("gaussian", m=2, discounts=(1.0, 0.9))
    np.testing.assert_allclose(
        prices(init_multiplier(2, 0.1), NOW, predicted, 7.0, config, spec).scale, [1.0, 1.0], rtol=1e-5
    )


def test_while_projecting_nu_follows_what_is_predicted_of_the_policy_as_it_stands():
    config = cup.Config(multiplier="projection", multiplier_lr=0.1, multiplier_max=1.0)
    found = prices(init_multiplier(2, 0.1), NOW, predicted, 7.0, config, SPEC)
    np.testing.assert_allclose(found.multiplier.value, [0.8, 0.0], rtol=1e-6)  # from pi_half on, not from NOW
    np.testing.assert_array_equal(found.scale, [1.0, 1.0])
    np.testing.assert_allclose(found.reprice(-2.0, found.multiplier.value), [0.6, 0.2], rtol=1e-5)
    np.testing.assert_allclose(found.reprice(50.0, found.multiplier.value), [1.0, 0.0])
    np.testing.assert_array_equal(found.pricing()[0], found.multiplier.value)


def test_a_policy_within_the_safe_set_needs_no_projection():
    config = cup.Config(multiplier="projection", multiplier_lr=0.1)
    nu = init_multiplier(2, 0.1)
    assert not prices(nu, NOW, lambda params: jnp.array([-9.0, -9.0]), 7.0, config, SPEC).pricing().needed
    assert prices(nu, NOW, lambda params: jnp.array([-9.0, 9.0]), 7.0, config, SPEC).pricing().needed
    assert prices(init_multiplier(2, 0.0), -abs(NOW), predicted, 7.0, Lagrangian(), SPEC).pricing().needed  # as printed
