"""A CMDP is checked when it is built, and what is wrong with it is said in one sentence."""

import numpy as np
import pytest

from cuprl.errors import UserError
from cuprl.theory import CMDP, evaluate


def parts(**changes):
    """Two states, two actions, one cost; any part can be replaced."""
    good = {
        "transition": [[[0.5, 0.5], [1, 0]], [[0, 1], [0.25, 0.75]]],
        "reward": [[1, 0], [0, 2]],
        "costs": [[[0, 1], [1, 0]]],
        "limits": [3.0],
        "initial": [1, 0],
        "gamma": 0.9,
    }
    return {**good, **changes}


BAD = {
    "row does not sum to 1": ({"transition": [[[0.5, 0.4], [1, 0]], [[0, 1], [1, 0]]]}, "transition[0, 0] sums to 0.9"),
    "negative probability": ({"transition": [[[1.5, -0.5], [1, 0]], [[0, 1], [1, 0]]]}, "negative probability -0.5"),
    "transition is not [S, A, S]": ({"transition": [[0.5, 0.5], [1, 0]]}, "accepted is [S, A, S]"),
    "discount 1": ({"gamma": 1.0}, "gamma is 1; accepted is 0 <= gamma < 1"),
    "discount below 0": ({"gamma": -0.1}, "gamma is -0.1"),
    "discount NaN": ({"gamma": float("nan")}, "gamma[] is nan"),
    "reward NaN": ({"reward": [[1, 0], [np.nan, 2]]}, "reward[1, 0] is nan"),
    "reward of another shape": ({"reward": [1, 0]}, "reward has shape [2]; accepted is [2, 2] or [2, 2, 2]"),
    "infinite cost": ({"costs": [[[0, np.inf], [1, 0]]]}, "costs[0, 0, 1] is inf"),
    "two limits for one cost": ({"limits": [1.0, 2.0]}, "limits has shape [2]; accepted is [1]"),
    "limit NaN": ({"limits": [np.nan]}, "limits[0] is nan"),
    "initial does not sum to 1": ({"initial": [0.5, 0.2]}, "initial sums to 0.7"),
    "initial for three states": ({"initial": [0.5, 0.2, 0.3]}, "initial has shape [3]; accepted is [2]"),
    "not numbers": ({"reward": [["much", 0], [0, 2]]}, "reward is not an array of numbers"),
    "too few names": ({"state_names": ("home",)}, "state_names holds 1 names for 2 states"),
}


@pytest.mark.parametrize(("changes", "sentence"), BAD.values(), ids=BAD.keys())
def test_bad_input_is_refused_in_a_clear_sentence(changes, sentence):
    with pytest.raises(UserError) as error:
        CMDP(**parts(**changes))
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)


def test_rewards_and_costs_may_depend_on_the_next_state():
    plain = CMDP(**parts())
    reward = np.zeros((2, 2, 2))
    reward[0, 0] = [2, 0]  # reached with probability 1/2: 1 on average, as in parts()
    reward[1, 1] = [2, 2]
    same_mean = CMDP(**parts(reward=reward))
    assert plain.reward.shape == (2, 2, 2)
    np.testing.assert_allclose(same_mean.mean_reward, plain.mean_reward)


def test_one_cost_needs_no_axis_of_its_own():
    cmdp = CMDP(**parts(costs=[[0, 1], [1, 0]], limits=3.0))
    assert (cmdp.n_costs, cmdp.limits.tolist(), cmdp.cost_names) == (1, [3.0], ("cost 0",))


def test_a_cmdp_cannot_be_changed_by_accident():
    given = np.array([1.0, 0.0])
    cmdp = CMDP(**parts(initial=given))
    with pytest.raises(ValueError):
        cmdp.initial[0] = 0.5
    given[0] = 7
    assert cmdp.initial[0] == 1


@pytest.mark.parametrize(
    ("policy", "sentence"),
    [
        ([[0.5, 0.4], [1, 0]], "policy[0] sums to 0.9"),
        ([[1, 0]], "policy has shape [1, 2]"),
        ([[2, -1], [1, 0]], "negative"),
    ],
)
def test_a_bad_policy_is_refused(policy, sentence):
    with pytest.raises(UserError) as error:
        evaluate(CMDP(**parts()), policy)
    assert sentence in str(error.value)
