"""FOCOPS: its loss against plain NumPy and finite differences, and its trust region."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from algorithms.first_order import expect_gradient_of_slopes, problem
from algorithms.plain_policies import KINDS, batch_for, plain_dist, plain_kl, plain_ratio, spec_for
from cuprl.algorithms import focops

NU = np.array([0.7, 1.3])


def focops_loss(policy, params, rows, delta=0.05):
    return focops.focops_loss(policy, params, rows, jnp.array(NU, jnp.float32), focops.Config(delta=delta))


@pytest.mark.parametrize("kind", KINDS)
def test_focops_loss_row_by_row(kind):
    """Each state's indicator masks its own row: a (B,) times a (B, 1), the defect of two packages, mixes all rows."""
    policy, k, new, batch, rows = problem(kind)
    ratio = plain_ratio(new, k, batch.obs, batch.action)
    kl = plain_kl(plain_dist(new, batch.obs), plain_dist(k, batch.obs))  # the new policy first
    delta = float(np.median(kl))
    total, adv_c = 0.0, np.asarray(batch.adv_c, np.float64)
    for b in range(len(ratio)):
        if kl[b] <= delta:
            total += kl[b] - ratio[b] * (float(batch.adv_r[b]) - NU @ adv_c[b]) / 1.5
    assert float(focops_loss(policy, new, rows, delta * 1.0001)) == pytest.approx(total / len(ratio), rel=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_focops_gradient_is_that_of_the_states_inside_alone(kind):
    """A state outside adds nothing to value or gradient, whatever its advantage."""
    policy, _, new, _, rows = problem(kind)
    kl = np.asarray(focops.kl_to_k(policy, new, rows))
    delta = float(np.median(kl))
    changed = rows._replace(adv_r=jnp.where(jnp.array(kl > delta), 1e3, rows.adv_r))
    gradients = [jax.grad(lambda p, r=r: focops_loss(policy, p, r, delta))(new) for r in (rows, changed)]
    jax.tree.map(np.testing.assert_array_equal, *gradients)
    outside = jax.grad(lambda p: focops_loss(policy, p, rows, float(kl.min()) * 0.5))(new)
    assert all((leaf == 0).all() for leaf in jax.tree.leaves(outside))


def test_focops_stops_its_epochs_at_the_trust_region():
    spec = spec_for("categorical")
    state = focops.init(jax.random.PRNGKey(0), focops.Config(hidden=(8,)), spec)
    update = jax.jit(focops.update, static_argnums=(2, 3))
    batch = batch_for(spec, state.policy, excess=[3.0, -1.0])
    config = focops.Config(hidden=(8,), minibatch=16, policy_lr=0.03, critic_epochs=1)
    new, metrics = update(state, batch, config, spec)
    assert metrics["train/epochs"] < 10
    np.testing.assert_allclose(metrics["train/multiplier"], [0.03, 0.0], rtol=1e-5)
    kl = plain_kl(plain_dist(new.policy, batch.obs), plain_dist(state.policy, batch.obs))
    assert float(metrics["train/kl_trust_region"]) == pytest.approx(kl.mean(), rel=1e-3)
    assert float(metrics["train/states_inside"]) == pytest.approx((kl <= config.delta).mean())


@pytest.mark.parametrize("kind", KINDS)
def test_gradient_against_finite_differences(kind):
    expect_gradient_of_slopes(kind, partial(focops_loss, delta=9.0))
