"""Grids: expansion, resuming, a killed worker, a failing run, the table; all with real processes and real runs."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from cuprl.cli import main
from cuprl.errors import UserError
from cuprl.experiments import grid
from cuprl.experiments.grid import Cell, Experiment, expand
from cuprl.experiments.local import run_cells
from cuprl.experiments.table import markdown
from cuprl.runs import Run
from small import same_arrays, same_progress

SMALL = tuple({"batch_size": "200", "num_envs": "5", "hidden": "8", "minibatch": "50", "epochs": "2",
               "critic_epochs": "2"}.items())  # fmt: skip
TINY = Experiment("tiny", "for tests", ("hopper-speed",), ("cup",), (0, 1), 600, SMALL)


def test_expansion_and_its_parts():
    cells = expand(grid.find("baselines"))
    assert len(cells) == 2 * 8 * 2 and len(set(cells)) == len(cells)
    assert len(expand(grid.find("baselines"), "task=hopper-speed,algo=cup")) == 2
    for only, words in (("algo=cap", "did you mean cup"), ("speed=1", "give task="), ("seed=9", "unknown seed")):
        with pytest.raises(UserError, match=words):
            expand(grid.find("baselines"), only)
    for change, words in (({"tasks": ("hoper-speed",)}, "hopper-speed"), ({"algos": ("cap",)}, "cup")):
        with pytest.raises(UserError, match=words):
            expand(replace(TINY, **change))


def test_runs_skips_and_reports(tmp_path):
    said = []
    cells = expand(TINY)
    assert run_cells(cells, tmp_path, 2, said.append) == {}
    assert "0 of 2 runs are finished" in said[0]
    table = markdown(cells, tmp_path)
    assert "| hopper-speed | cup | **" in table and table.endswith("| 2 |")
    said.clear()
    run_cells(cells, tmp_path, 2, said.append)
    assert said == ["2 of 2 runs are finished; 0 to do on 2 workers"]


def test_a_run_killed_in_the_middle_is_resumed_and_ends_the_same(tmp_path):
    long = Cell("hopper-speed", "cup", 0, 6000, SMALL)
    run_cells([long], tmp_path / "whole", 1, lambda line: None)
    words = [sys.executable, "-m", "cuprl", *long.command(tmp_path / "killed")]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    while not (long.path(tmp_path / "killed") / "checkpoints").is_dir() or not long.fraction(tmp_path / "killed"):
        assert process.poll() is None
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert 0 < long.fraction(tmp_path / "killed") < 1
    run_cells([long], tmp_path / "killed", 1, lambda line: None)
    whole, again = (Run(long.path(tmp_path / name)) for name in ("whole", "killed"))
    same_progress(whole, again)
    same_arrays(whole.latest()[0], again.latest()[0])


def test_a_run_that_cannot_work_is_reported_with_its_last_lines(tmp_path):
    bad = Cell("hopper-speed", "cup", 0, 600, (("alpha", "much"),))
    failed = run_cells([bad], tmp_path, 1, lambda line: None)
    assert "alpha is 'much'" in failed[bad]


def test_the_command(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(grid.EXPERIMENTS, "tiny", TINY)
    root = ["--root", str(tmp_path)]
    assert main(["bench", "tiny", "--dry-run", *root]) == 0
    assert capsys.readouterr().out.count("0%  cup train hopper-speed") == 2
    assert main(["table", "tiny", *root]) == 2
    assert "run `cup bench tiny` first" in capsys.readouterr().err
    assert main(["bench", "tiny", "--only", "seed=1", *root]) == 0
    assert main(["table", "tiny", *root]) == 0
    assert "| hopper-speed | cup |" in capsys.readouterr().out
    assert main(["bench", "quik"]) == 2
    assert "did you mean quick" in capsys.readouterr().err
    assert main(["bench", "tiny", "--workers", "0"]) == 2
