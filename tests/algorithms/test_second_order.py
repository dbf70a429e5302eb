"""TRPO, TRPO-L, CPO and PCPO: what a whole update does, measured afterwards in plain NumPy."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from algorithms.plain_policies import batch_for, plain_dist, plain_kl, plain_ratio, spec_for
from cuprl import algorithms
from cuprl.algorithms import cpo, pcpo
from cuprl.core.spec import Constraint
from cuprl.learn import trust_region
from cuprl.learn.natural import Directions
from cuprl.learn.settings import SecondOrder
from cuprl.learn.trust_region import Local, scaled_constraints
from cuprl.learn.visits import discounted_steps

METHODS = ("trpo", "trpo-lag", "cpo", "pcpo", "pcpo-l2")
OLD_FIRST = ("trpo", "trpo-lag")  # TRPO bounds KL(pi_k, pi), CPO and PCPO KL(pi, pi_k)


def updated(name, kind="gaussian", m=2, excess=0.0, seed=0, scale=1.0, update=None, **settings):
    """(state before, batch, state after, metrics). Six action dimensions."""
    module, config = algorithms.load(name, {"hidden": (8,), "critic_epochs": 1, **settings})
    spec = spec_for(kind, m, 6)
    state = module.init(jax.random.PRNGKey(seed), config, spec)
    batch = batch_for(spec, state.policy, seed, 128, excess, scale)
    update = update or compiled(module)
    return state, batch, *update(state, batch, config, spec)


def compiled(module, fresh=False):
    """The compiled update; `fresh`: traced anew, so that it sees what a test has put in the place of something."""
    return jax.jit((lambda *a: module.update(*a)) if fresh else module.update, static_argnums=(2, 3))


def same(a, b):
    return all(np.array_equal(x, y) for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b)))


def measured_kl(name, state, new, batch):
    old, now = plain_dist(state.policy, batch.obs), plain_dist(new.policy, batch.obs)
    return (plain_kl(old, now) if name in OLD_FIRST else plain_kl(now, old)).mean()


def cost_changes(state, new, batch):
    """mean (ratio - 1) A^C / std [m], plainly."""
    adv_c = np.asarray(batch.adv_c, np.float64)
    ratio = plain_ratio(new.policy, state.policy, batch.obs, batch.action)
    return (ratio - 1) @ ((adv_c - adv_c.mean(axis=0)) / (adv_c.std(axis=0) + 1e-6)) / len(ratio)


@pytest.mark.parametrize("name, kind", [*zip(METHODS, ["gaussian"] * 5), ("trpo", "categorical"), ("cpo", "categorical")])
def test_the_measured_kl_fills_the_trust_region_and_keeps_it(name, kind):
    """A KL averaged over the six action dimensions would be let grow to six times delta."""
    state, batch, new, metrics = updated(name, kind, excess=-50.0)
    kl = measured_kl(name, state, new, batch)
    assert 0.005 <= kl <= 0.01 * 1.001
    assert float(metrics["train/kl_trust_region"]) == pytest.approx(kl, rel=1e-3)
    assert not metrics["train/line_search_failed"] and not metrics["train/curvature_failed"]
    improvement = (plain_ratio(new.policy, state.policy, batch.obs, batch.action) - 1) @ np.asarray(batch.adv_r)
    assert improvement > 0
    assert not np.array_equal(new.key, state.key)  # or the next batch would get the same noise


@pytest.mark.parametrize("name", ["cpo", "pcpo", "pcpo-l2"])
def test_without_a_binding_limit_all_take_the_same_step(name):
    """Far under the limits the constrained methods are TRPO, up to the line search's KL."""
    state, _, trpo, _ = updated("trpo", excess=-50.0)
    _, _, new, metrics = updated(name, excess=-50.0)
    start, first, second = (np.asarray(ravel_pytree(x.policy)[0]) for x in (state, trpo, new))
    cosine = (first - start) @ (second - start) / np.linalg.norm(first - start) / np.linalg.norm(second - start)
    assert cosine > 0.9999
    assert (metrics["train/multiplier"] == 0).all()


def test_trpo_lag_climbs_its_lagrangian_and_trpo_ignores_the_costs():
    _, _, quiet, _ = updated("trpo", excess=-1.0)
    _, _, loud, _ = updated("trpo", excess=50.0)
    assert same(quiet.policy, loud.policy)
    state, batch, new, metrics = updated("trpo-lag", excess=500.0)
    np.testing.assert_allclose(metrics["train/multiplier"], [2.0, 2.0])
    adv_c = np.asarray(batch.adv_c, np.float64)
    lagrangian = np.asarray(batch.adv_r) - 2.0 * ((adv_c - adv_c.mean(axis=0)) / adv_c.std(axis=0)).sum(axis=1)
    assert (plain_ratio(new.policy, state.policy, batch.obs, batch.action) - 1) @ lagrangian > 0
    assert cost_changes(state, new, batch).sum() < 0


# --- the scale of the constraint (FACTS: trap 4) and the cost discount (trap 6) ----------------------------------


def test_constraint_value_is_on_the_scale_of_the_mean_surrogate():
    """c = (1 - gamma_C) (J^C - b) / std, each cost with its own discount, 0.99 and 0.9, whatever the reward's."""
    spec = spec_for("gaussian", 2)
    batch = batch_for(spec, cpo.init(jax.random.PRNGKey(0), cpo.Config(hidden=(8,)), spec).policy, excess=[3.0, -2.0])
    adv_c, c = scaled_constraints(batch, spec)
    std = np.asarray(batch.adv_c).std(axis=0)
    np.testing.assert_allclose(c, [0.01 * 3.0 / std[0], 0.1 * -2.0 / std[1]], rtol=1e-3)
    np.testing.assert_allclose(np.asarray(adv_c).std(axis=0), 1.0, rtol=1e-4)
    np.testing.assert_allclose(np.asarray(adv_c).mean(axis=0), 0.0, atol=1e-5)


def test_discounted_steps_of_short_and_of_undiscounted_episodes():
    spec = replace(spec_for("gaussian", 1, horizon=3), constraints=(Constraint("a", 1.0, 0.5), Constraint("b", 1.0, 1.0)))
    np.testing.assert_allclose(discounted_steps(spec, SecondOrder()), [1.75, 3.0])
    np.testing.assert_allclose(discounted_steps(spec, SecondOrder(cost_return="undiscounted")), [3.0, 3.0])


@pytest.mark.parametrize("name", ["cpo", "pcpo", "pcpo-l2"])
def test_costs_in_other_units_change_nothing(name):
    """The cost, J^C and the limit's distance in thousandths: the same problem, so the same policy."""
    _, _, one, metrics = updated(name, m=1, excess=4.0)
    _, _, other, metrics_other = updated(name, m=1, excess=4.0, scale=1000.0)
    assert metrics["train/case"] == metrics_other["train/case"] == 1
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-2, atol=2e-4), one.policy, other.policy)


# --- CPO's cases -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("m", [1, 2, 3])
@pytest.mark.parametrize("excess, case", [(-50.0, 3), (-1.0, 2), (1.0, 1), (50.0, 0)])
def test_cpo_says_which_case_it_took_and_does_what_it_says(excess, case, m):
    state, batch, new, metrics = updated("cpo", m=m, excess=excess * np.array([1.0, 0.1, 1.0])[:m])
    assert metrics["train/case"] == case
    assert not metrics["train/line_search_failed"]
    c, change = np.asarray(metrics["train/constraint"]), cost_changes(state, new, batch)
    if case >= 2:
        assert (c + change <= 1e-4).all()
        assert (plain_ratio(new.policy, state.policy, batch.obs, batch.action) - 1) @ np.asarray(batch.adv_r) > 0
    else:
        assert (change < 0).all()


def test_in_a_small_trust_region_cpo_lands_on_the_limit():
    """Where the linear model is exact, one step takes back the whole excess c: scale and sign of the constraint."""
    state, batch, new, metrics = updated("cpo", m=1, excess=0.1, delta=1e-5)
    assert metrics["train/case"] == 1 and metrics["train/multiplier"][0] > 0
    kept = 0.8 ** (float(metrics["train/line_search_tries"]) - 1)
    assert cost_changes(state, new, batch)[0] == pytest.approx(-kept * float(metrics["train/constraint"][0]), rel=0.1)


def test_cpo_tightens_the_constraint_that_binds():
    _, _, _, metrics = updated("cpo", excess=[-50.0, 0.0])
    nu = metrics["train/multiplier"]
    assert nu[0] == 0 and nu[1] > 0


@pytest.mark.parametrize("name", ["cpo", "pcpo"])
def test_the_line_search_is_called_with_the_constraint(name, monkeypatch):
    """In a trust region far too large the linear model lies. The search must notice; without the test it does not."""

    module = cpo if name == "cpo" else pcpo

    def broken(seed, update):
        settings = {"m": 1, "excess": -0.2, "seed": seed, "delta": 1.0, "backtracks": 40}
        state, batch, new, metrics = updated(name, update=update, **settings)
        c, change = np.asarray(metrics["train/constraint"]), cost_changes(state, new, batch)
        return (c + change > 1e-4).any(), bool(metrics["train/line_search_failed"])

    update = compiled(module)
    kept = [broken(seed, update) for seed in range(5)]
    assert not any(b for b, _ in kept) and not any(failed for _, failed in kept)
    monkeypatch.setattr(module, "keeps_limits", lambda change, c: jnp.array(True))
    update = compiled(module, fresh=True)
    assert any(broken(seed, update)[0] for seed in range(5))


# --- PCPO --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("projection", ["kl", "l2"])
@pytest.mark.parametrize("m", [1, 2, 3])
def test_pcpo_projects_in_its_metric(m, projection):
    """By the conditions of a projection: limits kept, a multiplier only where one is met, x - x_half = -nu L^-1 A."""
    rng = np.random.default_rng(m)
    active = 0
    for _ in range(200):
        root = rng.normal(size=(6, 6))
        H = root @ root.T + 0.5 * np.eye(6)
        G = rng.normal(size=(1 + m, 6))
        natural = np.linalg.solve(H, G.T).T
        x_half, c = rng.normal(size=6), rng.normal(size=m)
        gram = jnp.array(G @ natural.T, jnp.float32)
        directions = Directions(jnp.array(natural, jnp.float32), gram, jnp.array(True))
        local = Local(None, None, None, None, None, jnp.array(G, jnp.float32), directions, None, None)
        *found, exists = pcpo.project(local, jnp.array(x_half, jnp.float32), jnp.array(c, jnp.float32), projection)
        step, nu = (np.asarray(x, np.float64) for x in found)
        L = H if projection == "kl" else np.eye(6)
        value = c + G[1:] @ step
        assert exists and (nu >= 0).all() and (value <= 1e-3).all()
        np.testing.assert_allclose(L @ (step - x_half), -nu @ G[1:], atol=2e-3)
        assert (np.abs(nu * value) <= 2e-3 * (1 + nu)).all()
        active += bool((nu > 0).any())
        if m == 1:  # the closed form of the paper
            a = G[1]
            expected = max(0.0, (a @ x_half + c[0]) / (a @ np.linalg.solve(L, a)))
            assert nu[0] == pytest.approx(expected, rel=1e-3, abs=1e-4)
    assert active > 50


@pytest.mark.parametrize("name", ["pcpo", "pcpo-l2"])
def test_pcpo_comes_back_from_far_over_the_limit(name):
    """The projection leads out of the trust region: it is cut to its edge instead of being refused for ever."""
    state, batch, new, metrics = updated(name, excess=500.0)
    assert metrics["train/case"] == 1 and not metrics["train/line_search_failed"]
    assert measured_kl(name, state, new, batch) <= 0.01 * 1.001
    assert (cost_changes(state, new, batch) <= 0).all()


# --- what fails keeps the old policy -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["trpo", "cpo"])
def test_indefinite_curvature_keeps_the_old_policy_and_is_counted(name, monkeypatch):
    """Positive along the gradient, negative further on: there is a direction by then, but not to be trusted."""
    monkeypatch.setattr(
        trust_region, "fisher_product", lambda *a: lambda x: x * jnp.where(jnp.arange(len(x)) % 4 == 0, -3.0, 5.0)
    )
    state, _, new, metrics = updated(name, update=compiled(algorithms.load(name)[0], fresh=True))
    assert metrics["train/curvature_failed"] == 1
    assert same(state.policy, new.policy)
    assert not same(state.critics, new.critics)  # the rest goes on
    assert metrics["train/kl_trust_region"] == 0


@pytest.mark.parametrize("name", ["trpo", "cpo", "pcpo"])
def test_a_failed_line_search_keeps_the_old_policy_and_is_counted(name):
    state, _, new, metrics = updated(name, excess=-50.0, delta=30.0, backtracks=1)
    assert metrics["train/line_search_failed"] == 1 and metrics["train/curvature_failed"] == 0
    assert metrics["train/line_search_tries"] == 1
    assert same(state.policy, new.policy) and not same(state.critics, new.critics)


@pytest.mark.parametrize("name", METHODS)
def test_no_signal_at_all_is_survived(name):
    """All advantages 0: no gradient, no step, nothing that is not finite."""
    module, config = algorithms.load(name, {"hidden": (8,), "critic_epochs": 1})
    spec = spec_for("gaussian", 2, 6)
    state = module.init(jax.random.PRNGKey(0), config, spec)
    batch = batch_for(spec, state.policy, 0, 128)
    batch = replace(batch, adv_r=jnp.zeros_like(batch.adv_r), adv_c=jnp.zeros_like(batch.adv_c))
    new, metrics = compiled(module)(state, batch, config, spec)
    assert same(state.policy, new.policy)
    assert all(np.isfinite(x).all() for x in jax.tree.leaves((new, metrics)))
