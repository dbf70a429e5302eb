"""A function of the user's own between two iterations: what it sees, how it stops a run, and what its errors leave."""

import logging

import numpy as np
import pytest

import cuprl
from cuprl.errors import UserError
from cuprl.runs.folder import Run
from cuprl.training.train import resume, train
from probes import Probe, constant
from small import SMALL, same_arrays, same_progress


def test_a_hook_sees_every_row_and_changes_nothing(tmp_path):
    seen = []

    def look(row, view):
        recorded = view.run.progress()
        assert row["rollout/ep_rew_mean"] == recorded["rollout/ep_rew_mean"][-1] or np.isnan(row["rollout/ep_rew_mean"])
        assert (view.iteration, view.iterations) == (len(recorded["steps"]), 3) and view.spec.obs_dim == 11
        seen.append((view.policy(), view.policy().predict(np.ones(11))))
        row.clear()  # it is a copy

    watched = train("hopper-speed", steps=600, out=tmp_path / "watched", on_iteration=look, **SMALL)
    alone = train("hopper-speed", steps=600, out=tmp_path / "alone", **SMALL)
    same_progress(watched, alone)
    same_arrays(watched.latest()[0], alone.latest()[0])
    assert len(seen) == 3
    for policy, action in seen:  # each is the policy of its own iteration still
        np.testing.assert_array_equal(policy.predict(np.ones(11)), action)
    assert not np.array_equal(seen[0][1], seen[2][1])
    np.testing.assert_array_equal(cuprl.load(watched).predict(np.ones(11)), seen[2][1])


@pytest.mark.parametrize("false", [False, np.False_])
def test_false_stops_with_a_checkpoint_that_goes_on_bit_for_bit(false, tmp_path, caplog):
    hook = lambda row, view: false if view.iteration == 2 else None  # noqa: E731
    run = train("hopper-speed", steps=800, out=tmp_path / "r", on_iteration=hook, **SMALL)
    assert len(run.progress()["steps"]) == 2 and run.latest()[0]["counters"][0] == 2
    assert f"stopped after iteration 2; continue with: cup resume {run.path}" in caplog.text
    later = []
    resume(run, on_iteration=lambda row, view: later.append(row["iteration"]))
    assert later == [3, 4]
    same_progress(run, train("hopper-speed", steps=800, out=tmp_path / "whole", **SMALL))


def test_only_false_stops(tmp_path):
    answers = iter([None, True, 0, "", []])
    run = train("hopper-speed", steps=1000, out=tmp_path / "r", on_iteration=lambda *a: next(answers), **SMALL)
    assert len(run.progress()["steps"]) == 5


@pytest.mark.parametrize("error", [ZeroDivisionError("mine"), UserError("mine"), SystemExit(3)])
def test_an_error_leaves_a_checkpoint_and_says_so(error, tmp_path, caplog):
    def fail(row, view):
        if view.iteration == 2:
            raise error

    with pytest.raises(type(error)) as raised:
        train("hopper-speed", steps=800, out=tmp_path / "r", on_iteration=fail, **SMALL)
    assert raised.value is error  # itself, for whoever waits for it
    run = Run(tmp_path / "r")
    assert run.latest()[0]["counters"][0] == 2
    (note,) = error.__notes__
    assert "after iteration 2" in note and str(run.checkpoints()[0]) in note and "cuprl.resume(" in note
    assert "on_iteration raised" in caplog.text and f"cup resume {run.path}" in caplog.text
    assert len(resume(run).progress()["steps"]) == 4


@pytest.mark.parametrize(
    "hook, words",
    [(3, "on_iteration is 3; give a function of two"), (lambda row: None, "cannot be called .*; give a function")],
)
def test_what_cannot_be_called_is_refused_before_anything_is_made(hook, words, tmp_path):
    with pytest.raises(UserError, match=words):
        train("hopper-speed", steps=800, out=tmp_path / "r", on_iteration=hook, **SMALL)
    assert not (tmp_path / "r").exists()
    run = train("hopper-speed", steps=200, out=tmp_path / "r", **SMALL)
    with pytest.raises(UserError, match=words):
        resume(run, on_iteration=hook)


def test_its_policy_is_evaluated_on_a_task_that_no_name_finds(tmp_path):
    found = []

    def look(row, view):
        found.append(cuprl.evaluate(view.policy(), 3)["length_mean"])

    probe = Probe("mine", constant(1), constant(0), length=4)
    train(probe, steps=200, out=tmp_path / "r", on_iteration=look, **SMALL)
    assert found == [4.0]


def test_the_view_is_to_look_at(tmp_path):
    def look(row, view):
        assert repr(view) == "<training of hopper-speed by cup, iteration 1 of 1>"
        for name in ("iteration", "run", "anything"):
            with pytest.raises(AttributeError):
                setattr(view, name, 7)

    train("hopper-speed", steps=200, out=tmp_path / "r", on_iteration=look, **SMALL)


# --- messages ----------------------------------------------------------------------------------------------------


def test_a_library_prints_nothing_unless_asked(tmp_path, capfd, caplog):
    with caplog.at_level(logging.INFO, "cuprl"):
        run = train("hopper-speed", steps=400, out=tmp_path / "r", **SMALL)
    assert capfd.readouterr() == ("", "")
    lines = [(record.name, record.levelname, record.getMessage()) for record in caplog.records]
    assert lines[0] == ("cuprl.training", "INFO", f"run {run.path}") and "iteration 2/2" in lines[-1][2]
    train("hopper-speed", steps=400, out=tmp_path / "shown", display=True, **SMALL)
    assert f"run {tmp_path / 'shown'}\n" in capfd.readouterr().out


def test_warnings_of_a_run_do_not_reach_stderr_by_themselves():
    (handler,) = logging.getLogger("cuprl").handlers  # else Python prints them as a last resort
    assert isinstance(handler, logging.NullHandler)
