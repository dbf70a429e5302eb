"""PCPO: its projection, in both metrics."""

import jax.numpy as jnp
import numpy as np
import pytest

from algorithms.second_order import cost_changes, measured_kl, updated
from cuprl.algorithms import pcpo
from cuprl.learn.natural import Directions
from cuprl.learn.trust_region import Local


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
