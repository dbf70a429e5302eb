"""Policies in files: they act within bounds, refuse what they have no action for, and damaged ones are refused."""

import json

import numpy as np
import pytest
from arms import SPECS, agent_with, archive, broken_arrays

import cuprl
from cuprl.errors import UserError
from cuprl.policies import export
from cuprl.policies.export import SUFFIXES, export_policy


def test_bounds_are_told_and_applied_on_request(tmp_path):
    agent, _ = agent_with(SPECS["gaussian"])
    policy = cuprl.load(export_policy(agent.policy(), out=tmp_path / "p.npz"))
    assert policy.info["spec"]["action"]["low"] == [-1.0, None] and "not applied" in policy.info["bounds"]
    np.testing.assert_array_equal(policy.clip(np.array([[3.0, -7.0], [-3.0, 7.0]])), [[1.0, -7.0], [-1.0, 0.5]])


def test_predict_takes_one_observation_or_many(run):
    saved = cuprl.load(run)
    obs = np.random.default_rng(0).normal(size=(6, 11))
    many = saved.predict(obs)
    assert many.shape == (6, 3)
    np.testing.assert_allclose(saved.predict(obs[2]), many[2], rtol=1e-5)
    assert (saved.predict(obs, deterministic=False) != many).all()


def test_a_wrong_observation_is_told(run):
    with pytest.raises(UserError, match=r"shape \[10\]; this policy takes \[11\] or \[N, 11\]"):
        cuprl.load(run).predict(np.zeros(10))


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


@pytest.mark.parametrize("to", [None, *SUFFIXES])
def test_an_observation_that_is_none_gets_no_action(to, tmp_path):
    agent, obs = agent_with(SPECS["gaussian"])
    policy = agent.policy()
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


BROKEN = [("weight1", np.nan), ("weight0", np.inf), ("bias0", -np.inf), ("mean", np.nan), ("scale", 0.0)]


@pytest.mark.parametrize("to, name, value", [
    *((to, *broken) for to in ("numpy", "onnx") for broken in BROKEN),
    ("jax", "weight1", np.nan), ("jax", "mean", np.nan),  # a compiled program shows only what reaches its outputs
])  # fmt: skip
def test_a_file_with_weights_that_are_none_is_refused(to, name, value, tmp_path):
    policy = agent_with(SPECS["gaussian"])[0].policy()
    write = {"numpy": export.numpy_bytes, "onnx": export.onnx_bytes, "jax": export.jax_bytes}[to]
    file = tmp_path / f"p{SUFFIXES[to]}"
    file.write_bytes(write(policy.info, broken_arrays(policy.arrays, name, value)))
    with pytest.raises(UserError, match="NaN or infinite weights"):
        cuprl.load(file, trust=True)


def test_a_file_with_a_spread_that_is_none_is_refused(tmp_path):
    policy = agent_with(SPECS["gaussian"])[0].policy()
    info = json.dumps({**policy.info, "log_std": [0.0, float("nan")]})
    (tmp_path / "p.npz").write_bytes(archive(info=info, **policy.arrays))
    with pytest.raises(UserError, match="NaN or infinite weights"):
        cuprl.load(tmp_path / "p.npz")
