"""Exporting: what a file carries along, what `cup export` says, and what it refuses."""

import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import cuprl
from cuprl.cli import main
from cuprl.errors import RunStopped, UserError
from cuprl.policies.export import SUFFIXES, export_policy
from policies.arms import SPECS
from small import SMALL

ROOT = Path(__file__).parents[2]


def test_python_of_the_page_runs(run, tmp_path, monkeypatch):
    export_policy(run, out=tmp_path / "policy.npz")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "deploy.md").read_text(), re.DOTALL)
    names = {}
    for block in blocks:
        exec(block, names)
    assert len(blocks) == 3 and names["action"].shape == (1,) and names["row"]["steps"] == 400
    assert cuprl.Agent.load(tmp_path / "runs" / "my-arm").done


def test_the_command_carries_the_evaluation(run, tmp_path, capsys):
    file = tmp_path / "deep" / "policy.npz"
    assert main(["export", str(run.path), "--out", str(file), "--episodes", "3"]) == 0
    shown = capsys.readouterr().out
    assert "hopper-speed, cup, iteration 3, 3 episodes" in shown and str(file) in shown
    info = cuprl.load(file).info
    measured = cuprl.evaluate(run, episodes=3)
    assert info["evaluation"]["return_mean"] == measured["return_mean"] and info["evaluation"]["cost_limit"] == 82.748
    assert cuprl.load(file).step_seconds == cuprl.load(run).step_seconds == 0.008
    assert info["iteration"] == 3 and info["versions"]["numpy"] == np.__version__
    assert main(["eval", str(file), "--episodes", "3", "--json"]) == 0  # an exported file is evaluated like a run
    again = json.loads(capsys.readouterr().out)
    assert again["return_mean"] == measured["return_mean"] and again["run"] == str(file)


def test_a_robot_of_ones_own_has_no_evaluation(tmp_path, capsys):
    agent = cuprl.Agent(SPECS["gaussian"], **{**SMALL, "num_envs": 1, "steps": 200})
    folder = agent.save(tmp_path / "arm").path
    assert main(["export", str(folder), "--to", "jax"]) == 0
    assert "no evaluation: unknown task 'arm'" in capsys.readouterr().err
    policy = cuprl.load(folder / "policy.jax", trust=True)
    assert policy.info["evaluation"] is None and policy.step_seconds is None


def test_where_its_environment_fails_the_file_has_no_evaluation(run, tmp_path, monkeypatch, capsys):
    def stopped(*_, **__):
        raise RunStopped("the environment raised")

    monkeypatch.setattr("cuprl.policies.evaluate.evaluate", stopped)
    assert main(["export", str(run.path), "--out", str(tmp_path / "policy.npz")]) == 0
    assert "note: the file carries no evaluation: the environment raised.\n" in capsys.readouterr().err
    assert cuprl.load(tmp_path / "policy.npz").info["evaluation"] is None


@pytest.mark.parametrize("to, more", [("onnx", []), ("onnx", ["--latency"]), ("jax", ["--trust", "--latency"])])
def test_a_policy_without_arrays_is_not_written_again(to, more, run, tmp_path, capsys):
    file = export_policy(run, to, tmp_path / f"policy{SUFFIXES[to]}")
    assert main(["export", str(file), *more]) == 2
    shown = capsys.readouterr()
    assert "does not show its arrays; give the run" in shown.err and shown.err.count("\n") == 1 and not shown.out


def test_latency_table(run, capsys, monkeypatch):
    from cuprl.measure import latency

    monkeypatch.setattr(latency, "CALLS", 5)
    assert main(["export", str(run.path), "--latency"]) == 0
    shown = capsys.readouterr().out
    assert "network 11 x 8 x 3" in shown and all(name in shown for name in SUFFIXES)
    assert shown.count("µs") == 7 and "due every 8,000 µs" in shown


@pytest.mark.parametrize(
    "argv, words",
    [
        (["export", "nowhere"], "not a run"),
        (["export", "{run}", "--to", "onix"], "did you mean onnx"),
        (["export", "{run}", "--to", "onnx", "--out", "p.npz"], "does not end in .onnx"),
        (["export", "{run}", "--episodes", "-1"], "--episodes is -1"),
        (["export", "{run}", "--latency", "--out", "p.npz"], "--latency writes no file"),
        (["eval", "nowhere.npz"], "there is no file nowhere.npz"),
    ],
)
def test_wrong_words(argv, words, run, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main([word.format(run=run.path) for word in argv]) == 2
    shown = capsys.readouterr()
    assert words in shown.err and shown.err.count("\n") == 1 and not shown.out
    assert not list(tmp_path.iterdir())


def test_a_file_that_cannot_be_written_is_known_before_the_evaluation(run, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("cuprl.policies.evaluate.evaluate", None)
    (tmp_path / "p.npz").mkdir()
    for out in (str(tmp_path / "p.npz"), "/proc/p.npz"):
        assert main(["export", str(run.path), "--out", out]) == 2
        shown = capsys.readouterr()
        assert out in shown.err and shown.err.count("\n") == 1 and not shown.out


@pytest.mark.parametrize("package, to", [("onnx", "onnx"), ("onnxruntime", "onnx")])
def test_a_missing_package_is_named(package, to, run, tmp_path, monkeypatch):
    file = export_policy(run, to, tmp_path / "p.onnx")
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(UserError, match=rf"needs {package}: pip install 'cuprl\[onnx\]'"):
        cuprl.load(file)
        export_policy(run, to, file)
