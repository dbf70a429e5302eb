"""The command as a person types it: right words and wrong ones. No traceback reaches a person."""

import json
import os
import subprocess
import sys
from functools import partial

import pytest

from cuprl.cli import COMMANDS, main
from cuprl.training.loop import train
from small import FLAGS, QUIET, SMALL


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return train("hopper-speed", steps=600, out=tmp_path_factory.mktemp("runs") / "r", **SMALL, **QUIET)


@pytest.mark.parametrize("argv", [[], ["--help"], ["--version"], ["tasks"], ["algos"], ["algos", "cup"]])
def test_commands_that_only_tell(argv, capsys):
    assert main(argv) == 0
    assert capsys.readouterr().out.strip()


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command, capsys):
    with pytest.raises(SystemExit) as end:
        main([command, "--help"])
    assert end.value.code == 0
    assert "usage: cup " + command in capsys.readouterr().out


def test_train_help_shows_the_settings_of_the_algorithm(capsys):
    with pytest.raises(SystemExit):
        main(["train", "--help"])
    shown = capsys.readouterr().out
    assert "--alpha" in shown and "weight of sqrt(KL)" in shown and "[0.2]" in shown


def test_settings_are_shown_with_what_they_accept(capsys):
    assert main(["algos", "CUP"]) == 0
    assert "largest nu (0 to inf)" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["train", "--help"])
    assert "largest nu (0 to inf) [2.0]" in capsys.readouterr().out


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


@pytest.mark.skipif(sys.platform != "linux", reason="threads are listed in /proc")
def test_train_runs_jax_on_one_thread_as_resume_does():
    """Settings are read before training begins: reading them must not start JAX another way."""
    code = """if True:
        import glob, os, sys
        from cuprl.cli import main
        main(sys.argv[1:])
        import jax.numpy
        jax.numpy.ones((500, 500)).sum().block_until_ready()
        names = [open(file).read().strip() for file in glob.glob("/proc/self/task/*/comm")]
        print(names.count("tf_XLAEigen"), os.environ.get("NPROC"), os.environ["XLA_FLAGS"])
    """
    command = [sys.executable, "-c", code, "train", "hoper-speed"]
    environment = {**os.environ, "NPROC": "7"}
    shown = subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout
    # XLA's threads; the variable that sets their number, as it was; and the flags of this process, by which the cache goes
    assert shown.split() == ["1", "7", *os.environ["XLA_FLAGS"].split()]


def test_speed_as_json(capsys, monkeypatch):
    from cuprl.measure import speed

    real = speed.measure
    monkeypatch.setattr(speed, "measure", partial(real, **SMALL))
    assert main(["speed", "hopper-speed", "--rounds", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["ratio"] > 0


@pytest.mark.parametrize(
    "argv, words",
    [
        (["trian", "hopper-speed"], "did you mean train"),
        (["train", "hoper-speed"], "did you mean hopper-speed"),
        (["train", "hopper-speed", "--algo", "cap"], "did you mean cup"),
        (["train", "hopper-speed", "--alpa", "0.1"], "did you mean --alpha"),
        (["train", "hopper-speed", "--alpha", "much"], "alpha is 'much'; give a number"),
        (["train", "hopper-speed", "--steps", "100"], "give at least 5000"),
        (["train", "hopper-speed", "--steps", "many"], "give a whole number"),
        (["train", "hopper-speed", "--limit", "low"], "--limit is 'low'; give a number"),
        (["train", "hopper-speed", "--limit", "nan"], "give a finite number"),
        (["train", "hopper-speed", "--limit", "sped=3"], "did you mean speed"),
        (["train", "hopper-speed", "--threads", "0"], "threads is 0"),
        (["train", "hopper-speed", "--improvement", "magic"], "accepted: sqrt-kl, clip"),
        (["train", "hopper-speed", "extra"], "unexpected argument 'extra'"),
        (["train", "hopper-speed", "--seed", "-1"], "give a whole number from 0"),
        (["train", "hopper-speed", "--checkpoint-every", "0"], "checkpoint_every is 0"),
        (["train", "hopper-speed", "--hidden", "-3"], "hidden is -3; give 1 to 1e5"),
        (["train", "hopper-speed", "--cost-window", "-1"], "cost_window is -1; give 0 or more"),
        (["train", "hopper-speed", "--multiplier-max", "-1"], "multiplier_max is -1.0; give 0 to inf"),
        (["train", "hopper-speed", "--alpha", "-1"], "alpha is -1.0; give 0 or more"),
        (["train", "hopper-speed", "--delta", "nan"], "delta is nan; give 0 to inf"),
        (["train", "hopper-speed", "--policy-lr", "inf"], "policy_lr is inf; give 0 or more"),
        (["train", "hopper-speed", "--epochs", "0"], "epochs is 0; give 1 or more"),
        (["train", "hopper-speed", "--epochs", "1e30"], "give 1 or more, whole and at most 1,000,000,000"),
        (["train", "hopper-speed", "--algo", "TRPO", "--delta", "0"], "delta is 0.0; give more than 0"),
        (["train", "hopper-speed", "--hidden", "1000000,1000000"], "hidden is 1000000,1000000; give 1 to 1e5"),
        (["train", "hopper-speed", "--hidden", "50_000,50_000"], "give layers of at most 100,000,000 weights"),
        (["train", "hopper-speed", "--steps", "1e30"], "steps is 1e+30; give at most 499,999,995,000"),
        (["train", "hopper-speed", "--limit", "5", "--limit", "6"], "--limit is given as 5 and 6; give one number"),
        (["train", "hopper-speed", "--limit", "speed=5", "--limit", "speed=6"], "--limit of speed is given twice"),
        (["check", "gym:CartPole-v1", "--limit", "cost=5", "--limit", "cost=6"], "--limit of cost is given twice"),
        (["train", "hopper-speed", "--algo"], "--algo"),
        (["train", "hopper-speed", "--out", "/proc/nowhere"], "give a file or folder that can be used"),
        (["eval", "nowhere", "--seed", "-1"], "--seed is -1"),
        (["train"], "TASK"),
        (["eval", "nowhere"], "not a run"),
        (["resume", "nowhere"], "not a run"),
        (["plot", "nowhere"], "not a run"),
        (["algos", "cap"], "did you mean cup"),
        (["speed", "hopper-speed", "--rounds", "0"], "rounds is 0"),
    ],
)
def test_wrong_input_gets_one_sentence_and_status_2(argv, words, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(argv) == 2
    shown = capsys.readouterr()
    assert words in shown.err and shown.err.count("\n") == 1 and not shown.out
    assert not list(tmp_path.iterdir())  # nothing was made


def test_a_folder_in_use_is_not_touched(run, capsys):
    before = sorted(p.name for p in run.path.rglob("*"))
    assert main(["train", "hopper-speed", "--out", str(run.path)]) == 2
    assert "not empty" in capsys.readouterr().err
    assert sorted(p.name for p in run.path.rglob("*")) == before


def test_eval_with_a_wrong_number(run, capsys):
    assert main(["eval", str(run.path), "--episodes", "0"]) == 2
    assert "episodes is 0" in capsys.readouterr().err
