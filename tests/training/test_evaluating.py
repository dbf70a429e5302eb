"""Evaluations while training: nothing that is learnt depends on them, and a stopped run loses and doubles none."""

import json
import signal
import warnings

import numpy as np
import pytest

import cuprl
from cuprl.cli import main
from cuprl.errors import UserError
from cuprl.runs.config import RunConfig
from cuprl.runs.folder import Run
from cuprl.training.display import Plain, Silent
from cuprl.training.evaluating import Evaluator
from cuprl.training.train import resume, train
from cuprl.training.training import Training
from probes import PROBE, Probe
from small import FLAGS, QUIET, same_arrays, same_progress

WALK = Probe("walk", lambda obs, a, t: obs * a, lambda obs, a, t: a**2, length=7, random_obs=True)
EVALUATED = {"eval_every": 3, "eval_episodes": 4, "checkpoint_every": 4}


def trained(path, **more):
    return train(WALK, "ppo-lag", steps=200 * 8, limits=100.0, out=path, **PROBE, **QUIET, **{"checkpoint_every": 4, **more})


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return trained(tmp_path_factory.mktemp("whole") / "r", **EVALUATED)


def test_training_is_the_same_with_and_without(whole, tmp_path):
    plain = trained(tmp_path / "plain")
    same_progress(plain, whole)
    same_arrays(plain.latest()[0], whole.latest()[0])
    assert not (plain.path / "evaluations.csv").exists()
    found = whole.evaluations.columns()
    assert found["iteration"].tolist() == [3, 6, 8] and found["steps"].tolist() == [600, 1200, 1600]
    assert set(found["episodes"]) == {4} and set(found["sampled/length"]) == {7}
    assert not np.array_equal(found["mode/return"], found["sampled/return"])


def begun(whole, path, iterations, saved):
    """A run like `whole` as far as some iterations, with checkpoints of some."""
    config = RunConfig.from_json(whole.config)
    run, training = Run.create(path, config), Training(config, WALK)
    evaluator = Evaluator(training, run, Silent())
    for iteration in range(1, iterations + 1):
        run.append(training.iterate())
        evaluator.look(())
        if iteration in saved:
            run.save(iteration, training.arrays())
    return run


@pytest.mark.parametrize("iterations, saved", [(1, ()), (5, (3,)), (6, (3, 4)), (7, (6,)), (8, (4,))])
def test_a_stopped_run_loses_and_doubles_no_evaluation(iterations, saved, whole, tmp_path):
    run = begun(whole, tmp_path / "r", iterations, saved)
    with (run.path / "evaluations.csv").open("a") as file:
        file.write("9,18")  # killed in the middle of a line
    resume(run.path, task=WALK, **QUIET)
    assert (run.path / "evaluations.csv").read_bytes() == (whole.path / "evaluations.csv").read_bytes()
    assert run.best() == whole.best()


def test_an_evaluation_that_a_stop_left_out_is_made_up_for(whole, tmp_path):
    run = begun(whole, tmp_path / "r", 6, (6,))
    run.evaluations.forget_after(3)  # the signal came in iteration 6
    resume(run.path, task=WALK, **QUIET)
    assert (run.path / "evaluations.csv").read_bytes() == (whole.path / "evaluations.csv").read_bytes()


def test_a_stop_ends_an_evaluation_in_its_middle(whole, tmp_path):
    config = RunConfig.from_json(whole.config)
    training, run = Training(config, WALK), Run.create(tmp_path / "r", config)
    for _ in range(3):
        training.iterate()
    evaluator, stopped = Evaluator(training, run, Silent()), []
    step = type(training.collector.env).step

    def stops(self, action):
        stopped.append(15)
        return step(self, action)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(training.collector.env), "step", stops)
        assert evaluator.look(stopped) is False and len(stopped) == 1
    assert not run.evaluations.table() and evaluator.look(()) is True and evaluator.look(()) is False


def test_a_signal_in_the_last_evaluation_is_not_swallowed(tmp_path):
    """A program that trains one run after another does not begin the next; what is missing is made up for."""
    signals = [signal.SIGINT]

    def reward(obs, a, t):
        if len(obs) == 4 and signals:  # as many environments as only evaluations have
            signal.raise_signal(signals.pop())
        return obs * a

    task = Probe("walk", reward, WALK.cost, length=7, random_obs=True)
    with pytest.raises(KeyboardInterrupt, match="stopped after iteration 2; continue with: cup resume"):
        train(task, "ppo-lag", steps=400, out=tmp_path / "r", **PROBE, **QUIET, **EVALUATED)
    run = Run(tmp_path / "r")
    assert len(run.progress()["steps"]) == 2 and not run.evaluations.table()
    resume(run, task=WALK, **QUIET)
    assert run.evaluations.columns()["iteration"].tolist() == [2]


def test_a_signal_after_all_is_done_is_not_swallowed_either(tmp_path):
    def hook(row, view):
        signal.raise_signal(signal.SIGTERM)

    with pytest.raises(KeyboardInterrupt, match="stopped after iteration 1, the last one"):
        train(WALK, "ppo-lag", steps=200, out=tmp_path / "r", on_iteration=hook, **PROBE, **QUIET)
    assert Run(tmp_path / "r").latest()[0]["counters"][0] == 1


def test_an_evaluation_that_fails_does_not_end_the_training(tmp_path, capsys):
    def reward(obs, a, t):
        if len(obs) == 4:  # as many environments as only evaluations have
            raise UserError("the wind is too strong; wait.")
        return obs * a

    task = Probe("windy", reward, WALK.cost, length=7, random_obs=True)
    run = train(task, "ppo-lag", steps=600, out=tmp_path / "r", display=Plain(), **PROBE, **EVALUATED)
    assert len(run.progress()["steps"]) == 3 and not run.evaluations.table()
    assert "iteration 3 could not be evaluated (the wind is too strong; wait.); training goes on" in capsys.readouterr().err


def test_the_best_is_loaded_evaluated_and_said(whole):
    best = whole.best()
    policy = cuprl.load(whole, WALK, checkpoint="best")
    assert policy.info["iteration"] == best
    assert cuprl.evaluate(whole, 3, task=WALK, checkpoint="best")["iteration"] == best
    assert cuprl.evaluate(whole, 3, task=WALK)["iteration"] == 8
    with pytest.raises(UserError, match="the policy is loaded already"):
        cuprl.evaluate(policy, 3, checkpoint="best")


def test_the_commands(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    more = ["--eval-every", "2", "--eval-episodes", "2", "--checkpoint-every", "1", "--algo", "ppo-lag", "--out", "r"]
    assert main(["train", "hopper-speed", "--steps", "1000", *FLAGS, *more]) == 0
    shown, best = capsys.readouterr().out, Run("r").best()
    assert "evaluation, iteration 4: mode return " in shown and f"best of 3 evaluations: that of iteration {best};" in shown
    assert main(["eval", "r", "--checkpoint", "best", "--episodes", "2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["iteration"] == best
    assert main(["eval", "r", "--checkpoint", "4", "--episodes", "2"]) == 0
    assert "ppo-lag, iteration 4, 2 episodes" in capsys.readouterr().out
    assert main(["export", "r", "--checkpoint", "4", "--episodes", "0"]) == 0
    assert "bytes, the policy of iteration 4, an action every 0.008 s\n" in capsys.readouterr().out
    assert cuprl.load("r/policy.npz").info["iteration"] == 4
    assert main(["certify", "r", "--checkpoint", "4", "--episodes", "2"]) == 0
    assert "iteration 4, the mode" in capsys.readouterr().out
    Run("r").checkpoints()[0].write_bytes(b"")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert main(["eval", "r", "--episodes", "2"]) == 0
    assert "is damaged" in str(told[0].message) and "iteration 4, " in capsys.readouterr().out
    for words, sentence in (
        (["eval", "r", "--checkpoint", "5"], "is damaged"),
        (["eval", "r", "--checkpoint", "99"], "no checkpoint of iteration 99; it has 5, 4, 3"),
        (["export", "r", "--checkpoint", "first"], "unknown checkpoint 'first'"),
        (["eval", "r/policy.npz", "--checkpoint", "best"], "holds one policy alone"),
        (["train", "hopper-speed", "--eval-episodes", "3"], "goes with --eval-every;"),
        (["train", "hopper-speed", "--eval-every", "-1"], "give 0 or more"),
    ):
        assert main(words) == 2 and sentence in capsys.readouterr().err, words


def test_how_often_where_nothing_is_said(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = ["train", "swimmer-speed", "--steps", "200", *FLAGS, "--out", "r", "--eval-episodes", "1", "--eval-every"]
    assert main(words) == 0
    assert Run("r").config["eval_every"] == 100 and "best of 1 evaluation:" in capsys.readouterr().out  # that of the end
