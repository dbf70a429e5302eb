"""Evaluations on a run's page: two kinds of actions, the limits, the best."""

import numpy as np

from cuprl.pages.evaluation_data import evaluations
from pages.made_up import seen


def made(**columns):
    given = {"iteration": [10, 20, 30], "steps": [1000, 2000, 3000], "mode/return": [1, 3, 2], "mode/cost": [40, 60, 45]}
    return seen(evaluations={name: np.array(values, float) for name, values in {**given, **columns}.items()})


def test_the_best_is_marked_on_the_return_and_on_the_cost():
    returns, cost = evaluations(made())
    assert returns["points"] == [{"name": "best, iteration 30", "x": 3000.0, "y": 2.0}]  # iteration 20 is over its limit
    assert cost["points"] == [{"name": "best, iteration 30", "x": 3000.0, "y": 45.0}]
    assert returns["lines"] == [] and cost["lines"] == [{"name": "limit 50", "y": 50.0}]
    assert [one["name"] for one in returns["series"]] == ["mode"] and returns["section"] == "Evaluations"


def test_none_is_marked_where_none_is_within():
    assert [panel["points"] for panel in evaluations(made(**{"mode/cost": [51, 60, np.nan]}))] == [[], []]


def test_none_is_marked_where_it_has_no_place():
    returns, cost = evaluations(made(steps=[1000, 2000, np.inf]))
    assert returns["points"] == cost["points"] == []


def test_how_many_episodes():
    def said(counts):
        return next(evaluations(made(episodes=counts)))["note"]

    assert said([10, 10, 10]) == "means of 10 episodes"
    assert said([10, 20, 10]) == said([np.nan] * 3) == said([np.inf] * 3) == said([1, 1, 1]) == ""


def test_a_run_without_evaluations_has_none():
    assert list(evaluations(seen())) == []
