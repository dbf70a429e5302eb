"""One environment, its episodes, and how it continues exactly."""

import warnings

import numpy as np
import pytest
from gymnasium import spaces

import cuprl
from cuprl.envs import make
from cuprl.runs.config import RunConfig
from cuprl.runs.folder import Run
from cuprl.training.training import Training
from envs.broken import Sound, sound_but
from small import QUIET, SMALL, same_arrays, same_progress


def right(obs, action, next_obs, info):
    return next_obs[0] > 0.0


def test_the_last_observation_is_kept_from_an_environment_that_writes_over_it():
    class Reuses(Sound):
        buffer = np.zeros(2, np.float32)

        def obs(self):
            self.buffer[:] = super().obs()
            return self.buffer

    task = cuprl.from_gymnasium(Reuses, {"moved": lambda o, a, n, i: n[0] - o[0]}, 1.0)
    assert make(task).step(np.array([2])).cost[0, 0] == pytest.approx(0.1)


def test_safety_gymnasiums_six_values_from_a_plain_class():
    class Six:
        observation_space, action_space = spaces.Discrete(3), spaces.Box(-1.0, 1.0, (1,))

        def reset(self, seed=None):
            return 0, {}

        def step(self, action):
            return 2, 1.0, 0.25, False, False, {}

    env = make(cuprl.from_gymnasium(Six, limits=1.0), 2)
    step = env.step(np.zeros((2, 1)))
    assert step.cost.tolist() == [[0.25], [0.25]] and step.obs.tolist() == [[0, 0, 1]] * 2 and env.spec.horizon == 1000


@pytest.mark.parametrize(
    "name",
    [
        "gym:CartPole-v1+cost=x=envs.gymnasium.test_lane:right+limit=9",
        "gym:Pendulum-v1+cost=x=envs.gymnasium.test_lane:right+limit=9",
    ],
)
def test_resumed_equals_uninterrupted(name, tmp_path):
    whole = cuprl.train(name, "ppo", steps=800, out=tmp_path / "whole", checkpoint_every=1, **SMALL, **QUIET)
    config = RunConfig.from_json(whole.config)
    stopped, first = Run.create(tmp_path / "stopped", config), Training(config)
    for _ in range(2):
        stopped.append(first.iterate())
    stopped.save(2, first.arrays())
    resumed = cuprl.resume(stopped.path, **QUIET)
    same_progress(whole, resumed)
    same_arrays(whole.latest()[0], resumed.latest()[0])


def test_an_environment_that_does_not_repeat_is_told_once_a_step_is_taken():
    chance = np.random.default_rng(0)
    task = cuprl.from_gymnasium(sound_but(obs=lambda self: chance.normal(size=2).astype(np.float32)), limits=5.0)
    a, b = make(task), make(task)
    for _ in range(5):
        a.step(np.array([0]))
    b.set_state(a.get_state())
    with pytest.warns(UserWarning, match="does not repeat an episode"):
        b.step(np.array([0]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        b.step(np.array([0]))
