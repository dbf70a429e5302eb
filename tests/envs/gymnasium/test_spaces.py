"""Spaces of Gymnasium as sizes and kinds of ours."""

import numpy as np
import pytest
from gymnasium import spaces

import cuprl
from cuprl.core.actions import Box, Discrete, MultiDiscrete
from cuprl.envs.gymnasium.spaces import action_of, observation_of
from cuprl.errors import UserError
from cuprl.runs.config import RunConfig
from cuprl.training.training import Training
from envs.broken import Sound
from small import SMALL


def test_observations_become_flat():
    space = spaces.Dict(
        {
            "b": spaces.Discrete(3, start=5),
            "a": spaces.Box(0, 255, (2, 2), np.uint8),
            "c": spaces.Tuple((spaces.Box(-1.0, 1.0, (1,)), spaces.MultiBinary(2))),
        }
    )
    size, flat = observation_of(space, "x")
    obs = {"a": np.array([[1, 2], [3, 4]], np.uint8), "b": 6, "c": (np.array([0.5], np.float32), np.array([1, 0]))}
    assert size == 10 and flat(obs).tolist() == [1, 2, 3, 4, 0, 1, 0, 0.5, 1, 0]
    with pytest.raises(UserError, match="does not fit its space"):
        flat({**obs, "a": np.zeros(3)})


@pytest.mark.parametrize(
    ("space", "ours", "policys", "environments"),
    [
        (
            spaces.Box(np.array([[-1, 0]], np.float32), np.array([[1, 2]], np.float32)),
            Box(2, (-1, 0), (1, 2)),
            [5.0, -0.5],
            [[1, 0]],
        ),
        (spaces.Box(-np.inf, np.inf, (1,)), Box(1, (-np.inf,), (np.inf,)), [-99.0], [-99]),
        (spaces.Discrete(4, start=-1), Discrete(4), 0, -1),
        (spaces.MultiDiscrete([[2, 3]], start=[[1, 0]]), MultiDiscrete((2, 3)), [1, 2], [[2, 2]]),
        (spaces.MultiBinary(2), MultiDiscrete((2, 2)), [0, 1], [0, 1]),
    ],
)
def test_actions(space, ours, policys, environments):
    spec, convert = action_of(space, "x")
    action = convert(np.array(policys))
    assert spec == ours and np.array_equal(action, environments) and space.contains(action)


def test_several_choices_at_once_are_learnt():
    class Choices(Sound):
        action_space = spaces.MultiDiscrete([3, 2])

        def step(self, action):
            obs, _, *rest = super().step(0)
            return obs, float(action[0] == 2) + float(action[1] == 1), *rest

    config = RunConfig("x", "ppo", settings={**SMALL, "policy_lr": 0.02})
    training = Training(config, cuprl.from_gymnasium(Choices, limits=1e3))
    returns = [training.iterate()["rollout/ep_rew_mean"] for _ in range(10)]
    assert returns[0] < 22 and returns[-1] > returns[0] + 3, returns
