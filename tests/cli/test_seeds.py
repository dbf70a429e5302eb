"""`cup train --seeds`: one run a seed, told, evaluated and drawn."""

import pytest

from cuprl.cli import main
from cuprl.experiments.grid.cells import Cell
from cuprl.runs.folder import Run
from cuprl.training.train import train
from small import FLAGS, QUIET, SMALL, WORDS, same_progress


def test_several_seeds_at_once(tmp_path, capsys):
    words = ["train", "hopper-speed", "--seeds", "0..1", "--steps", "600", "--out", str(tmp_path), "--limit", "60"]
    assert main([*words, *FLAGS, "--evaluate", "--plot"]) == 0
    shown = capsys.readouterr().out
    folder = tmp_path / "hopper-speed" / "cup"
    assert "| hopper-speed | cup |" in shown and f"| 2 |\ndone: {folder}/seed0\ndone: {folder}/seed1\n" in shown
    assert "seed 0 mode" in shown and "seed 1 sampled" in shown
    assert f"learning curve: {folder}/curve.png" in shown and (folder / "curve.png").stat().st_size > 10_000
    single = train("hopper-speed", seed=1, steps=600, limits=60.0, out=tmp_path / "alone", **SMALL, **QUIET)
    same_progress(single, Run(tmp_path / "hopper-speed" / "cup" / "seed1"))
    # A cell says beforehand what its run will say of itself.
    cell = Cell("hopper-speed", "cup", 1, 600, WORDS, ("60",))
    assert cell.resolved() == {key: single.config[key] for key in cell.resolved()} and len(cell.resolved()) == 7


def test_each_seed_shows_its_own_best(tmp_path, capsys, monkeypatch):
    """The seeds are trained in processes of their own; what is best is asked here, once of each and its two kinds."""
    best = iter([2, 2, 3, 3])
    monkeypatch.setattr("cuprl.cli.evaluations.worth_showing", lambda run: next(best))
    words = ["train", "hopper-speed", "--seeds", "0..1", "--steps", "600", "--checkpoint-every", "1", "--out", str(tmp_path)]
    assert main([*words, *FLAGS, "--evaluate"]) == 0
    shown = capsys.readouterr().out
    assert "seed 0 iteration 2 mode" in shown and "seed 1 iteration 3 sampled" in shown


@pytest.mark.parametrize(
    "more, words",
    [
        (["--seeds", "3..1"], "give them in order"),
        (["--seeds", "a..b"], "whole number"),
        (["--seeds", "0..1", "--alpha", "much"], "give a number"),
        (["--seeds", "0..1", "--seed", "1"], "give one of them"),
        (["--seeds", "0..1", "--workers", "0"], "give 1 or more"),
        (["--workers", "2"], "--workers 2 goes with --seeds"),
    ],
)
def test_wrong_seeds(more, words, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["train", "hopper-speed", *more]) == 2
    assert words in capsys.readouterr().err and not list(tmp_path.iterdir())
