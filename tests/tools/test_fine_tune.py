"""What measures fine-tuning: real runs made small, stopped and gone on with, and the rule on made-up rows."""

import numpy as np
import pytest

from cuprl.training.train import train
from scripts import script
from small import QUIET, SMALL


@pytest.fixture
def tool():
    return script("tools/fine_tune.py")


def test_when_a_run_gets_there_and_stays(tool):
    n = 40
    rows = {"steps": np.arange(1, n + 1) * 100.0, "rollout/ep_rew_mean": np.full(n, 10.0)}
    rows["cost"] = np.where(np.arange(n) == 12, 61.0, 59.0)
    assert tool.reached(rows, "cost", 60.0, 9.0) == 1400.0  # not before: at 12 it is over the limit
    assert tool.reached(rows, "cost", 60.0, 11.0) == np.inf
    rows["cost"][25] = 70.0
    assert tool.reached(rows, "cost", 60.0, 9.0) == np.inf  # 14 iterations are left, fewer than it must stay


def test_runs_of_both_kinds_and_their_table(tool, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tool, "STAY", 1)
    for seed in (0, 1):
        train("swimmer-speed", steps=200, seed=seed, out=f"taught/seed{seed}", **SMALL, **QUIET)
    small = [
        word for name, value in SMALL.items() for word in ("--set", f"{name}={value[0] if name == 'hidden' else value}")
    ]
    words = ["fine_tune.py", "--runs", "taught/seed{seed}", "--task", "swimmer-speed", "--limit", "1000", "--steps", "3000"]
    monkeypatch.setattr("sys.argv", [*words, *small, "--seeds", "0,1", "--table"])
    assert tool.main() == 2 and "no seed in runs/fine-tune has both" in capsys.readouterr().err
    for seeds in ("0", "0,1"):  # the second goes on with what the first left
        monkeypatch.setattr("sys.argv", [*words, *small, "--seeds", seeds, "--workers", "1"])
        assert tool.main() == 0
    shown = capsys.readouterr().out
    assert "| seed | return wanted | steps from nothing | steps fine-tuned | share |" in shown
    assert shown.count("\n| 1 |") == 1 and "The median share is" in shown


def test_both_kinds_have_the_limit_that_was_given(tool, monkeypatch):
    monkeypatch.setattr(tool, "expand", lambda grid: [cell for block in grid.blocks for cell in block.cells()])
    for given, written in (("103.11555", "103.11555"), ("25.0", "25")):
        monkeypatch.setattr("sys.argv", ["fine_tune.py", "--runs", "taught", "--limit", given])
        assert {cell.limits for cell in tool.cells_of(tool.parsed())} == {(written,)}


@pytest.mark.parametrize(
    "words, said",
    [
        (["--runs", "none", "--limit", "60"], "none"),
        (["--runs", "zoo:hopper-speed", "--no-critics", "--limit", "60", "--set", "alpa=1"], "did you mean alpha"),
    ],
)
def test_wrong_words(words, said, tool, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["fine_tune.py", *words])
    assert tool.main() == 2
    shown = capsys.readouterr().err
    assert said in shown and shown.count("\n") == 1
