"""Activations, squashed policies and encoders: every format acts as training does, says what it is, and old files open."""

import json
import subprocess
import sys

import numpy as np
import pytest

import cuprl
from cuprl.cli import main
from cuprl.core import user_modules
from cuprl.core.user_modules import NotTrusted
from cuprl.errors import UserError
from cuprl.policies.export import SUFFIXES, export_policy
from cuprl.policies.of_run import BOUNDS, WITHIN_BOUNDS
from policies.arms import COST, SPECS, agent_with, archive
from small import QUIET, SMALL

BOUNDED = cuprl.Spec("arm", 5, cuprl.Box(2, (-1.0, 0.1), (1.0, 0.7)), COST, 100)
ENCODERS = """
import numpy as np

import cuprl


def init(key, obs_dim):
    import jax

    return {"first": [(jax.random.normal(key, (obs_dim, 6)), jax.numpy.ones(6))]}


def apply(params, obs):
    import jax.numpy as jnp

    ((weight, bias),) = params["first"]
    return jnp.cos(obs @ weight + bias)


def in_numpy(params, obs):
    ((weight, bias),) = params["first"]
    return np.cos(obs @ weight + bias)


COSINES = cuprl.Encoder(init, apply, in_numpy)
JAX_ONLY = cuprl.Encoder(init, apply)
SORTED = cuprl.Encoder(init, lambda params, obs: apply(params, obs).sort(axis=1))
"""


@pytest.fixture
def encoders(own_module):
    """A module of one's own with encoders, in the working folder."""
    own_module("own_encoders", ENCODERS)
    return "own_encoders"


def tried(agent, obs, tmp_path, formats=SUFFIXES):
    """Compare each format with the learner's own actions; returns the policies as they were read."""
    learner = agent.learner
    params, normalised = learner.numpy_policy(), learner.normaliser.apply(obs)
    noise = np.random.default_rng(5).standard_normal((len(obs), 2), np.float32)
    drawn = (learner.policy.act(params, normalised, z, np) for z in (None, learner.policy.deviation(params, noise, np)))
    mode, sample = (learner.policy.command(action, np) for action in drawn)
    original = agent.policy()
    np.testing.assert_allclose(original.predict(obs), mode, rtol=1e-6, atol=1e-6)
    read = {}
    for to in formats:
        path = export_policy(original, to, tmp_path / f"policy{SUFFIXES[to]}")
        read[to] = policy = cuprl.load(path, trust=to == "jax")
        np.testing.assert_allclose(policy.predict(obs), mode, rtol=2e-6, atol=2e-6, err_msg=to)
        policy.seed(5)
        np.testing.assert_allclose(policy.predict(obs, deterministic=False), sample, rtol=2e-6, atol=2e-6, err_msg=to)
        np.testing.assert_allclose(policy.predict(obs[3]), mode[3], rtol=2e-6, atol=2e-6, err_msg=to)
    return read


@pytest.mark.parametrize("activation", ["relu", "elu", "swish"])
@pytest.mark.parametrize("policy", ["gaussian", "squashed"])
def test_every_format_acts_as_training_does(activation, policy, tmp_path):
    agent, obs = agent_with(BOUNDED, activation=activation, policy=policy)
    for read in tried(agent, obs, tmp_path).values():
        assert read.info["kind"] == "cuprl policy 2" and read.info["activation"] == activation
        assert read.info.get("policy", "gaussian") == policy
        assert read.info["bounds"] == (WITHIN_BOUNDS if policy == "squashed" else BOUNDS)


def test_a_squashed_policy_stays_within_its_bounds(tmp_path):
    agent, obs = agent_with(BOUNDED, policy="squashed", init_log_std=2.0)
    for read in tried(agent, obs, tmp_path).values():
        action = read.predict(obs, deterministic=False)
        np.testing.assert_array_equal(read.clip(action), action)
        assert (np.ptp(action, axis=0) > [1.9, 0.55]).all()  # all of the room is used
    assert read.info["policy"] == "squashed" and "activation" not in read.info
    shown = agent.act(obs[0])
    assert (np.abs(shown) <= [1.0, 0.7]).all()
    np.testing.assert_array_equal(agent.learner.policy.command(agent.batch.rollout.action[0], np)[0], shown)


def test_an_encoder_travels(encoders, tmp_path):
    agent, obs = agent_with(BOUNDED, encoder="own_encoders:COSINES", activation="relu")
    read = tried(agent, obs, tmp_path)
    assert read["numpy"].info["encoder"] == "own_encoders:COSINES"
    assert read["numpy"].strange(obs + 1e6).all() and not read["numpy"].strange(obs[:3]).any()
    assert set(read["numpy"].arrays) > {"encoder/first/0/0", "encoder/first/0/1", "weight0", "mean"}


def test_a_file_with_an_encoder_acts_where_there_is_only_numpy(encoders, tmp_path):
    agent, obs = agent_with(BOUNDED, encoder="own_encoders:COSINES", activation="swish", policy="squashed")
    policy = agent.policy()
    export_policy(policy, out=tmp_path / "policy.npz")
    np.save(tmp_path / "obs.npy", obs)
    script = """
import sys
sys.modules["jax"] = sys.modules["gymnasium"] = sys.modules["safetensors"] = None
import numpy as np, cuprl
np.save("action.npy", cuprl.load("policy.npz", trust="own_encoders").predict(np.load("obs.npy")))
"""
    subprocess.run([sys.executable, "-c", script], check=True, cwd=tmp_path)
    np.testing.assert_array_equal(np.load(tmp_path / "action.npy"), policy.predict(obs))


def test_code_that_a_file_names_needs_trust(encoders, tmp_path):
    agent, obs = agent_with(BOUNDED, encoder="own_encoders:COSINES")
    file = export_policy(agent.policy(), out=tmp_path / "policy.npz")
    whole = [export_policy(agent.policy(), to, tmp_path / f"policy.{to}") for to in ("jax", "onnx")]
    action = agent.policy().predict(obs)
    given = sys.modules.pop("own_encoders").COSINES
    user_modules._named.clear()
    with pytest.raises(NotTrusted, match=r"policy\.npz names the module own_encoders"):
        cuprl.load(file)
    assert "own_encoders" not in sys.modules
    for program in whole:
        np.testing.assert_allclose(cuprl.load(program, trust=True).predict(obs), action, rtol=2e-6, atol=2e-6)
    assert "own_encoders" not in sys.modules  # the programs have it in themselves
    np.testing.assert_array_equal(cuprl.load(file, encoder=given).predict(obs), action)
    user_modules._named.clear()
    np.testing.assert_array_equal(cuprl.load(file, trust="own_encoders").predict(obs), action)


def test_policies_of_agents_and_hooks_tell_the_code_they_were_trained_with(encoders, tmp_path):
    agent, _ = agent_with(BOUNDED, encoder="own_encoders:COSINES")
    sources = agent.policy().info["sources"]
    assert list(sources) == ["own_encoders"]
    agent.save(tmp_path / "arm")
    with open(tmp_path / "own_encoders.py", "a") as file:
        file.write("# changed\n")
    assert agent.policy().info["sources"] == sources  # as its folder has it
    prints = {policy.fingerprint for policy in (agent.policy(), cuprl.load(tmp_path / "arm"))}
    seen = []
    small = {**SMALL, "hidden": (8,), "encoder": "own_encoders:COSINES"}
    run = cuprl.train(
        "swimmer-speed", steps=200, out=tmp_path / "r", on_iteration=lambda row, view: seen.append(view.policy()), **small
    )
    assert seen[0].info["sources"] == run.config["sources"] != sources
    assert seen[0].info["versions"] == run.config["versions"]
    assert len(prints) == 1 and cuprl.load(run).fingerprint == seen[0].fingerprint not in prints


def test_an_encoder_without_numpy_acts_but_is_no_npz(encoders, tmp_path, capsys):
    agent, obs = agent_with(BOUNDED, encoder="own_encoders:JAX_ONLY")
    tried(agent, obs, tmp_path, ["jax", "onnx"])
    with pytest.raises(UserError, match=r"JAX_ONLY has no function in NumPy.*Encoder\(init, apply, numpy\).*--to jax"):
        export_policy(agent.policy(), out=tmp_path / "policy.npz")
    folder, file = agent.save(tmp_path / "arm").path, tmp_path / "p.npz"
    for command in (["export"], ["certify", "--out", str(file)]):  # certify knows it before it asks for the task
        assert main([*command, str(folder), "--import", "own_encoders"]) == 2
        shown = capsys.readouterr()
        assert "no function in NumPy" in shown.err and shown.err.count("\n") == 1
    assert not file.exists() and not (folder / "policy.npz").exists()


def test_an_encoder_that_onnx_has_no_words_for(encoders, tmp_path, capsys):
    agent, _ = agent_with(BOUNDED, encoder="own_encoders:SORTED")
    folder = agent.save(tmp_path / "arm").path
    assert main(["export", str(folder), "--to", "onnx", "--import", "own_encoders"]) == 2
    shown = capsys.readouterr()
    assert "own_encoders:SORTED uses JAX's sort" in shown.err and "--to jax" in shown.err and shown.err.count("\n") == 1
    assert not shown.out and not (folder / "policy.onnx").exists()


def test_a_run_with_an_encoder_by_its_name(encoders, tmp_path, capsys):
    words = ["--batch-size", "200", "--hidden", "8", "--minibatch", "50", "--critic-epochs", "2", "--steps", "400"]
    train = ["train", "swimmer-speed", "--out", "run", "--encoder", "own_encoders:COSINES", "--policy", "squashed"]
    assert main([*train, *words, "--checkpoint-every", "1"]) == 0
    assert json.loads((tmp_path / "run" / "config.json").read_text())["sources"].keys() == {"own_encoders"}
    assert main(["export", "run", "--latency"]) == 0
    assert "network 8 by own_encoders:COSINES to 6 x 8 x 2" in capsys.readouterr().out
    user_modules._named.clear()
    for command in (["eval", "run", "--episodes", "1"], ["resume", "run"], ["export", "run"]):
        assert main(command) == 2
        shown = capsys.readouterr().err
        assert "names the module own_encoders" in shown and "--import own_encoders" in shown and shown.count("\n") == 1
    assert main(["eval", "run", "--episodes", "1", "--import", "own_encoders"]) == 0
    with open(tmp_path / "own_encoders.py", "a") as file:
        file.write("# changed\n")
    assert main(["eval", "run", "--episodes", "1", "--import", "own_encoders"]) == 0
    assert "own_encoders" in capsys.readouterr().err  # it is not the code that the policy was trained with


def test_usual_policies_are_written_as_before():
    info = agent_with(SPECS["gaussian"])[0].policy().info
    assert info["kind"] == "cuprl policy 1" and not {"activation", "policy", "encoder"} & info.keys()


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"activation": "selu"}, "its activation is 'selu'"),
        ({"activation": ["tanh"]}, "unhashable"),
        ({"policy": "beta"}, "its policy is 'beta'"),
        ({"policy": "squashed"}, "squashed into bounds that its actions have not"),
        ({"encoder": 3}, "its encoder is 3"),
        ({"kind": "cuprl policy 3"}, "lacks the mark"),
    ],
)
def test_damaged_files(changes, words, tmp_path):
    policy = agent_with(SPECS["gaussian"])[0].policy()  # of which one action has no bound
    info = json.dumps({**policy.info, "kind": "cuprl policy 2", **changes})
    (tmp_path / "p.npz").write_bytes(archive(info=info, **policy.arrays))
    with pytest.raises(UserError, match=words):
        cuprl.load(tmp_path / "p.npz")


def test_damaged_parameters_of_an_encoder(encoders, tmp_path):
    policy = agent_with(BOUNDED, encoder="own_encoders:COSINES")[0].policy()
    for name, array in (("encoder/first/0/0", np.zeros((5, 7), np.float32)), ("encoder/first/0/1", np.full(6, np.nan))):
        (tmp_path / "p.npz").write_bytes(archive(info=json.dumps(policy.info), **{**policy.arrays, name: array}))
        with pytest.raises(UserError, match="is damaged or not a policy"):
            cuprl.load(tmp_path / "p.npz")


@pytest.mark.parametrize(
    "settings, words",
    [
        ({"activation": "selu"}, "activation is 'selu'; accepted: tanh, relu, elu, swish"),
        ({"policy": "beta"}, "policy is 'beta'; accepted: gaussian, squashed"),
        ({"encoder": 3}, "encoder is 3; give a cuprl.Encoder"),
        ({"encoder": "cnn"}, "encoder is 'cnn'; give MODULE:NAME"),
    ],
)
def test_wrong_settings(settings, words, tmp_path):
    with pytest.raises(UserError, match=words):
        cuprl.train("swimmer-speed", steps=400, out=tmp_path / "r", **SMALL, **QUIET, **settings)
    assert not (tmp_path / "r").exists()
