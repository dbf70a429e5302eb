"""`cup train` and `cup resume`."""

import json

import pytest

from cuprl.cli import main
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


@pytest.mark.parametrize("limit", ["1e6", "1e-6"])
def test_evaluate_shows_the_best_policy_where_training_found_one(limit, tmp_path, capsys):
    path, every = tmp_path / "r", ["--eval-every", "1", "--eval-episodes", "1", "--limit", limit]
    assert main(["train", "hopper-speed", "--steps", "8e2", "--out", str(path), "--evaluate", *every, *FLAGS]) == 0
    best = Run(path).best()
    assert (best is None) == (limit == "1e-6")
    assert f"hopper-speed, cup, iteration {best or 4}, 20 episodes" in capsys.readouterr().out


def test_a_folder_in_use_is_not_touched(tmp_path, capsys):
    run = folder(tmp_path / "r")
    before = sorted(p.name for p in run.path.rglob("*"))
    assert main(["train", "hopper-speed", "--out", str(run.path)]) == 2
    assert "not empty" in capsys.readouterr().err
    assert sorted(p.name for p in run.path.rglob("*")) == before
