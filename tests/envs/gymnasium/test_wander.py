"""Random actions: the episodes, costs and faults that they show."""

from contextlib import closing

import numpy as np
from gymnasium import spaces

import cuprl
from cuprl.envs.gymnasium.lane import Lane
from cuprl.envs.gymnasium.wander import wander
from envs.broken import Sound, sound_but


def shown(env):
    with closing(Lane(cuprl.from_gymnasium(env, "info:cost", limits=5.0))) as lane:
        return wander(lane, steps=190, seed=0)


def test_episodes_and_costs_are_counted():
    trial = shown(Sound)
    assert [costs.shape for costs in trial.episodes] == 9 * [(20, 1)]  # the tenth has not ended
    assert np.shape(trial.costs) == (190, 1) and trial.unended == 0 and trial.wrong == {} and trial.seconds > 0.0


def test_a_dict_that_does_not_fit_names_its_part():
    space = spaces.Dict({"a": Sound.observation_space, "b": spaces.Discrete(2)})
    env = sound_but(observation_space=space, obs=lambda self: {"a": np.full(2, np.nan, np.float32), "b": 1})
    assert "'a', entry 0 is nan, the space has -10 to 10" in shown(env).wrong["observation"]
