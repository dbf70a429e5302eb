"""What of an experiment goes on its page."""

import json

import numpy as np

from cuprl.experiments.grid.cells import Block, Experiment
from cuprl.experiments.grid.expand import expand
from cuprl.experiments.report.drawing import COLOURS
from cuprl.experiments.report.groups import group
from cuprl.pages.experiment_data import experiment_page, places
from cuprl.pages.html import as_json
from experiments.synthetic import made_up as result


def experiment(*blocks):
    cells = expand(Experiment("mine", "", blocks))
    return group(cells, {cell: result(cell) for cell in cells})


def test_an_experiment_has_means_bands_tables_and_statistics():
    groups = experiment(Block(("hopper-speed", "swimmer-speed"), ("cup", "ppo-lag"), (0, 1), 50_000))
    page = experiment_page("mine", groups, "a summary", "1 stale result left out: x")
    titles = [(task, title) for task in ("hopper-speed", "swimmer-speed") for title in ("Return", "Cost: speed")]
    assert [(panel["section"], panel["title"]) for panel in page["panels"]] == titles
    cup = page["panels"][1]["series"][0]
    seeds = groups[0].cost_curves()[:, :, 0]
    np.testing.assert_allclose(cup["y"], seeds.mean(axis=0), rtol=1e-5)
    np.testing.assert_allclose([cup["low"], cup["high"]], [seeds.min(axis=0), seeds.max(axis=0)], rtol=1e-5)
    assert page["panels"][1]["lines"] == [{"name": "limit 82.748", "y": 82.748}]
    assert [entry["name"] for entry in page["legend"]] == ["cup", "ppo-lag"]
    assert page["lead"][0]["breaks"] == [2] and len(page["lead"][0]["rows"]) == 4
    titles_of_tables = ["Statistics", "Time to safe", "Over tasks", "Probability of improvement"]
    assert [table["title"] for table in page["tables"]] == titles_of_tables
    assert page["warnings"] == ["1 stale result left out: x."]
    json.loads(as_json(page))


def test_the_limits_of_a_sweep_are_all_drawn_and_one_seed_has_no_band():
    groups = experiment(Block(("hopper-speed",), ("cup",), (0,), 50_000, sweep=(("limit", ("35", "50")),)))
    page = experiment_page("mine", groups)
    assert [line["y"] for line in page["panels"][1]["lines"]] == [35.0, 50.0]
    assert page["panels"][1]["series"][0]["low"] is None


def test_more_curves_than_colours_are_told_apart_by_dashes():
    found = places(["cup", *(f"cup alpha={i}" for i in range(20))])
    assert found["cup"] == 0 and len(set(found.values())) == 21
    assert max(found.values()) < 3 * len(COLOURS)


def test_plain_sums_are_drawn_where_they_are_held_to_the_limit():
    page = experiment_page("mine", experiment(Block(("hopper-speed",), ("cup", "cup-omnisafe"), (0,), 50_000)))
    panel = page["panels"][1]
    ours, theirs = (series["y"][-1] for series in panel["series"])
    assert ours < 82.748 < 3 * 82.748 < theirs and panel["note"] == "discount 0.99 or undiscounted"
    (usual,) = experiment_page("mine", experiment(Block(("hopper-speed",), ("cup",), (0,), 50_000)))["panels"][1:]
    assert usual["note"] == "discount 0.99"
