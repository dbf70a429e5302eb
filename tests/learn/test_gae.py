"""GAE against a slow loop that follows its definition."""

import jax.numpy as jnp
import numpy as np
import pytest

from cuprl.learn.gae import gae


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
