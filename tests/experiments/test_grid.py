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
from cuprl.experiments.board import PlainBoard
from cuprl.experiments.grid import Cell, Experiment, expand
from cuprl.experiments.local import run_cells
from cuprl.experiments.table import markdown
from cuprl.loop import train
from cuprl.runs import Run
from small import QUIET, same_arrays, same_progress

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


def test_runs_skips_and_reports(tmp_path, capsys):
    cells = expand(TINY)
    assert run_cells(cells, tmp_path, 2, PlainBoard()) == {}
    assert "0 of 2 runs are finished" in capsys.readouterr().out
    table = markdown(cells, tmp_path)
    assert "| hopper-speed | cup | **" in table and table.endswith("| 2 |")
    run_cells(cells, tmp_path, 2, PlainBoard())
    assert capsys.readouterr().out == "2 of 2 runs are finished; 0 to do on 2 workers\n"


def test_a_run_killed_in_the_middle_is_resumed_and_ends_the_same(tmp_path):
    long = Cell("hopper-speed", "cup", 0, 6000, SMALL)
    run_cells([long], tmp_path / "whole", 1, PlainBoard())
    words = [sys.executable, "-m", "cuprl", *long.command(tmp_path / "killed")]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    while not (long.path(tmp_path / "killed") / "checkpoints").is_dir() or not long.fraction(tmp_path / "killed"):
        assert process.poll() is None
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert 0 < long.fraction(tmp_path / "killed") < 1
    run_cells([long], tmp_path / "killed", 1, PlainBoard())
    whole, again = (Run(long.path(tmp_path / name)) for name in ("whole", "killed"))
    same_progress(whole, again)
    same_arrays(whole.latest()[0], again.latest()[0])


def test_a_run_that_cannot_work_is_reported_with_its_last_lines(tmp_path):
    bad = Cell("hopper-speed", "cup", 0, 600, (("alpha", "much"),))
    failed = run_cells([bad], tmp_path, 1, PlainBoard())
    assert "alpha is 'much'" in failed[bad]


def test_several_seeds_at_once(tmp_path, capsys):
    words = ["train", "hopper-speed", "--seeds", "0..1", "--steps", "600", "--out", str(tmp_path), "--limit", "50"]
    flags = [word for name, value in SMALL for word in ("--" + name.replace("_", "-"), value)]
    assert main([*words, *flags]) == 0
    shown = capsys.readouterr().out
    assert "| hopper-speed | cup |" in shown and shown.strip().endswith("| 2 |")
    single = train("hopper-speed", seed=1, steps=600, limits=50.0, out=tmp_path / "alone", **dict(SMALL), **QUIET)
    same_progress(single, Run(tmp_path / "hopper-speed" / "cup" / "seed1"))


@pytest.mark.parametrize("more, words", [
    (["--seeds", "3..1"], "give them in order"), (["--seeds", "a..b"], "whole number"),
    (["--seeds", "0..1", "--alpha", "much"], "give a number"), (["--seeds", "0..1", "--plot"], "one seed"),
    (["--seeds", "0..1", "--workers", "0"], "at least 1"),
])  # fmt: skip
def test_wrong_seeds(more, words, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["train", "hopper-speed", *more]) == 2
    assert words in capsys.readouterr().err and not list(tmp_path.iterdir())


def test_a_run_with_other_settings_does_not_pass_for_this_one(tmp_path):
    cell = expand(TINY)[0]
    train("hopper-speed", steps=600, out=cell.path(tmp_path), **dict(SMALL), **QUIET)
    assert cell.fraction(tmp_path) == 1.0
    for change, words in (
        ({"steps": 800}, "steps 600, not 800"),
        ({"settings": (*SMALL, ("alpha", "0.9"))}, "alpha 0.2, not 0.9"),
        ({"limits": ("3",)}, "limits"),
    ):
        with pytest.raises(UserError, match=words):
            replace(cell, **change).fraction(tmp_path)


def test_the_live_board_shows_each_run(tmp_path):
    from cuprl.experiments.board import LiveBoard

    cells = expand(TINY)
    train("hopper-speed", steps=600, out=cells[0].path(tmp_path), **dict(SMALL), **QUIET)
    board = LiveBoard()
    board.console.width, board.console.height = 80, 20
    with board.console.capture() as capture:
        board.show({cells[0]: "running", cells[1]: "waiting"}, tmp_path, 61.0)
        board.console.print(board.live.renderable)
    shown = capture.get()
    assert "0 of 2 runs done, about 1:01 left" in shown and "100%" in shown and "waiting" in shown and "82.748" in shown


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
