"""Columns of constraints."""

import numpy as np
import pytest

from cuprl import algorithms
from cuprl.runs.columns import column, held_cost, needed, one_column_each


def test_one_constraint_has_the_plain_name_and_several_have_theirs():
    assert column("train/multiplier", "speed", ["speed"]) == "train/multiplier"
    assert column("train/multiplier", "speed", ["speed", "effort"]) == "train/multiplier/speed"


def test_values_of_constraints_are_spread_over_their_columns():
    row = {"steps": np.int64(200), "train/multiplier": np.array([0.5, 2.0], np.float32)}
    spread = one_column_each(row, ["speed", "effort"])
    assert spread == {"steps": 200, "train/multiplier/speed": 0.5, "train/multiplier/effort": 2.0}
    assert [type(value) for value in spread.values()] == [int, float, float]
    assert one_column_each({"nu": np.array([3.0])}, ["speed"]) == {"nu": 3.0}


def test_what_pictures_need_is_there_for_each_cost():
    assert "rollout/ep_cost_mean/effort" in needed(["speed", "effort"]) and "rollout/ep_cost_mean" in needed(["speed"])


@pytest.mark.parametrize(
    "algo, changes, held",
    [
        ("cup", {}, "rollout/ep_cost_mean"),
        ("cup", {"cost_return": "undiscounted"}, "rollout/ep_cost_undiscounted_mean"),
        ("cup-omnisafe", {}, "rollout/ep_cost_undiscounted_mean"),
        ("cup-safepo", {}, "rollout/ep_cost_undiscounted_mean"),
        ("cup-safepo", {"cost_return": "discounted"}, "rollout/ep_cost_mean"),
    ],
)
def test_the_cost_that_is_held_to_the_limit_is_as_the_algorithm_has_it(algo, changes, held):
    assert held_cost(vars(algorithms.load(algo, changes)[1])) == held
    assert held_cost({}) == "rollout/ep_cost_mean"  # a run from before there was a choice
