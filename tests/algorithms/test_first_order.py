"""PPO, PPO-L and FOCOPS: their losses against plain NumPy statements and finite differences."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from algorithms.plain_policies import KINDS, batch_for, nearby, plain_dist, plain_kl, plain_ratio, spec_for
from cuprl import algorithms
from cuprl.algorithms import focops, ppo, ppo_lag
from cuprl.learn.lagrangian import improve_lagrangian, lagrangian_advantage
from cuprl.learn.policy import policy_for
from cuprl.learn.surrogate import rows_at

NU = np.array([0.7, 1.3])


def problem(kind, rows=32, size=0.1):
    spec = spec_for(kind)
    policy = policy_for(spec, (8,), -0.5)
    k = policy.init(jax.random.PRNGKey(0))
    batch = batch_for(spec, k, rows=rows)
    return policy, k, nearby(k, 1, size), batch, rows_at(policy, k, batch, batch.adv_c)


def ppo_loss(policy, params, rows):
    return ppo.clip_loss(policy, params, rows, 0.2)


def focops_loss(policy, params, rows, delta=0.05):
    return focops.focops_loss(policy, params, rows, jnp.array(NU, jnp.float32), focops.Config(delta=delta))


@pytest.mark.parametrize("kind", KINDS)
def test_clip_loss_row_by_row(kind):
    policy, k, new, batch, rows = problem(kind, size=0.3)
    ratio = plain_ratio(new, k, batch.obs, batch.action)
    assert (ratio > 1.2).any() and (ratio < 0.8).any()  # the clip matters
    total = 0.0
    for r, a in zip(ratio, np.asarray(batch.adv_r, np.float64)):
        total += min(r * a, min(max(r, 0.8), 1.2) * a)
    assert float(ppo_loss(policy, new, rows)) == pytest.approx(-total / len(ratio), rel=1e-4)


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


@pytest.mark.parametrize("loss", [ppo_loss, partial(focops_loss, delta=9.0)], ids=["ppo", "focops"])
@pytest.mark.parametrize("kind", KINDS)
def test_gradients_against_finite_differences(kind, loss):
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


def test_lagrangian_advantage_by_hand():
    """(2 - 0.5 * 1 - 1.5 * 3) / (1 + 2) = -1"""
    got = lagrangian_advantage(jnp.array([2.0, 0.0]), jnp.array([[1.0, 3.0], [0.0, 0.0]]), jnp.array([0.5, 1.5]))
    np.testing.assert_allclose(got, [-1.0, 0.0], rtol=1e-6)


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


def test_ppo_lag_with_no_multiplier_is_ppo():
    """Under the limits nu stays 0 and the advantage is the reward's; over them it is another one."""
    spec = spec_for("gaussian")
    config = ppo_lag.Config(hidden=(8,), minibatch=32, epochs=2, critic_epochs=1)
    state = ppo_lag.init(jax.random.PRNGKey(0), config, spec)
    update = jax.jit(ppo_lag.update, static_argnums=(2, 3))
    safe, unsafe = (update(state, batch_for(spec, state.policy, excess=x), config, spec)[0] for x in (-1.0, 50.0))
    plain, _ = jax.jit(ppo.update, static_argnums=(2, 3))(state, batch_for(spec, state.policy), config, spec)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-6), safe.policy, plain.policy)
    assert not np.allclose(unsafe.policy["log_std"], safe.policy["log_std"], atol=1e-6)


def test_ppo_ignores_the_costs():
    spec = spec_for("gaussian")
    config = ppo.Config(hidden=(8,), minibatch=32, epochs=2, critic_epochs=1)
    state = ppo.init(jax.random.PRNGKey(0), config, spec)
    update = jax.jit(ppo.update, static_argnums=(2, 3))
    quiet, loud = (update(state, batch_for(spec, state.policy, excess=x), config, spec)[0] for x in (-1.0, 50.0))
    jax.tree.map(np.testing.assert_array_equal, quiet.policy, loud.policy)
    assert (quiet.multiplier.value == 0).all()


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


def test_defaults_are_the_table_of_the_paper():
    configs = {name: algorithms.load(name)[1] for name in algorithms.ALGORITHMS}
    common = {"batch_size": 5000, "hidden": (64, 64), "gamma": 0.99, "lam": 0.95, "cost_lam": 0.95, "critic_lr": 3e-4}
    table = {
        "ppo": {"clip": 0.2, "minibatch": 64, "epochs": 10, "policy_lr": 3e-4, "init_log_std": -0.5},
        "ppo-lag": {
            "clip": 0.2,
            "minibatch": 64,
            "epochs": 10,
            "policy_lr": 3e-4,
            "init_log_std": -0.5,
            "critic_l2": 3e-3,
            "multiplier_lr": 0.01,
            "multiplier_init": 0.0,
            "multiplier_max": 1.0,
        },
        "trpo": {"delta": 0.01, "damping": 0.01, "critic_epochs": 80},
        "trpo-lag": {
            "init_log_std": -1.0,
            "critic_l2": 3e-3,
            "damping": 0.01,
            "backtrack": 0.8,
            "backtracks": 10,
            "cg_iterations": 10,
            "critic_epochs": 80,
            "delta": 0.01,
            "multiplier_lr": 0.01,
            "multiplier_init": 0.0,
            "multiplier_max": 2.0,
        },
        "cpo": {
            "init_log_std": -0.5,
            "critic_l2": 3e-3,
            "damping": 0.01,
            "backtrack": 0.8,
            "backtracks": 10,
            "cg_iterations": 10,
            "critic_epochs": 80,
            "delta": 0.01,
        },
        "pcpo": {"projection": "kl", "delta": 0.01, "damping": 0.01, "critic_epochs": 80},
        "pcpo-l2": {"projection": "l2"},
        "focops": {
            "minibatch": 64,
            "epochs": 10,
            "policy_lr": 3e-4,
            "critic_l2": 1e-3,
            "temperature": 1.5,
            "delta": 0.02,
            "multiplier_lr": 0.01,
            "multiplier_init": 0.0,
            "multiplier_max": 2.0,
        },
    }
    for name, expected in table.items():
        for setting, value in {**common, **expected}.items():
            assert getattr(configs[name], setting) == value, (name, setting)
