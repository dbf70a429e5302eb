"""What of a run and of an experiment goes on a page."""

import dataclasses
import json

import numpy as np
import pytest

from cuprl.experiments.grid.cells import Block, Experiment, expand
from cuprl.experiments.report.drawing import COLOURS
from cuprl.experiments.report.groups import group
from cuprl.pages import parts
from cuprl.pages.certificate import sentences
from cuprl.pages.experiment_data import experiment_page, places
from cuprl.pages.html import as_json
from cuprl.pages.reading import read_run, read_video
from cuprl.pages.run_data import command, run_page
from experiments.synthetic import made_up as result
from pages.made_up import folder, seen


def by_id(page):
    return {panel["id"]: panel for panel in page["panels"]}


# --- a run ------------------------------------------------------------------------------------------------------------


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


def test_a_long_run_is_thinned_and_says_so():
    n = 3 * parts.MOST
    page = run_page(seen(n=n, iterations=n))
    steps = page["grids"]["training"]["steps"]
    assert len(steps) == parts.MOST and steps[-1] == n * 100
    assert {len(series["y"]) for panel in page["panels"] for series in panel["series"]} == {parts.MOST}
    assert by_id(page)["promise-0"]["series"][0]["y"] == [40] * parts.MOST
    assert page["warnings"] == ["the curves show one in 3 iterations of 12,000."]


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


# --- what lies beside -------------------------------------------------------------------------------------------------


def test_evaluations_are_read_by_their_header(tmp_path):
    run = folder(tmp_path / "r")
    text = "iteration,steps,mode/return,sampled/return,mode/cost,sampled/cost,cost_std,kept\n"
    (run.path / "evaluations.csv").write_text(text + "10,1000,1,2,3,,5,yes\n20,2000,2,3,4,5,6,no\n30,30")
    page = run_page(read_run(run))
    panels = by_id(page)
    assert [series["name"] for series in panels["evaluation-0"]["series"]] == ["mode/return", "sampled/return"]
    assert [series["y"] for series in panels["evaluation-1"]["series"]] == [[3, 4], [None, 5]]
    assert panels["evaluation-1"]["lines"] == [{"name": "limit 50", "y": 50.0}]
    assert page["grids"]["evaluations"] == {"steps": [1000, 2000], "iteration": [10, 20]}


@pytest.mark.parametrize(
    "name, content",
    [("evaluations.csv", "no,header\n1,2\n"), ("certificate.json", "{"), ("certificate.json", "[" * 100_000)],
)
def test_a_damaged_file_beside_is_told_and_the_rest_shown(name, content, tmp_path):
    run = folder(tmp_path / "r")
    (run.path / name).write_text(content)
    page = run_page(read_run(run))
    assert name in page["warnings"][0] and len(page["panels"]) == 6


def test_a_changed_configuration_is_told(tmp_path):
    run = folder(tmp_path / "r")
    run.config["steps"] += 100
    assert "was changed since the run began" in run_page(read_run(run))["warnings"][0]


def test_a_certificate_in_sentences():
    speed = {
        "constraint": "speed",
        "limit": 50.0,
        "cost": 40.0,
        "lower": 39.1,
        "upper": 41.2,
        "method": "betting",
        "over": 25,
        "over_low": 0.01,
        "over_high": 0.04,
        "worst": 63.0,
        "to_decide": None,
        "verdict": "within",
    }
    made = {
        "episodes": 1000,
        "iteration": 200,
        "mode": "sampled",
        "confidence": 0.95,
        "return_mean": 812.3,
        "verdict": "within",
        "constraints": [speed],
    }
    whole, one = sentences(made)
    assert whole == (
        "1,000 fresh episodes; the policy of iteration 200; its actions: sampled; return 812.3; stated at 95%; "
        "verdict: within."
    )
    assert one == (
        "speed: within (limit 50); mean cost 40; expected cost at most 41.2; at least 39.1; bounds by betting; "
        "2.5% of the episodes over the limit (between 1.0% and 4.0%); the worst 1% cost 63."
    )


def test_a_certificate_of_another_kind_is_told_as_it_is():
    assert sentences({"constraints": [{"verdict": 3, "limit": "x"}], "episodes": 0}) == ["0 fresh episodes.", "cost: 3."]
    assert sentences({"all_within": True, "of": {"speed": {"upper": 2.5}}, "x": None}) == [
        "all within: yes",
        "upper: 2.5",
        "x: unknown",
    ]
    assert sentences(["one\ntwo", 7]) == ["one", "two", "7"]


def test_a_video_goes_along_if_it_is_not_too_large(tmp_path, monkeypatch):
    assert read_video(tmp_path) == ("", "")
    (tmp_path / "video.gif").write_bytes(b"GIF")
    assert read_video(tmp_path) == ("image/gif", "data:image/gif;base64,R0lG")
    (tmp_path / "video.mp4").write_bytes(b"mp4")
    assert read_video(tmp_path)[0] == "video/mp4"
    (tmp_path / "video.mp4").rename(tmp_path / "secret")
    (tmp_path / "video.mp4").symlink_to("secret")
    assert read_video(tmp_path)[0] == "image/gif"
    monkeypatch.setattr("cuprl.pages.reading.LARGEST_VIDEO", 3)
    assert read_video(tmp_path) == ("", "")


# --- an experiment ----------------------------------------------------------------------------------------------------


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
    assert [table["title"] for table in page["tables"]] == ["Statistics", "Over tasks", "Probability of improvement"]
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
