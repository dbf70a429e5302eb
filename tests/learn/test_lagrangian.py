"""The advantage that a Lagrangian method climbs."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from algorithms.plain_policies import batch_for, spec_for
from cuprl.algorithms import ppo_lag, trpo_lag
from cuprl.learn.lagrangian import improve_lagrangian, lagrangian_advantage


def test_lagrangian_advantage_by_hand():
    """(2 - 0.5 * 1 - 1.5 * 3) / (1 + 2) = -1"""
    got = lagrangian_advantage(jnp.array([2.0, 0.0]), jnp.array([[1.0, 3.0], [0.0, 0.0]]), jnp.array([0.5, 1.5]))
    np.testing.assert_allclose(got, [-1.0, 0.0], rtol=1e-6)


@pytest.mark.parametrize("algorithm", [ppo_lag, trpo_lag])
def test_what_is_predicted_of_the_cost_is_in_its_own_unit(algorithm):
    """Costs ten times as large, and the excess too: the same step, and ten times the change of J^C."""
    spec = spec_for("gaussian", m=1)
    config = algorithm.Config(hidden=(8,), multiplier_init=0.5, multiplier_lr=0.0)
    state = algorithm.init(jax.random.PRNGKey(0), config, spec)
    changes = []
    for scale in (1.0, 10.0):
        batch = batch_for(spec, state.policy, scale=scale)
        _, metrics = jax.jit(algorithm.update, static_argnums=(2, 3))(state, batch, config, spec)
        changes.append(metrics["train/predicted_cost"] - batch.cost_return)
    np.testing.assert_allclose(changes[1], 10 * changes[0], rtol=0.02)


@pytest.mark.parametrize("kind", ["ascent", "adam", "pid"])
def test_a_lagrangian_method_climbs_the_combined_advantage_with_every_kind_of_multiplier(kind):
    spec = spec_for("gaussian")
    config = ppo_lag.Config(hidden=(8,), multiplier=kind, multiplier_lr=0.05)
    state = ppo_lag.init(jax.random.PRNGKey(0), config, spec)
    batch = batch_for(spec, state.policy, excess=[4.0, -0.5])
    seen = []
    new, metrics = improve_lagrangian(lambda s, b, a, c, p: seen.append(a) or (s, {}), state, batch, config, spec)
    nu = metrics["train/multiplier"]
    np.testing.assert_array_equal(nu, new.multiplier.value)
    assert 0 < nu[0] <= config.multiplier_max and nu[1] == 0
    if kind == "ascent":
        np.testing.assert_allclose(nu, [0.2, 0.0], rtol=1e-5)
    adv_c = (batch.adv_c - batch.adv_c.mean(axis=0)) / (batch.adv_c.std(axis=0) + 1e-6)
    np.testing.assert_allclose(seen[0], (batch.adv_r - nu[0] * adv_c[:, 0]) / (1 + nu[0]), rtol=1e-4, atol=1e-5)
