"""Multipliers: each rule against itself written out plainly."""

import jax.numpy as jnp
import numpy as np
import pytest

from cuprl.learn import multipliers


def test_ascent_is_the_papers_rule_and_stays_in_its_bounds():
    nu = multipliers.init_multiplier(2, 0.5)
    nu = multipliers.ascent(nu, jnp.array([10.0, -100.0]), 0.01, 2.0)
    np.testing.assert_allclose(nu.value, [0.6, 0.0], rtol=1e-6)
    assert multipliers.ascent(nu, jnp.array([1e6, 0.0]), 0.01, 2.0).value[0] == 2.0


def test_adam_multiplier_against_plain_adam():
    rng = np.random.default_rng(0)
    nu, value, first, second = multipliers.init_multiplier(1, 1.0), 1.0, 0.0, 0.0
    for k in range(1, 20):
        excess = rng.normal()
        nu = multipliers.adam(nu, jnp.array([excess]), 0.035, 2.0)
        first, second = 0.9 * first + 0.1 * excess, 0.999 * second + 0.001 * excess**2
        value += 0.035 * (first / (1 - 0.9**k)) / (np.sqrt(second / (1 - 0.999**k)) + 1e-8)
        value = min(max(value, 0.0), 2.0)
        assert nu.value[0] == pytest.approx(value, rel=1e-4)


def test_pid_answers_at_once_and_forgets_what_is_over():
    nu = multipliers.init_multiplier(1, 0.0)
    up = multipliers.pid(nu, jnp.array([5.0]), 0.01, 2.0)
    assert up.value[0] == pytest.approx(0.1 * 5 + 0.01 * 5, rel=1e-5)
    assert multipliers.pid(up, jnp.array([-5.0]), 0.01, 2.0).value[0] == 0.0


def test_pid_begins_where_it_is_told():
    nu = multipliers.pid(multipliers.init_multiplier(1, 0.7), jnp.array([0.0]), 0.01, 2.0)
    assert nu.value[0] == pytest.approx(0.7)
    assert multipliers.pid(nu, jnp.array([0.0]), 0.01, 2.0).value[0] == pytest.approx(0.7)
