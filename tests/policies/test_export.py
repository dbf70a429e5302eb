"""Exported policies act as the run's own: each format, each kind of action, without JAX, and damaged files are refused."""

import io
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import cuprl
from cuprl.cli import main
from cuprl.core.spec_json import spec_from_json, spec_to_json
from cuprl.errors import UserError
from cuprl.policies import export
from cuprl.policies.export import SUFFIXES, export_policy
from cuprl.policies.of_run import RunPolicy
from cuprl.runs.folder import Run
from cuprl.training.learner import Learner, Plan
from cuprl.training.loop import train
from small import QUIET, SMALL

ROOT = Path(__file__).parents[2]
COST = (cuprl.Constraint("cost", 1.0),)
SPECS = {
    "gaussian": cuprl.Spec("arm", 5, cuprl.Box(2, (-1.0, -np.inf), (1.0, 0.5)), COST, 100),
    "categorical": cuprl.Spec("lift", 5, cuprl.Discrete(4), COST, 100),
    "multi": cuprl.Spec("desk", 5, cuprl.MultiDiscrete((3, 2, 4)), COST, 100),
}


def learner_with(spec, hidden=(16, 16), normalise=True):
    """A learner that has seen observations far from 0, one of them constant: there the normaliser scales by 10 000."""
    config = {"algo": "cup", "seed": 1, "steps": 5000, "settings": {"hidden": hidden, "normalise": normalise}}
    learner = Learner(Plan.of(config), spec)
    obs = np.random.default_rng(0).normal((0, 3, -50, 0.1, 800), (1, 0.1, 5, 0, 100), size=(1000, 5))
    learner.normaliser = learner.normaliser.update(obs)
    return learner, obs[:200]


def policy_of(learner):
    settings = {"hidden": learner.config.hidden, "normalise": learner.config.normalise, "batch_size": 5000}
    config = {"task": learner.spec.name, "algo": "cup", "seed": 1, "limits": {"cost": 1.0}, "settings": settings,
              "spec": spec_to_json(learner.spec)}  # fmt: skip
    return RunPolicy(learner.arrays(), config)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return train("hopper-speed", steps=600, out=tmp_path_factory.mktemp("runs") / "r", **SMALL, **QUIET)


@pytest.mark.parametrize("kind", SPECS)
@pytest.mark.parametrize("hidden, normalise", [((16, 16), True), ((), False)])
def test_every_format_acts_as_training_does(kind, hidden, normalise, tmp_path):
    learner, obs = learner_with(SPECS[kind], hidden, normalise)
    params, normalised = learner.numpy_policy(), learner.normaliser.apply(obs)
    rng = np.random.default_rng(5)
    noise = rng.standard_normal((200, 2), np.float32) if kind == "gaussian" else rng.gumbel(size=(200, learner.policy.n))
    deviation = learner.policy.deviation(params, np.float32(noise), np)
    mode, sample = (learner.policy.act(params, normalised, z, np) for z in (None, deviation))
    original = policy_of(learner)
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


def test_bounds_are_told_and_applied_on_request(tmp_path):
    learner, _ = learner_with(SPECS["gaussian"])
    policy = cuprl.load(export_policy(policy_of(learner), out=tmp_path / "p.npz"))
    assert policy.info["spec"]["action"]["low"] == [-1.0, None] and "not applied" in policy.info["bounds"]
    np.testing.assert_array_equal(policy.clip(np.array([[3.0, -7.0], [-3.0, 7.0]])), [[1.0, -7.0], [-1.0, 0.5]])


def test_jax_export_under_jit_vmap_and_scan(tmp_path):
    import jax

    learner, obs = learner_with(SPECS["categorical"])
    policy = cuprl.load(export_policy(policy_of(learner), "jax", tmp_path / "p.jax"), trust=True)
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


def python(code, *arguments):
    """In a fresh process where JAX cannot be imported."""
    blocked = "import sys; sys.modules['jax'] = None\n"
    done = subprocess.run([sys.executable, "-c", blocked + code, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_numpy_needs_no_jax_and_the_page_no_cuprl(run, tmp_path):
    file = export_policy(run, out=tmp_path / "policy.npz")
    np.save(tmp_path / "obs.npy", np.random.default_rng(0).normal(size=(6, 11)))
    expected = cuprl.load(run).predict(np.load(tmp_path / "obs.npy")).tolist()
    code = "import cuprl, json, numpy as np; policy = cuprl.load(sys.argv[1])\n"
    code += "print(json.dumps(policy.predict(np.load(sys.argv[2])).tolist()))"
    assert python(code, file, tmp_path / "obs.npy") == expected
    (snippet,) = re.findall(r"```python\n(# no cuprl.*?)```", (ROOT / "docs" / "deploy.md").read_text(), re.DOTALL)
    code = "sys.modules['cuprl'] = None; import os; os.chdir(sys.argv[2])\n" + snippet
    code += "\nprint(json.dumps(act(np.load(sys.argv[1])).tolist()))"
    assert python(code, tmp_path / "obs.npy", tmp_path) == expected


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
    assert "hopper-speed, cup, 3 episodes" in shown and str(file) in shown
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


@pytest.mark.parametrize("argv, words", [
    (["export", "nowhere"], "not a run"),
    (["export", "{run}", "--to", "onix"], "did you mean onnx"),
    (["export", "{run}", "--to", "onnx", "--out", "p.npz"], "does not end in .onnx"),
    (["export", "{run}", "--episodes", "-1"], "--episodes is -1"),
    (["export", "{run}", "--latency", "--out", "p.npz"], "--latency writes no file"),
    (["eval", "nowhere.npz"], "there is no file nowhere.npz"),
])  # fmt: skip
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


def archive(**contents):
    file = io.BytesIO()
    np.savez(file, **contents)
    return file.getvalue()


@pytest.mark.parametrize("name, content", [
    ("p.npz", b""),
    ("p.npz", b"hello"),
    ("p.npz", archive(x=np.zeros(3))),
    ("p.npz", archive(info=np.array({"a": 1}))),  # an object: would have to be unpickled
    ("p.npz", archive(info="{")),
    ("p.jax", archive(info='{"kind": "something else"}')),
    ("p.onnx", b"hello"),
])  # fmt: skip
def test_a_file_of_another_kind_is_refused(name, content, tmp_path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UserError, match="not a policy"):
        cuprl.load(tmp_path / name, trust=True)


def test_an_unknown_kind_of_file_is_refused(tmp_path):
    (tmp_path / "p.pkl").write_bytes(b"hello")
    with pytest.raises(UserError, match=r"unknown kind of policy file '.pkl'.* Accepted: .npz, .onnx, .jax"):
        cuprl.load(tmp_path / "p.pkl")


@pytest.mark.parametrize("to", SUFFIXES)
def test_a_damaged_file_is_refused(to, run, tmp_path):
    file = export_policy(run, to, tmp_path / f"p{SUFFIXES[to]}")
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2])
    with pytest.raises(UserError, match="damaged or not a policy"):
        cuprl.load(file, trust=True)
    if to != "onnx":  # its format has no checksum
        altered = bytearray(content)
        altered[len(content) // 2] ^= 1
        file.write_bytes(altered)
        with pytest.raises(UserError, match="damaged or not a policy"):
            cuprl.load(file, trust=True)


def test_a_wrong_observation_is_told(run):
    with pytest.raises(UserError, match=r"shape \[10\]; this policy takes \[11\] or \[N, 11\]"):
        cuprl.load(run).predict(np.zeros(10))


def test_a_run_from_before_the_spec_was_kept(run, tmp_path):
    config = json.loads((run.path / "config.json").read_text())
    del config["spec"]
    old = Run.create(tmp_path / "old", config)
    old.save(3, run.latest()[0])
    np.testing.assert_array_equal(cuprl.load(old).predict(np.ones(11)), cuprl.load(run).predict(np.ones(11)))
    config["settings"]["hidden"] = [8, 8]
    (old.path / "config.json").write_text(json.dumps(config))
    with pytest.raises(UserError, match="does not fit the run's settings"):
        cuprl.load(old.path)


# --- numbers that are none ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("to", [None, *SUFFIXES])
def test_an_observation_that_is_none_gets_no_action(to, tmp_path):
    learner, obs = learner_with(SPECS["gaussian"])
    policy = policy_of(learner)
    policy = policy if to is None else cuprl.load(export_policy(policy, to, tmp_path / f"p{SUFFIXES[to]}"), trust=True)
    for value, shown in ((np.nan, "nan"), (-np.inf, "-inf"), (1e308, r"1e\+308")):
        broken = obs.copy()
        broken[7, 3] = value
        for seen in (broken, broken[7]):
            with pytest.raises(UserError, match=rf"obs\[3\] is {shown}: the policy has no action"):
                policy.predict(seen)
    with pytest.raises(UserError, match="the action is NaN in entry 1; send none"):
        policy.clip(np.array([[0.5, 0.5], [0.5, np.nan]]))
    assert np.isfinite(policy.predict(obs * 1e10)).all()


@pytest.mark.parametrize("to", [None, "numpy"])
def test_a_strange_observation_is_told_entry_by_entry(to, tmp_path):
    learner, obs = learner_with(SPECS["gaussian"])
    policy = policy_of(learner)
    policy = policy if to is None else cuprl.load(export_policy(policy, to, tmp_path / "p.npz"))
    mean, deviation = learner.normaliser.mean, 1 / learner.normaliser.scale
    assert not policy.strange(mean + 4.99 * deviation).any() and policy.strange(mean - 5.01 * deviation).all()
    odd = obs.copy()
    odd[7, 2], odd[8, 0], odd[9, 3] = 800.0, np.nan, -np.inf
    found = policy.strange(odd)
    assert found.shape == odd.shape and np.argwhere(found & ~policy.strange(obs)).tolist() == [[7, 2], [8, 0], [9, 3]]
    assert np.abs(learner.normaliser.apply(odd))[7, 2] == 5.0  # all that the policy sees of it
    with pytest.raises(UserError, match=r"shape \[4\]; this policy takes \[5\]"):
        policy.strange(np.zeros(4))


def test_where_it_is_not_known_what_is_strange(tmp_path):
    policy = policy_of(learner_with(SPECS["gaussian"], normalise=False)[0])
    with pytest.raises(UserError, match="trained with normalise=False"):
        policy.strange(np.zeros(5))
    for to in ("onnx", "jax"):
        exported = cuprl.load(export_policy(policy, to, tmp_path / f"p{SUFFIXES[to]}"), trust=True)
        with pytest.raises(UserError, match=r"does not show what its normaliser saw; load the run, or export it as .npz"):
            exported.strange(np.zeros(5))


def broken_arrays(arrays, name, value):
    broken = {**arrays, name: arrays[name].copy()}
    broken[name].flat[0] = value
    return broken


BROKEN = [("weight1", np.nan), ("weight0", np.inf), ("bias0", -np.inf), ("mean", np.nan), ("scale", 0.0)]


@pytest.mark.parametrize("to, name, value", [
    *((to, *broken) for to in ("numpy", "onnx") for broken in BROKEN),
    ("jax", "weight1", np.nan), ("jax", "mean", np.nan),  # a compiled program shows only what reaches its outputs
])  # fmt: skip
def test_a_file_with_weights_that_are_none_is_refused(to, name, value, tmp_path):
    policy = policy_of(learner_with(SPECS["gaussian"])[0])
    write = {"numpy": export.numpy_bytes, "onnx": export.onnx_bytes, "jax": export.jax_bytes}[to]
    file = tmp_path / f"p{SUFFIXES[to]}"
    file.write_bytes(write(policy.info, broken_arrays(policy.arrays, name, value)))
    with pytest.raises(UserError, match="NaN or infinite weights"):
        cuprl.load(file, trust=True)


def test_a_file_with_a_spread_that_is_none_is_refused(tmp_path):
    policy = policy_of(learner_with(SPECS["gaussian"])[0])
    info = json.dumps({**policy.info, "log_std": [0.0, float("nan")]})
    (tmp_path / "p.npz").write_bytes(archive(info=info, **policy.arrays))
    with pytest.raises(UserError, match="NaN or infinite weights"):
        cuprl.load(tmp_path / "p.npz")


@pytest.mark.parametrize("name, value", [("learner['state'].policy['layers'][0][0]", np.nan),
                                         ("learner['normaliser']['var']", np.inf)])  # fmt: skip
def test_a_checkpoint_with_weights_that_are_none_is_refused(name, value, run, tmp_path, capsys):
    broken = Run.create(tmp_path / "broken", {**run.config, "steps": 800})
    broken.save(3, broken_arrays(run.latest()[0], name, value))
    assert main(["eval", str(broken.path)]) == 2
    assert "NaN or infinite weights" in capsys.readouterr().err
    assert main(["resume", str(broken.path)]) == 2
    assert f"the checkpoint's {name} is NaN or infinite" in capsys.readouterr().err
