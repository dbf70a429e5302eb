"""What a page warns of, in words."""

import dataclasses

import numpy as np
import pytest

from cuprl.pages import warnings
from pages.made_up import seen


def changed(n, where, value, usual):
    values = np.full(n, usual)
    values[where] = value
    return values


def test_nothing_is_said_of_a_run_in_which_nothing_is_wrong():
    assert warnings.of_run(seen()) == []
    assert warnings.of_run(dataclasses.replace(seen(), rows={}, checkpoint=0)) == []


def test_nu_at_its_bound():
    run = seen(columns={"train/multiplier": changed(200, slice(119, 199), 2.0, 0.5)})
    run.config["settings"]["multiplier_max"] = 2.0
    (said,) = warnings.of_run(run)
    assert said.startswith("nu sat at its bound 2 for 80 iterations (120 to 199): ")
    run.config["settings"]["multiplier_max"] = "inf"  # of an algorithm of one's own it may be anything
    assert warnings.of_run(run) == []


def test_a_bound_that_float32_rounds_and_stretches_too_short_to_tell():
    nu = changed(200, [*range(10, 15), *range(20, 32), *range(50, 70)], float(np.float32(0.2)), 0.1)
    run = seen(columns={"train/multiplier": nu - 1e-9})
    run.config["settings"]["multiplier_max"] = 0.2
    (said,) = warnings.of_run(run)
    assert "0.2 for 32 iterations (21 to 32, 51 to 70)" in said


def test_the_constraint_is_named_where_there_are_several():
    run = seen(limits={"speed": 50.0, "effort": 50.0}, columns={"train/multiplier/effort": np.full(200, 3.0)})
    run.config["settings"]["multiplier_max"] = 3.0
    assert warnings.of_run(run)[0].startswith("nu of effort sat at its bound 3 for 200 iterations (1 to 200)")


def test_over_the_limit_after_the_first_tenth_and_now():
    cost = changed(200, [*range(20), *range(20, 200, 3)], 60.0, 40.0)  # a third of those from 21 on
    assert warnings.of_run(seen(columns={"rollout/ep_cost_mean": cost})) == [
        "cost 'speed' was over its limit in 33% of the iterations after the first tenth."
    ]
    early = changed(200, slice(20), 60.0, 40.0)
    assert warnings.of_run(seen(columns={"rollout/ep_cost_mean": early})) == []
    last = changed(200, -1, 60.0, 40.0)
    assert warnings.of_run(seen(columns={"rollout/ep_cost_mean": last})) == [
        "cost 'speed' is over its limit now: 60, limit 50."
    ]


def test_the_cost_is_the_one_that_the_run_holds_to_its_limit():
    run = seen()
    run.config["settings"]["cost_return"] = "undiscounted"
    assert warnings.of_run(run)[0] == "cost 'speed' is over its limit now: 400, limit 50."


@pytest.mark.parametrize(
    "checkpoint, training, said",
    [
        (200, False, None),
        (188, False, "the last checkpoint is 12 iterations behind: it is of iteration 188, the last row 200."),
        (195, True, None),
        (188, True, "the last checkpoint is 12 iterations behind"),
        (0, False, "there is no checkpoint of"),
    ],
)
def test_a_checkpoint_that_is_behind(checkpoint, training, said):
    found = warnings.of_run(seen(checkpoint=checkpoint, training=training))
    assert found == [] if said is None else found[0].startswith(said)


def test_lost_rows_and_faults_come_first():
    found = warnings.of_run(seen(lost=[range(3, 6), range(9, 10)], faults=["evaluations.csv is damaged."], checkpoint=1))
    assert found[0] == "evaluations.csv is damaged."
    assert found[1].startswith("progress.csv lacks iterations 3 to 5, 9: ")
    assert "checkpoint" in found[2]


def test_costs_that_come_out_higher_than_predicted():
    run = seen(columns={"train/predicted_cost": np.full(200, 35.0)})
    (said,) = warnings.of_run(run)
    assert said.startswith("cost 'speed' came out 5 higher than its update had predicted")
    assert warnings.of_run(seen(columns={"train/predicted_cost": np.full(200, 45.0)})) == []


def test_a_prediction_belongs_to_the_next_row_and_to_none_across_a_gap():
    run = seen(n=3, columns={"train/predicted_cost": np.array([1.0, 2.0, 3.0]), "iteration": np.array([1.0, 2.0, 5.0])})
    promised = warnings.promises(run, "speed")
    assert promised is not None
    predicted, found = promised
    np.testing.assert_array_equal(predicted, [np.nan, 1.0, np.nan])
    assert found is run.rows["train/cost_return"]


def test_a_policy_that_hardly_explores():
    fallen = np.linspace(2.0, -6.0, 200)
    (said,) = warnings.of_run(seen(columns={"train/entropy": fallen}))
    first = 1 + int(np.argmax(fallen < 2 * (np.log(0.05) + 0.5 * np.log(2 * np.pi * np.e))))
    assert said == f"the entropy fell below -3.15 in iteration {first}: the policy hardly tries other actions any more."
    assert warnings.of_run(seen(columns={"train/entropy": fallen[::-1].copy()})) == []  # it was, and is no more


def test_least_entropy_of_each_kind_of_action():
    one = np.log(0.05) + 0.5 * np.log(2 * np.pi * np.e)
    box = {"kind": "Box", "low": [None, -2.0], "high": [None, 2.0]}
    assert warnings.least_entropy(box) == pytest.approx(2 * one + np.log(2))
    assert warnings.least_entropy({"kind": "Discrete", "n": 4}) == pytest.approx(0.05 * np.log(4))
    assert warnings.least_entropy({"kind": "MultiDiscrete", "sizes": [2, 3]}) == pytest.approx(0.05 * np.log(6))
    assert warnings.least_entropy({}) is None  # a run from before the spec was kept
