"""Stored results as CSV."""

import csv
import json

import pytest

from cuprl.errors import UserError
from cuprl.experiments.grid.cells import Cell
from cuprl.experiments.store import as_csv
from cuprl.experiments.store.stale import Entry
from experiments.synthetic import made_up


@pytest.fixture
def entries(tmp_path):
    cells = [Cell("hopper-speed", algo, 0, 50_000) for algo in ("cup", "ppo")]
    return [Entry(tmp_path / "mine" / f"{cell.algo}.json.gz", made_up(cell), "ok") for cell in cells]


def test_one_long_file_has_the_columns_of_all(entries, tmp_path):
    as_csv.write(entries, tmp_path / "deep" / "all.csv")
    with (tmp_path / "deep" / "all.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["algo"] for row in rows} == {"cup", "ppo"} and len(rows) == 20
    first = entries[0].result
    assert [float(row["rollout/ep_rew_mean"]) for row in rows[:10]] == pytest.approx(first.metrics["rollout/ep_rew_mean"])
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["all.csv"]


def test_a_folder_has_a_file_a_run_and_its_facts(entries, tmp_path):
    as_csv.write(entries, tmp_path / "out")
    files = sorted(path.name for path in (tmp_path / "out").rglob("*") if path.is_file())
    assert len(files) == 4 and [name.rsplit(".")[-1] for name in files] == ["csv", "json"] * 2
    (facts,) = (tmp_path / "out").rglob("cup*.json")
    assert json.loads(facts.read_text())["algo"] == "cup"


def test_a_link_in_the_way_is_replaced_and_not_written_through(entries, tmp_path):
    (tmp_path / "precious").write_text("x")
    (tmp_path / "all.csv").symlink_to("precious")
    as_csv.write(entries, tmp_path / "all.csv")
    assert (tmp_path / "precious").read_text() == "x" and not (tmp_path / "all.csv").is_symlink()


def test_what_is_neither_is_refused(entries, tmp_path):
    with pytest.raises(UserError, match=r"is no folder and does not end in \.csv"):
        as_csv.write(entries, tmp_path / "all.txt")
