"""Random actions: the episodes, costs and faults that they show."""

from contextlib import closing

import numpy as np
import pytest
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


NOTHING = spaces.Box(0.0, 1.0, (), np.float32)
NO_NUMBERS = "it is no array of numbers; let it be one of float32 with the shape"


@pytest.mark.parametrize(
    ("space", "obs", "words"),
    [
        (Sound.observation_space, [[0.1], [0.1, 0.2]], f"{NO_NUMBERS} (2,)"),
        (Sound.observation_space, [None, 0.5], "entry 0 is nan"),
        (Sound.observation_space, [{}, 0.5], NO_NUMBERS),
        (Sound.observation_space, [10**400, 0.5], NO_NUMBERS),
        (NOTHING, "far", f"{NO_NUMBERS} ()"),
        (spaces.MultiBinary(2), [[0], [0, 1]], "is not in MultiBinary(2)"),
        (spaces.Dict({"a": spaces.MultiBinary(2)}), {"a": [[0], [0, 1]]}, "'a', [[0], [0, 1]] is not in"),
        (spaces.Dict({"a": NOTHING}), {1: 0.5}, "it has the keys 1, the space a"),
    ],
)
def test_what_is_no_array_of_numbers_gets_a_sentence(space, obs, words):
    wrong = shown(sound_but(observation_space=space, obs=lambda self: obs)).wrong["observation"]
    assert wrong.startswith("reset gives an observation outside its space: ") and words in wrong


@pytest.mark.parametrize(("part", "words"), [("reward", "gave the reward"), ("obs", "gave an observation")])
def test_a_number_too_large_for_a_float_gets_a_sentence(part, words):
    assert words in shown(sound_but(**{part: lambda self: 10**400})).wrong["step"]
