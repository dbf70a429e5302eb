"""Rollouts against stepping by hand: what is acted on, the true successors, and episodes that go on in the next rollout."""

import numpy as np
import pytest

from cuprl.core.normaliser import Normaliser
from cuprl.learn.policy import policy_for
from cuprl.learn.settings import Common
from cuprl.training.collect import Collector
from probes import Probe

PROBE = Probe("walk", lambda obs, a, t: obs + t, lambda obs, a, t: 2.0 * t, length=3, random_obs=True)
STEPS = 5


@pytest.fixture
def collect():
    """A collector's `collect` and the same environment to step by hand."""
    ours, other = (PROBE.vector_env(2, 1, PROBE.constraints) for _ in range(2))
    policy = policy_for(ours.spec, Common(hidden=(4,)))
    params = {
        "layers": [(np.ones((1, 4), np.float32), np.zeros(4, np.float32)), (np.ones((4, 1), np.float32), 0.0)],
        "log_std": np.zeros(1, np.float32),
    }
    deviation = np.random.default_rng(0).normal(size=(STEPS, 2, 1)).astype(np.float32)
    collector = Collector(ours, STEPS, seed=7)

    def run(normaliser):
        return collector.collect(policy, params, normaliser, deviation, begun=1.5)

    run.collector, run.other, run.act = collector, other, lambda obs, t: policy.act(params, obs, deviation[t], np)
    return run


def test_rollouts_are_what_stepping_by_hand_gives(collect):
    normaliser = Normaliser.identity(1).update(np.array([[-3.0], [5.0]]))
    obs = collect.other.reset(7)
    for _ in range(2):  # the second goes on in the middle of an episode
        got = collect(normaliser)
        assert got.begun == 1.5 and got.fault == ""
        for t in range(STEPS):
            np.testing.assert_array_equal(got.raw_obs[t], obs)
            np.testing.assert_array_equal(got.rollout.obs[t], normaliser.apply(obs))
            action = collect.act(normaliser.apply(obs), t)
            np.testing.assert_array_equal(got.rollout.action[t], action)
            step = collect.other.step(action)
            signal = np.column_stack((step.reward, step.cost)).astype(np.float32)
            np.testing.assert_array_equal(got.rollout.signal[t], signal)
            np.testing.assert_array_equal(got.rollout.next_obs[t], normaliser.apply(step.next_obs))
            np.testing.assert_array_equal(got.rollout.terminated[t], step.terminated)
            np.testing.assert_array_equal(got.rollout.truncated[t], step.truncated)
            obs = step.obs
    np.testing.assert_array_equal(collect.collector.obs, obs)


@pytest.mark.parametrize("look", [2, 3, 6])  # seen on the way, where an episode ends, and what to act on next
def test_a_broken_observation_is_told_wherever_it_is_seen(look, collect):
    env, looks = collect.collector.env, []
    real = env._look

    def broken():
        looks.append(1)
        return real() * (np.inf if len(looks) == look else 1.0)

    env._look = broken
    assert "obs[0] is" in collect(Normaliser.identity(1)).fault


def test_nobody_acts_on_a_broken_observation(collect):
    """The rollout ends there: an action of NaN would go to a robot."""
    env, steps = collect.collector.env, []
    real = env.step

    def step(action):
        steps.append(action)
        answer = real(action)
        return answer._replace(obs=answer.obs * np.nan) if len(steps) == 2 else answer

    env.step = step
    assert collect(Normaliser.identity(1)).fault == "obs[0] is nan"
    assert len(steps) == 2 and np.isfinite(steps).all()
