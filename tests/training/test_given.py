"""What an agent is told: the shapes it is brought to; what is refused is in test_agent.py, by the calls that get it."""

import numpy as np
import pytest

from cuprl.errors import UserError
from cuprl.training import given


@pytest.mark.parametrize("value", [3.0, [3.0], [[3.0]], np.array(3, np.int32)])
def test_of_one_robot_its_axis_may_be_left_out(value):
    np.testing.assert_array_equal(given.numbers(value, "reward", (1,)), [3.0])


def test_of_several_robots_every_number_is_asked_for():
    np.testing.assert_array_equal(given.observation([[1, 2, 3], [4, 5, 6]], "obs", 2, 3), [[1, 2, 3], [4, 5, 6]])
    with pytest.raises(UserError, match=r"obs has the shape \[3\]; give numbers of the shape \[2, 3\]"):
        given.observation([1, 2, 3], "obs", 2, 3)


@pytest.mark.parametrize("cost", [[[1, 2], [3, 4]], {"force": [2, 4], "heat": [1, 3]}])
def test_costs_come_in_the_order_of_the_constraints(cost):
    np.testing.assert_array_equal(given.costs(cost, 2, ("heat", "force")), [[1, 2], [3, 4]])
