"""CUP's two losses against plain NumPy statements of Algorithm 1, their gradients and their traps."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from algorithms.first_order import expect_gradient_of_slopes, problem
from algorithms.plain_policies import KINDS, nearby, plain_dist, plain_kl, plain_ratio, spec_for
from cuprl.algorithms import cup
from cuprl.learn import surrogate
from cuprl.learn.gaussian import Normal
from cuprl.learn.policy import policy_for
from cuprl.learn.settings import Common

WEIGHT = np.array([0.7, 1.3])  # nu of each cost, with what scales it


def with_half(policy, rows, half):
    return rows._replace(dist_half=policy.dist(half, rows.obs))


def projection_loss(policy, params, rows, **settings):
    return cup.projection_loss(policy, params, rows, jnp.array(WEIGHT, jnp.float32), cup.Config(**settings))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("improvement_kl", ["k-new", "new-k"])
def test_improvement_loss_is_algorithm_1(kind, improvement_kl):
    policy, k, new, batch, rows = problem(kind)
    ratio, adv = plain_ratio(new, k, batch.obs, batch.action), np.asarray(batch.adv_r)
    pair = [plain_dist(params, batch.obs) for params in (k, new)]
    penalty = 0.2 * np.sqrt(plain_kl(*(pair if improvement_kl == "k-new" else pair[::-1])).mean())
    clipped = np.minimum(ratio * adv, np.clip(ratio, 0.8, 1.2) * adv).mean()
    expected = {"sqrt-kl": penalty - (ratio * adv).mean(), "clip": -clipped, "both": penalty - clipped}
    for improvement, value in expected.items():
        config = cup.Config(improvement=improvement, improvement_kl=improvement_kl)
        assert float(cup.improvement_loss(policy, new, rows, config)) == pytest.approx(value, rel=1e-3, abs=1e-5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("projection_kl", ["half-new", "new-half"])
def test_projection_loss_is_algorithm_1(kind, projection_kl):
    policy, k, half, batch, rows = problem(kind)
    new = nearby(k, 2)
    ratio = plain_ratio(new, k, batch.obs, batch.action)  # against pi_k, not pi_half
    pair = [plain_dist(params, batch.obs) for params in (half, new)]
    kl = plain_kl(*(pair if projection_kl == "half-new" else pair[::-1]))
    cost = np.asarray(batch.adv_c) @ WEIGHT
    pessimistic = np.maximum(ratio * cost, np.clip(ratio, 0.8, 1.2) * cost)  # gains nothing beyond the clip
    for name, part in (("ratio", ratio * cost), ("clip", pessimistic)):
        got = projection_loss(
            policy, new, with_half(policy, rows, half), projection_kl=projection_kl, projection_surrogate=name
        )
        assert float(got) == pytest.approx((kl + part).mean(), rel=1e-3, abs=1e-5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("which", ["improvement", "projection"])
def test_gradients_against_finite_differences(kind, which):
    def loss(policy, params, rows):
        if which == "improvement":
            return cup.improvement_loss(policy, params, rows, cup.Config())
        return projection_loss(policy, params, rows._replace(dist_half=rows.dist_k))

    expect_gradient_of_slopes(kind, loss)


def test_sqrt_kl_has_a_finite_value_and_slope_where_rounding_makes_it_zero_or_negative():
    for kl in (0.0, -1e-7, 1e-30):
        value, slope = jax.value_and_grad(surrogate.sqrt_kl)(kl)
        assert np.isfinite(value) and np.isfinite(slope)
    assert float(surrogate.sqrt_kl(0.04)) == pytest.approx(0.2, rel=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_step_from_pi_k_itself_is_finite(kind):
    """KL(pi_k, pi_k) = 0, where sqrt has an infinite slope: the trap that turns a naive CUP into NaN."""
    policy, k, _, _, rows = problem(kind)
    gradient = jax.grad(lambda p: cup.improvement_loss(policy, p, rows, cup.Config()))(k)
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(gradient))


def test_the_printed_kl_inflates_the_noise_and_the_other_does_not():
    """For a mean shifted by d, KL(k, new) is least at std sqrt(s² + d²), KL(new, k) at s: docs/why-cup.md."""
    s, d = 0.6, 0.3
    policy, stds = policy_for(spec_for("gaussian"), Common(hidden=(8,))), np.linspace(0.3, 1.2, 901)
    at = jax.vmap(lambda log_std: Normal(jnp.array([d, d]), jnp.full(2, log_std)))(jnp.log(stds))
    k = Normal(jnp.zeros(2), jnp.full(2, jnp.log(s)))
    assert stds[np.argmin(policy.kl(k, at))] == pytest.approx(np.hypot(s, d), abs=2e-3)
    assert stds[np.argmin(policy.kl(at, k))] == pytest.approx(s, abs=2e-3)
