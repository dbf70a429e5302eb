"""The rule of a search: the best return within the limits, else the nearest to them."""

import numpy as np

from cuprl.experiments.tuning.score import score_of


def held_to(settings=None, **limits):
    return {"limits": limits, "settings": settings or {}}


def progress(returns, costs, name="rollout/ep_cost_mean"):
    rows = np.arange(1.0, len(returns) + 1)
    return {"iteration": rows, "rollout/ep_rew_mean": np.array(returns, float), name: np.array(costs, float)}


def test_the_best_row_within_the_limit_counts():
    found = score_of(progress([1, 9, 5, 7, np.nan], [1, 11, 10, 9, 0]), held_to(speed=10.0))
    assert (found.value, found.over, found.costs, found.iteration, found.rank) == (7.0, 0.0, (9.0,), 4, 7.0)
    assert score_of(progress([1, 9, 5, 7], [1, 11, 10, 9]), held_to(speed=10.0), 3).value == 5.0
    assert score_of(progress([np.nan], [np.nan]), held_to(speed=10.0)) is None


def test_over_the_limit_the_nearest_wins_and_is_below_all_within():
    near = score_of(progress([9, 1], [12, 11]), held_to(speed=10.0))
    far = score_of(progress([9e9], [13]), held_to(speed=10.0))
    poor = score_of(progress([-1e20], [10]), held_to(speed=10.0))
    assert near.over == 0.1 and near.value == 1.0
    assert far.rank < near.rank < poor.rank
    assert score_of(progress([1], [0.5]), held_to(speed=0.0)).over == 0.5  # a limit of 0 divides nothing


def test_without_a_constraint_the_return_alone_counts():
    found = score_of(progress([1, 9, 5], [0, 0, 0]), held_to())
    assert (found.value, found.over, found.costs, found.rank) == (9.0, 0.0, (), 9.0)


def test_the_worst_of_several_constraints_counts():
    rows = progress([5, 6], [1, 1], "rollout/ep_cost_mean/a") | {"rollout/ep_cost_mean/b": np.array([2.0, 9.0])}
    found = score_of(rows, held_to(a=2.0, b=6.0))
    assert (found.value, found.costs) == (5.0, (1.0, 2.0))
    assert score_of(rows, held_to(a=2.0, b=1.0)).over == 1.0


def test_the_plain_sum_counts_where_it_is_held_to_the_limit():
    rows = progress([5, 6], [90, 90]) | {"rollout/ep_cost_undiscounted_mean": np.array([450.0, 800.0])}
    found = score_of(rows, held_to({"cost_return": "undiscounted"}, speed=300.0))
    assert (found.value, found.over, found.costs) == (5.0, 0.5, (450.0,))
    assert score_of(rows, held_to({"cost_return": "discounted"}, speed=300.0)).over == 0.0
