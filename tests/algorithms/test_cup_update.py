"""CUP's update: what it does to nu, the projection, the belief and the promise of J^C."""

import jax
import numpy as np
import pytest

from algorithms.plain_policies import KINDS, batch_for, spec_for
from cuprl import algorithms
from cuprl.algorithms import cup

update = jax.jit(cup.update, static_argnums=(2, 3))


def settings(**changes):
    return cup.Config(hidden=(8,), minibatch=16, **changes)


def begin(config, kind="gaussian"):
    spec = spec_for(kind, horizon=10)
    return cup.init(jax.random.PRNGKey(0), config, spec), spec


def updated(config, excess, kind="gaussian"):
    """The update of a fresh state by a batch whose costs are so far over their limits: (state, batch, new, metrics)."""
    state, spec = begin(config, kind)
    batch = batch_for(spec, state.policy, excess=excess)
    return state, batch, *update(state, batch, config, spec)


@pytest.mark.parametrize("kind", KINDS)
def test_update_moves_each_multiplier_by_its_own_excess(kind):
    _, batch, new, metrics = updated(settings(), [5.0, -1.0], kind)
    np.testing.assert_allclose(new.multiplier.value, [0.05, 0.0], rtol=1e-5)
    np.testing.assert_allclose(metrics["train/multiplier"], new.multiplier.value)
    assert 1 <= metrics["train/epochs_improvement"] <= 10 and 1 <= metrics["train/epochs_projection"] <= 10
    assert metrics["train/surrogate_return_half"] > batch.adv_r.mean()  # the improvement improved its surrogate


def test_projection_lowers_the_cost_surrogate_and_leaves_a_policy_within_limits_alone():
    *_, over = updated(settings(multiplier_init=1.0), [5.0, 3.0])
    assert (over["train/surrogate_cost"] < over["train/surrogate_cost_half"]).all()
    *_, safe = updated(settings(), [-1.0, -2.0])
    assert (safe["train/multiplier"] == 0).all()
    assert safe["train/kl_projection"] < 0.05 * safe["train/kl_improvement"]


def test_the_weight_of_the_cost_is_one_over_one_minus_gamma_tilde_of_each_cost(monkeypatch):
    seen = []
    real = cup.projection_loss

    def loss(policy, params, rows, weight, config):
        jax.debug.callback(seen.append, weight)
        return real(policy, params, rows, weight, config)

    monkeypatch.setattr(cup, "projection_loss", loss)
    updated(settings(multiplier_init=1.0, epochs=1, projection_epochs=1), 0.0)
    jax.effects_barrier()
    expected = [(1 - 0.99 * 0.95) / (1 - 0.99), (1 - 0.9 * 0.95) / (1 - 0.9)]
    np.testing.assert_allclose(seen[0], expected, rtol=1e-4)


@pytest.mark.parametrize("beta", [0.0, 0.5])
def test_nu_is_found_while_projecting(beta):
    """Over the limit it rises in the very projection that needs it; far under it stays 0 and nothing is projected."""
    config = settings(multiplier="projection", multiplier_lr=1.0, beta=beta, projection_delta=np.inf)
    *_, new, over = updated(config, [10.0, -99.0])
    assert new.multiplier.value[0] > 0 and new.multiplier.value[1] == 0
    assert over["train/surrogate_cost"][0] < over["train/surrogate_cost_half"][0]
    *_, under = updated(config, [-99.0, -99.0])
    assert (under["train/multiplier"] == 0).all() and under["train/kl_projection"] < 0.05 * under["train/kl_improvement"]


def test_nu_cannot_wind_up():
    """After fifty iterations far over the limit, a few under it bring nu back to 0."""
    config = settings(multiplier="projection", multiplier_lr=1.0, multiplier_max=2.0, epochs=1, projection_epochs=2)
    state, spec = begin(config)
    far_over, far_under = (batch_for(spec, state.policy, excess=excess) for excess in (200.0, -99.0))
    for _ in range(50):
        state, _ = update(state, far_over, config, spec)
    assert (state.multiplier.value == 2.0).all()
    for _ in range(3):
        state, _ = update(state, far_under, config, spec)
    assert (state.multiplier.value == 0.0).all()


def test_what_is_within_the_safe_set_is_its_own_projection():
    within, over = (updated(settings(multiplier="projection"), excess)[-1] for excess in (-1.0, 9.0))
    assert within["train/epochs_projection"] == 0 < over["train/epochs_projection"]
    assert within["train/approx_kl"] == within["train/kl_improvement"] and within["train/kl_projection"] < 1e-9


def test_the_predicted_cost_is_j_c_plus_what_the_surrogate_promises():
    _, batch, _, metrics = updated(settings(), [5.0, -1.0])
    standardised = np.asarray(metrics["train/surrogate_cost"])
    promised = (np.asarray(metrics["train/predicted_cost"]) - [6.0, 1.0]) / np.asarray(batch.cost_span)
    np.testing.assert_allclose(promised, standardised * np.asarray(batch.adv_c).std(axis=0), rtol=0.02)
    assert (np.abs(promised) > 1e-3).all()


def test_a_belief_is_kept_only_where_it_is_asked_for():
    assert begin(settings())[0].belief is None
    *_, new, metrics = updated(settings(cost_memory=10.0, multiplier="projection"), [5.0, -1.0])
    np.testing.assert_allclose(new.belief.level, [6.0, 1.0])
    np.testing.assert_allclose(metrics["train/believed_cost"], [6.0, 1.0])


def test_an_update_is_compiled_once():
    """The state that comes out has the types of the one that went in: else the second iteration would compile again."""
    state, _, new, _ = updated(algorithms.load("cup", {"hidden": (8,), "minibatch": 16})[1], [5.0, -1.0])
    before, after = ([(x.shape, x.dtype, x.weak_type) for x in jax.tree.leaves(s)] for s in (state, new))
    assert before == after
