"""What an environment or a cost gives is checked, and what will not do is said before training."""

import numpy as np
import pytest
from gymnasium import spaces

import cuprl
from cuprl.envs import make
from cuprl.errors import UserError
from envs.broken import Sound, sound_but


def nan_cost(obs, action, next_obs, info):
    return float("nan")


@pytest.mark.parametrize(
    ("env", "costs", "words"),
    [
        (sound_but(observation_space=spaces.Text(3)), "info:cost", "observations in Text.*TransformObservation"),
        (sound_but(observation_space=spaces.Sequence(spaces.Discrete(2))), "info:cost", "observations in Sequence"),
        (sound_but(action_space=spaces.Tuple(())), "info:cost", "actions in Tuple.*TransformAction"),
        (sound_but(action_space=spaces.Box(0, 5, (1,), np.int64)), "info:cost", "a Box of real numbers"),
        (sound_but(step=lambda self, a: (0, 1.0, False, {})), "info:cost", "gave 4 values; it must give"),
        (sound_but(reset=lambda self, seed: 0), "info:cost", "must give .obs, info."),
        (sound_but(reward=lambda self: None), "info:cost", "gave the reward None"),
        (sound_but(reward=lambda self: 1 / 0), "info:cost", "step of .* raised ZeroDivisionError.*line"),
        (
            sound_but(step=lambda self, a: (self.obs(), 0.0, np.zeros(2, bool), False, {})),
            "info:cost",
            r"gave terminated array\(\[False, False\]\) and truncated False; each must be one truth value",
        ),
        (sound_but(), {"c": lambda o, a, n, i: n.fill(0.0)}, "cost 'c' raised ValueError: .*read-only .test_parts.py, line"),
        (sound_but(reset=lambda self: 0), "info:cost", r"raised TypeError.*it is called with \(seed=NUMBER\)\.$"),
        (lambda: 3, "info:cost", "which has no reset"),
        (Sound, {"c": lambda o, a: 0}, r"cost 'c' raised TypeError.*; it is called with \(obs, action, next_obs, info\)\.$"),
        (Sound, "info:crash", "cost info:crash is missing: info has 'cost'"),
        (Sound, {"c": nan_cost}, "cost 'c' is nan"),
        (Sound, {"c": lambda o, a, n, i: n}, r"cost 'c' is an array of shape \(2,\)"),
        (Sound, {"c": lambda o, a, n, i: None}, "cost 'c' is None"),
        (Sound, {"c": lambda o, a, n, i: i["no"]}, "cost 'c' raised KeyError: 'no' .test_parts.py, line"),
    ],
)
def test_what_will_not_do_is_told_before_training(env, costs, words):
    with pytest.raises(UserError, match=words):
        make(cuprl.from_gymnasium(env, costs, 5.0))
