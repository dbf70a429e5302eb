"""What of a run goes on its page."""

import dataclasses
import json

import numpy as np
import pytest

from cuprl.pages.html import as_json
from cuprl.pages.run_data import command, run_page
from pages.made_up import by_id, seen


def test_a_run_has_its_curves_and_limits():
    page = run_page(seen(limits={"speed": 50.0, "effort": 30.0}))
    panels = by_id(page)
    assert list(panels) == ["return", "cost-0", "cost-1", "multiplier", "promise-0", "promise-1", "kl", "entropy"]
    assert panels["cost-1"]["lines"] == [{"name": "limit 30", "y": 30.0}]
    assert panels["cost-0"]["note"].startswith("discounted by 0.99")
    assert [series["name"] for series in panels["multiplier"]["series"]] == ["nu speed", "nu effort"]
    assert page["grids"]["training"]["steps"][:2] == [100, 200] and len(panels["return"]["series"][0]["y"]) == 200
    assert panels["promise-0"]["series"][0]["y"][0] is None  # nothing was predicted of the first batch
    assert page["cards"][2] == {"name": "cost: effort", "value": "40", "note": "over its limit 30", "good": False}
    json.loads(as_json(page))


def test_an_algorithm_without_a_multiplier_or_predictions():
    run = seen()
    rows = {name: values for name, values in run.rows.items() if "multiplier" not in name and "predicted" not in name}
    assert list(by_id(run_page(dataclasses.replace(run, rows=rows)))) == ["return", "cost-0", "kl", "entropy"]


def test_the_bound_of_nu_is_drawn_where_nu_is_near_it():
    run = seen()
    run.config["settings"]["multiplier_max"] = 50.0
    assert by_id(run_page(run))["multiplier"]["lines"] == []
    run.config["settings"]["multiplier_max"] = 0.8
    assert by_id(run_page(run))["multiplier"]["lines"] == [{"name": "bound 0.8", "y": 0.8}]


@pytest.mark.parametrize(
    "n, training, said",
    [
        (200, False, "finished: iteration 200 of 200, 20,000 steps in 0:20"),
        (50, True, "training: iteration 50 of 200, 5,000 steps in 0:05, about 0:15 left"),
        (50, False, "stopped: iteration 50 of 200, 5,000 steps in 0:05; `cup resume` continues it"),
    ],
)
def test_how_far_a_run_is(n, training, said):
    assert run_page(seen(n=n, training=training))["state"] == said


def test_a_run_before_its_first_iteration():
    page = run_page(dataclasses.replace(seen(), rows={}, training=True))
    assert page["panels"] == page["cards"] == [] and page["state"] == "training: no iteration has ended yet"


def test_unknown_numbers():
    run = seen(
        columns={
            "rollout/ep_cost_mean": np.full(200, np.nan),
            "rollout/ep_rew_mean": np.full(200, np.inf),
            "time/collect": np.full(200, np.nan),
            "train/multiplier": np.full(200, np.nan),
        }
    )
    page = run_page(run)
    assert page["cards"][1]["value"] == "unknown" and page["cards"][1]["good"] is None
    assert set(by_id(page)["return"]["series"][0]["y"]) == {None}


def test_settings_that_differ_say_who_changed_them():
    run = seen()
    run.config["settings"] |= {"alpha": 0.1, "cost_lam": 0.8}
    (table,) = run_page(run)["tables"]
    found = {row[0]: row[1:4] for row in table["rows"]}
    assert found["alpha"] == ["0.1", "0.2", "this run"] and found["cost_lam"] == ["0.8", "0.95", "the preset cup"]
    run.config["algo"] = "python:a_stranger"  # whose module is not imported
    assert ["alpha", "0.1", "-", "this run", ""] in run_page(run)["tables"][0]["rows"]


def test_the_command_without_the_machines_paths():
    assert command(["/home/me/bin/cup", "train", "x y"]) == "cup train 'x y'"
    assert command(["/home/me/cuprl/__main__.py", "train"]) == "cup train"
    assert command(["/home/me/mine.py"]) == "mine.py"
    assert command(None) is command([]) is command([1]) is None
