"""Grids as commands: `cup bench`, `cup train --seeds`."""

from pathlib import Path

import pytest

from cuprl.cli import main
from cuprl.experiments.grid.cells import Cell
from cuprl.runs.folder import Run
from cuprl.training.loop import train
from experiments.tiny import FILE, SMALL
from small import QUIET, same_progress


def test_the_command(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text(FILE.replace("20_000", "600"))
    assert main(["bench"]) == 0 and "paper-table" in capsys.readouterr().out
    assert main(["bench", "mine.toml", "--dry-run"]) == 0
    shown = capsys.readouterr().out
    assert shown.count("0%  cup train hopper-speed") == 2 and "2 runs, 0 finished" in shown and not Path("runs").exists()
    assert main(["bench", "mine.toml", "--only", "seed=1"]) == 0
    shown = capsys.readouterr().out
    assert "| hopper-speed | cup |" in shown and "cup table mine.toml" in shown
    assert main(["bench", "mine.toml", "--dry-run"]) == 0
    assert "2 runs, 1 finished" in capsys.readouterr().out
    for words, sentence in (
        (["quik"], "did you mean quick"), (["mine.tml"], "Or give a file"), (["no.toml"], "no file no.toml"),
        (["mine.toml", "./mine.toml"], "two experiments are called mine"), (["quick", "--workers", "0"], "at least 1"),
        (["quick", "--engine", "slurm"], "Accepted: local, ray"), (["quick", "--address", "auto"], "give --engine ray"),
    ):  # fmt: skip
        assert main(["bench", *words]) == 2
        assert sentence in capsys.readouterr().err


def test_several_seeds_at_once(tmp_path, capsys):
    words = ["train", "hopper-speed", "--seeds", "0..1", "--steps", "600", "--out", str(tmp_path), "--limit", "50"]
    flags = [word for name, value in SMALL for word in ("--" + name.replace("_", "-"), value)]
    assert main([*words, *flags]) == 0
    shown = capsys.readouterr().out
    assert "| hopper-speed | cup |" in shown and shown.strip().endswith("| 2 |")
    single = train("hopper-speed", seed=1, steps=600, limits=50.0, out=tmp_path / "alone", **dict(SMALL), **QUIET)
    same_progress(single, Run(tmp_path / "hopper-speed" / "cup" / "seed1"))
    # A cell says beforehand what its run will say of itself.
    cell = Cell("hopper-speed", "cup", 1, 600, SMALL, ("50",))
    assert cell.resolved() == {key: single.config[key] for key in cell.resolved()} and len(cell.resolved()) == 7


@pytest.mark.parametrize("more, words", [
    (["--seeds", "3..1"], "give them in order"), (["--seeds", "a..b"], "whole number"),
    (["--seeds", "0..1", "--alpha", "much"], "give a number"), (["--seeds", "0..1", "--plot"], "one seed"),
    (["--seeds", "0..1", "--workers", "0"], "at least 1"),
])  # fmt: skip
def test_wrong_seeds(more, words, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["train", "hopper-speed", *more]) == 2
    assert words in capsys.readouterr().err and not list(tmp_path.iterdir())
