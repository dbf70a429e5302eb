"""GAE and J^C against slow loops that follow the definitions."""

import jax.numpy as jnp
import numpy as np
import pytest

from cuprl.core.spec import Box, Constraint, Spec
from cuprl.learn.cost_return import EpisodeCosts
from cuprl.learn.critics import init_critics, values
from cuprl.learn.estimate import estimate
from cuprl.learn.gae import gae
from cuprl.learn.settings import Common
from cuprl.learn.types import Rollout


def slow_gae(signal, value, next_value, terminated, done, gamma, lam):
    """A_t = sum_l (gamma lambda)^l delta_{t+l} up to the end of the episode or of the data."""
    steps, envs, k = signal.shape
    advantage = np.zeros_like(signal)
    for n in range(envs):
        for i in range(k):
            for t in range(steps):
                weight = 1.0
                for later in range(t, steps):
                    future = 0.0 if terminated[later, n] else gamma[i] * next_value[later, n, i]
                    advantage[t, n, i] += weight * (signal[later, n, i] + future - value[later, n, i])
                    weight *= gamma[i] * lam[i]
                    if done[later, n]:
                        break
    return advantage


def random_rollout(seed=0, steps=23, envs=3, k=3):
    rng = np.random.default_rng(seed)
    signal, value, next_value = rng.normal(size=(3, steps, envs, k))
    terminated = rng.random((steps, envs)) < 0.1
    truncated = (rng.random((steps, envs)) < 0.1) & ~terminated
    return signal, value, next_value, terminated, truncated


def test_gae_against_the_definition():
    signal, value, next_value, terminated, truncated = random_rollout()
    gamma, lam = np.array([0.99, 0.9, 0.5]), np.array([0.95, 0.0, 1.0])
    done = terminated | truncated
    assert terminated.any() and truncated.any()
    ended = np.repeat(terminated[..., None], 3, axis=-1).astype(float)
    advantage, target = gae(signal, value, next_value, ended, done.astype(float), jnp.array(gamma), jnp.array(lam))
    np.testing.assert_allclose(
        advantage, slow_gae(signal, value, next_value, terminated, done, gamma, lam), rtol=1e-4, atol=1e-5
    )
    np.testing.assert_allclose(target, advantage + value, rtol=1e-6)


def test_a_time_limit_is_bootstrapped_and_a_termination_is_not():
    one, zero = jnp.ones((1, 1, 1)), jnp.zeros((1, 1, 1))
    gamma = lam = jnp.array([0.9])
    cut, _ = gae(zero, zero, 10 * one, zero, jnp.ones((1, 1)), gamma, lam)
    end, _ = gae(zero, zero, 10 * one, one, jnp.ones((1, 1)), gamma, lam)
    assert cut.item() == pytest.approx(9.0) and end.item() == 0.0


SPEC = Spec("x", 2, Box(1, (-1.0,), (1.0,)), (Constraint("a", 1.0, 0.9), Constraint("b", 1.0, 1.0)), 10)


def make_estimate(cost_return, terminated, truncated, config=Common()):  # noqa: B008
    """cost_return: the mean of the episodes that ended; None: none did"""
    rng = np.random.default_rng(1)
    steps, n = terminated.shape
    critics = init_critics(jnp.array([0, 1], jnp.uint32), 2, (4,), 2)
    obs, next_obs = rng.normal(size=(2, steps, n, 2)).astype(np.float32)
    rollout = Rollout(obs, rng.normal(size=(steps, n, 1)), rng.normal(size=(steps, n, 3)), next_obs, terminated, truncated)
    running = np.array([[3.0, 30.0], [5.0, 50.0]])[:n], np.array([[0.5, 1.0], [0.25, 1.0]])[:n]
    count, mean = (0, [0.0, 0.0]) if cost_return is None else (1, cost_return)
    costs = EpisodeCosts(jnp.array(mean), count, *running, jnp.zeros(n, int))
    batch = estimate(critics, rollout, costs, jnp.array(1.0), config, SPEC)
    return batch, rollout, critics, running


def test_each_cost_has_its_own_discount_and_the_reward_its_own():
    terminated = np.zeros((6, 2))
    batch, rollout, critics, _ = make_estimate([1.0, 2.0], terminated, terminated)
    value, next_value = values(critics, rollout.obs), values(critics, rollout.next_obs)
    gamma = np.array([0.99, 0.9, 0.99])  # a cost with an undiscounted limit is learnt with the reward's discount
    expected = slow_gae(rollout.signal, value, next_value, terminated > 0, terminated > 0, gamma, [0.95] * 3)
    np.testing.assert_allclose(batch.adv_c, expected.reshape(-1, 3)[:, 1:], rtol=1e-4, atol=1e-5)
    reward = expected.reshape(-1, 3)[:, 0]
    np.testing.assert_allclose(batch.adv_r, (reward - reward.mean()) / (reward.std() + 1e-6), rtol=1e-3, atol=1e-5)
    np.testing.assert_array_equal(batch.cost_return, [1.0, 2.0])


def test_without_a_finished_episode_cost_return_is_neither_nan_nor_a_silent_zero():
    nothing = np.zeros((6, 2))
    batch, rollout, critics, (so_far, discount) = make_estimate(None, nothing, nothing)
    future = np.asarray(values(critics, rollout.next_obs[-1]))[:, 1:]
    np.testing.assert_allclose(batch.cost_return, (so_far + discount * future).mean(axis=0), rtol=1e-5)
    assert (np.asarray(batch.cost_return) > 1.0).all()


def test_time_limits_as_terminals_is_a_setting():
    nothing, all_cut = np.zeros((4, 2)), np.ones((4, 2))
    bootstrapped, *_ = make_estimate([0.0, 0.0], nothing, all_cut)
    terminal, rollout, critics, _ = make_estimate([0.0, 0.0], nothing, all_cut, Common(time_limits="terminal"))
    plain = rollout.signal - np.asarray(values(critics, rollout.obs))
    np.testing.assert_allclose(terminal.adv_c, plain.reshape(-1, 3)[:, 1:], rtol=1e-4, atol=1e-5)
    assert not np.allclose(bootstrapped.adv_c, terminal.adv_c)


def test_an_early_end_saves_no_cost_where_costs_bootstrap_over_it():
    nothing, all_end = np.zeros((4, 2)), np.ones((4, 2))
    real, *_ = make_estimate([0.0, 0.0], all_end, nothing)
    saved, rollout, critics, _ = make_estimate([0.0, 0.0], all_end, nothing, Common(cost_ends="bootstrap"))
    value, next_value = (np.asarray(values(critics, obs)) for obs in (rollout.obs, rollout.next_obs))
    gamma = np.array([0.9, 0.99])
    as_cut = rollout.signal[..., 1:] + gamma * next_value[..., 1:] - value[..., 1:]
    np.testing.assert_allclose(saved.adv_c, as_cut.reshape(-1, 2), rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(saved.adv_r, real.adv_r)  # the reward still ends
