"""What is stored: each cell finds its own result, wherever it lies and whatever was added since."""

import csv
import shutil
from dataclasses import replace

import cuprl
from cuprl.cli import main
from cuprl.experiments.grid import shipped
from cuprl.experiments.grid.expand import expand
from cuprl.experiments.store.results import config_hash
from cuprl.experiments.store.stored import files, stored
from experiments.tiny import TWO_TASKS


def test_a_new_version_or_a_new_setting_at_its_default_makes_no_result_stale(tiny, monkeypatch):
    """A setting that comes after a result was stored, simulated by one that goes: the hashes are the same."""
    monkeypatch.setattr(cuprl, "__version__", "9.9.9")
    cells = expand(TWO_TASKS)
    assert set(stored(cells, tiny)) == set(cells)
    config = cells[0].resolved()
    assert config["settings"]["cost_lam"] != 0.1
    later = {**config, "settings": {**config["settings"], "init_log_std": -1.0}}
    earlier = {**config, "settings": {k: v for k, v in config["settings"].items() if k != "init_log_std"}}
    assert config_hash(earlier) == config_hash(config) != config_hash(later)


def test_a_run_counts_wherever_it_is_stored(tiny, monkeypatch, capsys):
    other = replace(TWO_TASKS, name="other")
    monkeypatch.setitem(shipped.EXPERIMENTS, "other", other)
    assert main(["table", "other", "--results", str(tiny)]) == 0
    assert "stale" not in capsys.readouterr().err
    assert len(stored(expand(other), tiny)) == 4
    assert main(["results", "export", "other", "--results", str(tiny), "--out", str(tiny / "other.csv")]) == 0
    rows = list(csv.DictReader((tiny / "other.csv").open()))
    assert len({row["hash"] for row in rows}) == 4 and {row["experiment"] for row in rows} == {"tiny"}


def test_a_linked_folder_is_read_and_a_loop_ends(tiny):
    found = files(tiny)
    (tiny / "away").mkdir()
    (tiny / "tiny").rename(tiny / "away" / "tiny")
    (tiny / "root").mkdir()
    (tiny / "root" / "tiny").symlink_to(tiny / "away" / "tiny")
    (tiny / "root" / "back").symlink_to(tiny / "root")
    assert [path.name for path in files(tiny / "root")] == [path.name for path in found]


def test_a_file_above_the_folders_is_listed_once(tiny, capsys):
    (one, *_) = files(tiny)
    shutil.copy(one, tiny / one.name)
    assert main(["results", "list", "--results", str(tiny)]) == 0
    assert capsys.readouterr().out.count("fresh") == 5
