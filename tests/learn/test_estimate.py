"""From a rollout to a batch: each signal with its own discount, and time limits as a setting says."""

import jax.numpy as jnp
import numpy as np

from cuprl.core.actions import Box
from cuprl.core.spec import Constraint, Spec
from cuprl.learn.cost_return import EpisodeCosts
from cuprl.learn.critics import init_critics, values
from cuprl.learn.estimate import estimate
from cuprl.learn.settings import Common
from cuprl.learn.types import Rollout
from learn.test_gae import slow_gae

SPEC = Spec("x", 2, Box(1, (-1.0,), (1.0,)), (Constraint("a", 1.0, 0.9), Constraint("b", 1.0, 1.0)), 10)


def make_estimate(cost_return, terminated, truncated, config=Common()):  # noqa: B008
    """cost_return: the mean of the episodes that ended; None: none did"""
    rng = np.random.default_rng(1)
    steps, n = terminated.shape
    critics = init_critics(jnp.array([0, 1], jnp.uint32), 2, Common(hidden=(4,)), 2)
    obs, next_obs = rng.normal(size=(2, steps, n, 2)).astype(np.float32)
    rollout = Rollout(obs, rng.normal(size=(steps, n, 1)), rng.normal(size=(steps, n, 3)), next_obs, terminated, truncated)
    running = np.array([[3.0, 30.0], [5.0, 50.0]])[:n], np.array([[0.5, 1.0], [0.25, 1.0]])[:n]
    count, mean = (0, [0.0, 0.0]) if cost_return is None else (1, cost_return)
    costs = EpisodeCosts(jnp.array(mean), count, *running, jnp.zeros(n, int))
    batch = estimate(critics, rollout, costs, jnp.ones(3), SPEC.limits, jnp.array(1.0), config, SPEC)
    return batch, rollout, critics, running


def test_each_cost_has_its_own_discount_and_the_reward_its_own():
    terminated = np.zeros((6, 2))
    batch, rollout, critics, _ = make_estimate([1.0, 2.0], terminated, terminated)
    value, next_value = (values(critics, obs, Common()) for obs in (rollout.obs, rollout.next_obs))
    gamma = np.array([0.99, 0.9, 0.99])  # a cost with an undiscounted limit is learnt with the reward's discount
    expected = slow_gae(rollout.signal, value, next_value, terminated > 0, terminated > 0, gamma, [0.95] * 3)
    np.testing.assert_allclose(batch.adv_c, expected.reshape(-1, 3)[:, 1:], rtol=1e-4, atol=1e-5)
    farther, *_ = make_estimate([1.0, 2.0], terminated, terminated, Common(cost_gamma=0.999))
    gamma[2] = 0.999  # only the one without a discount of its own
    expected = slow_gae(rollout.signal, value, next_value, terminated > 0, terminated > 0, gamma, [0.95] * 3)
    np.testing.assert_allclose(farther.adv_c, expected.reshape(-1, 3)[:, 1:], rtol=1e-4, atol=1e-5)
    reward = expected.reshape(-1, 3)[:, 0]
    np.testing.assert_allclose(batch.adv_r, (reward - reward.mean()) / (reward.std() + 1e-6), rtol=1e-3, atol=1e-5)
    np.testing.assert_array_equal(batch.cost_return, [1.0, 2.0])


def test_without_a_finished_episode_cost_return_is_neither_nan_nor_a_silent_zero():
    nothing = np.zeros((6, 2))
    batch, rollout, critics, (so_far, discount) = make_estimate(None, nothing, nothing)
    future = np.asarray(values(critics, rollout.next_obs[-1], Common()))[:, 1:]
    np.testing.assert_allclose(batch.cost_return, (so_far + discount * future).mean(axis=0), rtol=1e-5)
    assert (np.asarray(batch.cost_return) > 1.0).all()


def test_a_critic_may_count_in_steps_in_place_of_returns():
    """Networks that say as much less as their unit is more: the same advantages, and targets in that unit."""
    nothing = np.zeros((6, 2))
    gamma = np.array([0.99, 0.9, 0.99])
    size = np.array([3.0, 0.1, 1.0])  # of a usual step's reward and costs
    unit = size * (1 - gamma**SPEC.horizon) / (1 - gamma)
    batch, rollout, critics, _ = make_estimate([1.0, 2.0], nothing, nothing)
    for critic, one in zip(critics, unit):
        critic["layers"][-1] = tuple(x / one for x in critic["layers"][-1])
    costs = EpisodeCosts(jnp.array([1.0, 2.0]), 1, jnp.zeros((2, 2)), jnp.ones((2, 2)), jnp.zeros(2, int))
    scaled = estimate(critics, rollout, costs, size, SPEC.limits, jnp.array(1.0), Common(critic_unit="step"), SPEC)
    np.testing.assert_allclose(scaled.adv_r, batch.adv_r, rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(scaled.adv_c, batch.adv_c, rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(scaled.ret * unit, batch.ret, rtol=1e-3, atol=1e-5)


def test_time_limits_as_terminals_is_a_setting():
    nothing, all_cut = np.zeros((4, 2)), np.ones((4, 2))
    bootstrapped, *_ = make_estimate([0.0, 0.0], nothing, all_cut)
    terminal, rollout, critics, _ = make_estimate([0.0, 0.0], nothing, all_cut, Common(time_limits="terminal"))
    plain = rollout.signal - np.asarray(values(critics, rollout.obs, Common()))
    np.testing.assert_allclose(terminal.adv_c, plain.reshape(-1, 3)[:, 1:], rtol=1e-4, atol=1e-5)
    assert not np.allclose(bootstrapped.adv_c, terminal.adv_c)


def test_an_early_end_saves_no_cost_where_costs_bootstrap_over_it():
    nothing, all_end = np.zeros((4, 2)), np.ones((4, 2))
    real, *_ = make_estimate([0.0, 0.0], all_end, nothing)
    saved, rollout, critics, _ = make_estimate([0.0, 0.0], all_end, nothing, Common(cost_ends="bootstrap"))
    value, next_value = (np.asarray(values(critics, obs, Common())) for obs in (rollout.obs, rollout.next_obs))
    gamma = np.array([0.9, 0.99])
    as_cut = rollout.signal[..., 1:] + gamma * next_value[..., 1:] - value[..., 1:]
    np.testing.assert_allclose(saved.adv_c, as_cut.reshape(-1, 2), rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(saved.adv_r, real.adv_r)  # the reward still ends


def test_a_time_limit_that_is_an_end_is_one_for_the_costs_too_where_a_fall_is_none():
    nothing, all_ends = np.zeros((4, 2)), np.ones((4, 2))
    config = Common(time_limits="terminal", cost_ends="bootstrap")
    cut, rollout, critics, _ = make_estimate([0.0, 0.0], nothing, all_ends, config)
    value, next_value = (np.asarray(values(critics, x, Common())) for x in (rollout.obs, rollout.next_obs))
    plain = rollout.signal - value
    np.testing.assert_allclose(cut.adv_c, plain.reshape(-1, 3)[:, 1:], rtol=1e-4, atol=1e-5)
    fallen, *_ = make_estimate([0.0, 0.0], all_ends, nothing, config)
    saved_nothing = plain + np.array([0.99, 0.9, 0.99]) * next_value
    np.testing.assert_allclose(fallen.adv_c, saved_nothing.reshape(-1, 3)[:, 1:], rtol=1e-4, atol=1e-5)
