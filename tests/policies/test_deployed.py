"""Policies in files: what is no policy, is damaged or could not act is refused where it is read."""

import json

import numpy as np
import pytest
from arms import SPECS, agent_with, archive, broken_arrays

import cuprl
from cuprl.errors import UserError
from cuprl.policies import export
from cuprl.policies.export import SUFFIXES, export_policy


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
