"""PPO: its loss against plain NumPy and finite differences."""

import jax
import numpy as np
import pytest

from algorithms.first_order import expect_gradient_of_slopes, problem
from algorithms.plain_policies import KINDS, batch_for, plain_ratio, spec_for
from cuprl.algorithms import ppo


def ppo_loss(policy, params, rows):
    return ppo.clip_loss(policy, params, rows, 0.2)


@pytest.mark.parametrize("kind", KINDS)
def test_clip_loss_row_by_row(kind):
    policy, k, new, batch, rows = problem(kind, size=0.3)
    ratio = plain_ratio(new, k, batch.obs, batch.action)
    assert (ratio > 1.2).any() and (ratio < 0.8).any()  # the clip matters
    total = 0.0
    for r, a in zip(ratio, np.asarray(batch.adv_r, np.float64)):
        total += min(r * a, min(max(r, 0.8), 1.2) * a)
    assert float(ppo_loss(policy, new, rows)) == pytest.approx(-total / len(ratio), rel=1e-4)


def test_ppo_ignores_the_costs():
    spec = spec_for("gaussian")
    config = ppo.Config(hidden=(8,), minibatch=32, epochs=2, critic_epochs=1)
    state = ppo.init(jax.random.PRNGKey(0), config, spec)
    update = jax.jit(ppo.update, static_argnums=(2, 3))
    quiet, loud = (update(state, batch_for(spec, state.policy, excess=x), config, spec)[0] for x in (-1.0, 50.0))
    jax.tree.map(np.testing.assert_array_equal, quiet.policy, loud.policy)
    assert (quiet.multiplier.value == 0).all()


@pytest.mark.parametrize("kind", KINDS)
def test_gradient_against_finite_differences(kind):
    expect_gradient_of_slopes(kind, ppo_loss)
