"""Promises beside the truth: a run whose truth is made up here, and one on a problem that can be computed."""

import itertools

import numpy as np
import pytest

from cuprl.experiments.report.exact_promises import judge
from cuprl.experiments.report.optimum import train_once


def rows_of(costs, share, off=0.0, belief=False):
    """Make rows whose surrogate promised a change of which `share` came, and whose prediction is short of it by `off`."""
    rows = []
    for before, after in itertools.pairwise(costs):
        promised = (after - before) / share
        row = {"train/cost_return": before}
        if belief:
            row |= {"train/believed_cost": before + 1.0, "train/promises_kept": share, "train/cost_drift": -1.0 - off}
            promised *= share
        rows.append({**row, "train/predicted_cost": before + promised - (off if belief else 0.0)})
    return rows


@pytest.mark.parametrize("belief", [False, True])
def test_a_share_of_what_was_promised_came(belief):
    costs = np.random.default_rng(0).normal(20.0, 3.0, size=101)
    found = judge(rows_of(costs, 0.5, off=2.0, belief=belief), costs[:, None], {"cost": 10.0})
    assert found.kept == pytest.approx(0.5)
    assert found.noise == 0.0
    if belief:
        assert found.bias == pytest.approx(0.2) and found.error == pytest.approx(0.2)


def test_the_worst_of_two_constraints_is_told():
    costs = np.random.default_rng(0).normal(20.0, 3.0, size=(101, 2))
    pairs = zip(rows_of(costs[:, 0], 1.0), rows_of(costs[:, 1], 0.2))
    rows = [{f"{key}/{name}": value for name, row in zip("ab", pair) for key, value in row.items()} for pair in pairs]
    assert judge(rows, costs, {"a": 10.0, "b": 10.0}).kept == pytest.approx(0.2)


def test_an_algorithm_that_predicts_nothing_is_not_judged():
    assert judge([{"train/cost_return": 1.0}] * 20, np.ones((21, 1)), {"cost": 1.0}) is None


def test_the_surrogate_of_cup_is_true_to_the_exact_cost():
    """On a random problem, 10 iterations: the change of the exact J^C is what was promised, within the noise."""
    promises = train_once("random", "cup", seed=0, steps=50_000).promises
    assert 0.6 < promises.kept < 1.4
    assert abs(promises.bias) < 0.1
