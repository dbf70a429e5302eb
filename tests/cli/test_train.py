"""`cup train` and `cup resume`."""

import json

import pytest

from cuprl.cli import main
from cuprl.cli.evaluations import worth_showing
from cuprl.runs import evaluations
from cuprl.runs.checkpoint import iteration_of
from cuprl.runs.folder import Run
from pages.made_up import folder
from small import FLAGS


def test_train_help_shows_the_settings_of_the_algorithm(capsys):
    with pytest.raises(SystemExit):
        main(["train", "--help"])
    shown = capsys.readouterr().out
    assert "--alpha" in shown and "weight of sqrt(KL)" in shown and "[0.2]" in shown


def test_train_evaluate_plot_resume_eval(tmp_path, capsys):
    path = tmp_path / "r"
    assert main(["train", "hopper-speed", "--steps", "4e2", "--out", str(path), "--evaluate", "--plot", *FLAGS]) == 0
    shown = capsys.readouterr().out
    assert "iteration 2/2" in shown and "sampled" in shown and (path / "curve.png").stat().st_size > 10_000
    assert main(["resume", str(path)]) == 0
    capsys.readouterr()
    assert main(["eval", str(path), "--episodes", "3", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["episodes"] == 3 and result["deterministic"] is True
    assert main(["eval", str(path), "--episodes", "3", "--stochastic"]) == 0
    assert "hopper-speed, cup, iteration 2, 3 episodes" in capsys.readouterr().out


EVALUATED = ["--steps", "8e2", "--evaluate", "--eval-every", "1", "--eval-episodes", "1", *FLAGS]


def test_evaluate_shows_the_best_policy_where_training_found_one(tmp_path, capsys, monkeypatch):
    """The second of four evaluations, whatever they say."""
    monkeypatch.setattr(evaluations, "best_row", lambda columns, config: 1 if len(columns["iteration"]) > 1 else None)
    assert main(["train", "hopper-speed", "--out", str(tmp_path / "r"), *EVALUATED]) == 0
    assert "hopper-speed, cup, iteration 2, 20 episodes" in capsys.readouterr().out
    run = Run(tmp_path / "r")
    assert worth_showing(run) == "best"
    next(path for path in run.checkpoints() if iteration_of(path) == 2).unlink()
    assert worth_showing(run) == "last"


def test_evaluate_shows_the_last_policy_where_none_was_within_its_limit(tmp_path, capsys):
    assert main(["train", "hopper-speed", "--out", str(tmp_path / "r"), "--limit", "1e-6", "--algo", "ppo", *EVALUATED]) == 0
    shown = capsys.readouterr().out
    assert (
        "best of 4 evaluations: none was within every limit" in shown
        and "hopper-speed, ppo, iteration 4, 20 episodes" in shown
    )


def test_a_folder_in_use_is_not_touched(tmp_path, capsys):
    run = folder(tmp_path / "r")
    before = sorted(p.name for p in run.path.rglob("*"))
    assert main(["train", "hopper-speed", "--out", str(run.path)]) == 2
    assert "not empty" in capsys.readouterr().err
    assert sorted(p.name for p in run.path.rglob("*")) == before
