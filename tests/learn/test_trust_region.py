"""What TRPO, TRPO-L, CPO and PCPO share, seen in whole updates: trust region, scale of the constraints, failures."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from algorithms.plain_policies import batch_for, plain_ratio, spec_for
from algorithms.second_order import METHODS, compiled, cost_changes, measured_kl, same, updated
from cuprl import algorithms
from cuprl.algorithms import cpo, pcpo
from cuprl.learn import trust_region
from cuprl.learn.trust_region import scaled_constraints


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


def test_constraint_value_is_on_the_scale_of_the_mean_surrogate():
    """c = (1 - gamma_C) (J^C - b) / std, each cost with its own discount, 0.99 and 0.9, whatever the reward's."""
    spec = spec_for("gaussian", 2)
    batch = batch_for(spec, cpo.init(jax.random.PRNGKey(0), cpo.Config(hidden=(8,)), spec).policy, excess=[3.0, -2.0])
    adv_c, c = scaled_constraints(batch)
    std = np.asarray(batch.adv_c).std(axis=0)
    np.testing.assert_allclose(c, [0.01 * 3.0 / std[0], 0.1 * -2.0 / std[1]], rtol=1e-3)
    np.testing.assert_allclose(np.asarray(adv_c).std(axis=0), 1.0, rtol=1e-4)
    np.testing.assert_allclose(np.asarray(adv_c).mean(axis=0), 0.0, atol=1e-5)


@pytest.mark.parametrize("name", ["cpo", "pcpo", "pcpo-l2"])
def test_costs_in_other_units_change_nothing(name):
    """The cost, J^C and the limit's distance in thousandths: the same problem, so the same policy."""
    _, _, one, metrics = updated(name, m=1, excess=4.0)
    _, _, other, metrics_other = updated(name, m=1, excess=4.0, scale=1000.0)
    assert metrics["train/case"] == metrics_other["train/case"] == 1
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-2, atol=2e-4), one.policy, other.policy)


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
