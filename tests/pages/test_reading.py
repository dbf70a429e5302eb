"""A run's folder as it is at one moment, with what lies beside it."""

import pytest

from cuprl.core.actions import Discrete
from cuprl.core.spec import Constraint, Spec
from cuprl.core.spec_json import spec_to_json
from cuprl.pages.reading import read_run, read_video
from cuprl.pages.run_data import run_page
from pages.made_up import by_id, folder


def test_evaluations_are_read_by_their_header(tmp_path):
    run = folder(tmp_path / "r")
    text = "iteration,steps,mode/return,sampled/return,mode/cost,sampled/cost,cost_std,kept\n"
    (run.path / "evaluations.csv").write_text(text + "10,1000,1,2,3,,5,yes\n20,2000,2,3,4,5,6,no\n30,30")
    page = run_page(read_run(run))
    panels = by_id(page)
    assert [series["name"] for series in panels["evaluation-0"]["series"]] == ["mode", "sampled"]
    assert [series["y"] for series in panels["evaluation-1"]["series"]] == [[3, 4], [None, 5]]
    assert panels["evaluation-1"]["lines"] == [{"name": "limit 50", "y": 50.0}]
    assert panels["evaluation-0"]["points"] == [{"name": "best, iteration 20", "x": 2000.0, "y": 2.0}]
    assert [card["value"] for card in page["cards"] if card["name"] == "best evaluation"] == ["2"]
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


def test_a_constraint_without_a_discount_has_the_usual_one(tmp_path):
    run = folder(tmp_path / "r")
    run.config["spec"] = spec_to_json(Spec("x", 3, Discrete(2), (Constraint("cost", 50.0),), 100))
    assert read_run(run).how_discounted("cost") == f"discounted by {Constraint('cost', 50.0).discount:g}"
    del run.config["spec"]["constraints"][0]["discount"]
    assert read_run(run).how_discounted("cost") == f"discounted by {Constraint('cost', 50.0).discount:g}"


def test_plain_sums_are_read_where_they_are_held_to_the_limit(tmp_path):
    seen = read_run(folder(tmp_path / "r", cost_return="undiscounted"))
    assert set(seen.cost("speed")) == {400.0} and seen.how_discounted("speed") == "undiscounted"
    seen = read_run(folder(tmp_path / "other", cost_return="discounted"))
    assert set(seen.cost("speed")) == {40.0} and seen.how_discounted("speed") == "discounted by 0.99"


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
