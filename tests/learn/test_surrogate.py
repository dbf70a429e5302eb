"""What the policy losses share, against plain NumPy."""

import jax
import numpy as np
import pytest

from algorithms.first_order import problem
from algorithms.plain_policies import KINDS, plain_dist, plain_kl, plain_ratio
from cuprl.learn.surrogate import (
    clipped_surrogate,
    cost_change,
    cost_unit,
    ratio_to_k,
    report,
    scaled_cost_advantage,
    surrogates,
)


@pytest.mark.parametrize("kind", KINDS)
def test_ratio_and_surrogates(kind):
    policy, k, new, batch, rows = problem(kind)
    ratio = plain_ratio(new, k, batch.obs, batch.action)
    np.testing.assert_allclose(ratio_to_k(policy, policy.dist(new, rows.obs), rows), ratio, rtol=1e-4)
    np.testing.assert_allclose(ratio_to_k(policy, policy.dist(k, rows.obs), rows), 1.0, rtol=1e-5)
    reward, cost = surrogates(policy, new, rows)
    np.testing.assert_allclose(reward, (ratio * np.asarray(batch.adv_r)).mean(), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(cost, (ratio[:, None] * np.asarray(batch.adv_c)).mean(axis=0), rtol=1e-4, atol=1e-5)


def test_a_clip_takes_gains_away_and_leaves_losses():
    ratio, advantage = np.array([0.5, 0.5, 1.1, 2.0, 2.0]), np.array([1.0, -1.0, 3.0, 1.0, -1.0])
    np.testing.assert_allclose(clipped_surrogate(ratio, advantage, 0.2), [0.5, -0.8, 3.3, 1.2, -2.0], rtol=1e-6)


def test_the_promised_change_of_cost_is_in_the_units_of_j_c():
    policy, k, new, batch, rows = problem("gaussian")
    ratio, adv_c = plain_ratio(new, k, batch.obs, batch.action), np.asarray(batch.adv_c, np.float64)
    promised = np.asarray(batch.cost_span) * ((ratio - 1) @ adv_c) / len(ratio)
    np.testing.assert_allclose(cost_change(policy, new, rows, batch), promised, rtol=1e-3)
    np.testing.assert_array_equal(cost_change(policy, k, rows, batch), 0.0)
    standard = (ratio - 1) @ ((adv_c - adv_c.mean(axis=0)) / (adv_c.std(axis=0) + 1e-6)) / len(ratio)
    centred = promised - np.asarray(batch.cost_span) * (ratio - 1).mean() * adv_c.mean(axis=0)
    np.testing.assert_allclose(cost_unit(batch) * standard, centred, rtol=1e-3)


@pytest.mark.parametrize("scale, mean, std", [("raw", 5.0, 2.0), ("centre", 0.0, 2.0), ("standardise", 0.0, 1.0)])
def test_the_scale_of_the_cost_advantage(scale, mean, std):
    x = np.random.default_rng(0).normal(size=(500, 2))
    x = ((x - x.mean(axis=0)) / x.std(axis=0) * 2.0 + 5.0).astype(np.float32)
    scaled = np.asarray(scaled_cost_advantage(x, scale))
    np.testing.assert_allclose(scaled.mean(axis=0), mean, atol=1e-4)
    np.testing.assert_allclose(scaled.std(axis=0), std, rtol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_what_every_algorithm_reports(kind):
    policy, k, new, batch, rows = problem(kind)
    told = report(policy, new, rows, batch)
    kl = plain_kl(plain_dist(k, batch.obs), plain_dist(new, batch.obs))
    assert float(told["train/approx_kl"]) == pytest.approx(kl.mean(), rel=1e-3)
    assert float(told["train/entropy"]) == pytest.approx(float(policy.entropy(policy.dist(new, batch.obs)).mean()))
    np.testing.assert_allclose(told["train/predicted_cost"], batch.cost_return + cost_change(policy, new, rows, batch))
    assert jax.tree.all(jax.tree.map(lambda x: np.isfinite(x).all(), told))
