"""`cup tune` as a person types it: real trials, made small, and wrong words."""

import shlex
import sys
from pathlib import Path

import pytest

from cuprl.cli import main
from cuprl.runs.folder import Run
from small import FLAGS, same_progress

pytest.importorskip("optuna", reason="pip install 'cuprl[tune]'")

# Every value is a program of its own, and PPO's are quick to compile.
BY_PPO = ("--algo", "ppo", "--search", "clip=0.05..0.5")


def test_trials_a_table_and_the_command_of_the_best(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["tune", "hopper-speed", "--steps", "400", *BY_PPO, "--limit", "60", *FLAGS]
    assert main([*words, "--budget", "800"]) == 0
    shown = capsys.readouterr().out
    assert "searching clip 0.05 to 0.5 (log)" in shown and "the best 2 of 2 trials" in shown and "/ 60" in shown
    command = next(line for line in shown.splitlines() if line.startswith("cup train"))
    run = next(line for line in shown.splitlines() if line.startswith("its run: ")).removeprefix("its run: ")
    assert main([*shlex.split(command)[1:], "--out", "again"]) == 0
    same_progress(Run(run), Run("again"))
    capsys.readouterr()
    assert main([*words, "--budget", "900"]) == 0  # goes on, and has nothing to do
    assert "the best 2 of 2 trials" in capsys.readouterr().out
    without = [word for word in words if word not in ("--limit", "60")]
    assert main([*without, "--budget", "800"]) == 2
    assert "holds a search with limits ['60']; give the same, or another --out" in capsys.readouterr().err


def test_two_workers(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["tune", "hopper-speed", "--steps", "400", *BY_PPO, "--workers", "2", *FLAGS]
    assert main([*words, "--budget", "800"]) == 0
    shown = capsys.readouterr().out
    assert "the best 2 of 2 trials" in shown and shown.index("trial 1: clip") < shown.index("trial 0: return")


def test_trials_too_short_for_an_episode_say_so(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["tune", "swimmer-speed", "--steps", "200", "--budget", "200", *BY_PPO, *FLAGS]) == 2
    assert "every trial failed, the last: no episode ended in its steps, so that it has no return; give --steps" in (
        capsys.readouterr().err
    )


@pytest.mark.parametrize(
    "more, words",
    [
        ([], "--budget"),
        (["--budget", "100", "--steps", "10_000"], "--budget is 100, less than the 10,000 steps of one trial"),
        (["--budget", "100"], "--budget is 100, less than the 5,000 steps"),
        (["--budget", "1e6", "--search", "alpa=0..1"], "did you mean alpha"),
        (["--budget", "1e6", "--search", "alpha=1..0"], "the smaller first"),
        (["--budget", "1e6", "--search", "alpha", "--alpha", "0.1"], "--alpha 0.1 fixes it"),
        (["--budget", "1e6", "--limit", "sped=3"], "did you mean speed"),
        (["--budget", "1e6", "--steps", "100"], "less than one batch"),
    ],
)
def test_wrong_words(more, words, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["tune", "hopper-speed", *more]) == 2
    shown = capsys.readouterr().err
    assert words in shown and shown.count("\n") == 1 and not list(Path().iterdir())


def test_without_optuna(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "optuna", None)
    assert main(["tune", "hopper-speed", "--budget", "1e6"]) == 2
    assert "pip install 'cuprl[tune]'" in capsys.readouterr().err and not list(Path().iterdir())
