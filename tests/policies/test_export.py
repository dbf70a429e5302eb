"""Exported policies act as the run's own: each format, each kind of action; and what `cup export` says."""

import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import cuprl
from cuprl.cli import main
from cuprl.core.spec_json import spec_from_json
from cuprl.errors import UserError
from cuprl.policies.export import SUFFIXES, export_policy
from policies.arms import SPECS, agent_with
from small import SMALL

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("kind", SPECS)
@pytest.mark.parametrize("hidden, normalise", [((16, 16), True), ((), False)])
def test_every_format_acts_as_training_does(kind, hidden, normalise, tmp_path):
    agent, obs = agent_with(SPECS[kind], hidden, normalise)
    learner = agent.learner
    params, normalised = learner.numpy_policy(), learner.normaliser.apply(obs)
    rng = np.random.default_rng(5)
    size = (200, SPECS[kind].action.outputs)
    noise = rng.standard_normal(size, np.float32) if kind == "gaussian" else rng.gumbel(size=size)
    deviation = learner.policy.deviation(params, np.float32(noise), np)
    mode, sample = (learner.policy.act(params, normalised, z, np) for z in (None, deviation))
    original = agent.policy()
    np.testing.assert_array_equal(original.predict(obs), mode)
    for to, suffix in SUFFIXES.items():
        policy = cuprl.load(export_policy(original, to, tmp_path / f"policy{suffix}"), trust=to == "jax")
        np.testing.assert_allclose(policy.predict(obs), mode, rtol=1e-6, atol=1e-6, err_msg=to)
        policy.seed(5)
        np.testing.assert_allclose(policy.predict(obs, deterministic=False), sample, rtol=1e-6, atol=1e-6, err_msg=to)
        one = policy.predict(obs[3])
        assert np.shape(one) == SPECS[kind].action.shape
        np.testing.assert_allclose(one, mode[3], rtol=1e-6, atol=1e-6)
        assert policy.info["spec"] == original.info["spec"] and spec_from_json(policy.info["spec"]) == SPECS[kind]


def test_jax_export_under_jit_vmap_and_scan(tmp_path):
    import jax

    agent, obs = agent_with(SPECS["categorical"])
    policy = cuprl.load(export_policy(agent.policy(), "jax", tmp_path / "p.jax"), trust=True)
    obs = obs.astype(np.float32)
    mode = policy.predict(obs)
    for action in (
        jax.jit(policy.call)(obs)[0],
        jax.jit(jax.vmap(policy.call))(obs)[0],
        jax.lax.scan(lambda carry, o: (carry, policy.call(o)[0]), 0, obs)[1],
    ):
        np.testing.assert_array_equal(action, mode)


def test_onnx_alone_gives_the_action(run, tmp_path):
    """As a program in another language would use it: the model's own output `action`, and its metadata."""
    import onnx
    import onnxruntime

    file = export_policy(run, "onnx")
    assert file == run.path / "policy.onnx"
    onnx.checker.check_model(onnx.load(file), full_check=True)
    session = onnxruntime.InferenceSession(file)
    obs = np.random.default_rng(0).normal(size=(6, 11))
    (action,) = session.run(["action"], {"obs": obs})
    np.testing.assert_allclose(action, cuprl.load(run).predict(obs), rtol=1e-6, atol=1e-6)
    assert json.loads(session.get_modelmeta().custom_metadata_map["cuprl"])["task"] == "hopper-speed"


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
    assert info["iteration"] == 3 and info["versions"]["numpy"] == np.__version__
    assert main(["eval", str(file), "--episodes", "3", "--json"]) == 0  # an exported file is evaluated like a run
    again = json.loads(capsys.readouterr().out)
    assert again["return_mean"] == measured["return_mean"] and again["run"] == str(file)


def test_a_robot_of_ones_own_has_no_evaluation(tmp_path, capsys):
    agent = cuprl.Agent(SPECS["gaussian"], **{**SMALL, "num_envs": 1, "steps": 200})
    folder = agent.save(tmp_path / "arm").path
    assert main(["export", str(folder), "--to", "jax"]) == 0
    assert "no evaluation: unknown task 'arm'" in capsys.readouterr().err
    assert cuprl.load(folder / "policy.jax", trust=True).info["evaluation"] is None


def test_latency_table(run, capsys, monkeypatch):
    from cuprl.measure import latency

    monkeypatch.setattr(latency, "CALLS", 5)
    assert main(["export", str(run.path), "--latency"]) == 0
    shown = capsys.readouterr().out
    assert "network 11 x 8 x 3" in shown and all(name in shown for name in SUFFIXES) and shown.count("µs") == 6


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


@pytest.mark.parametrize("package, to", [("onnx", "onnx"), ("onnxruntime", "onnx")])
def test_a_missing_package_is_named(package, to, run, tmp_path, monkeypatch):
    file = export_policy(run, to, tmp_path / "p.onnx")
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(UserError, match=rf"needs {package}: pip install 'cuprl\[onnx\]'"):
        cuprl.load(file)
        export_policy(run, to, file)
