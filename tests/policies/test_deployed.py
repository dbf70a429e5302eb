"""Policies in files: what is no policy, is damaged or could not act is refused where it is read."""

import json

import numpy as np
import onnx
import pytest

import cuprl
from cuprl.cli import main
from cuprl.errors import UserError
from cuprl.policies import export
from cuprl.policies.deployed import KEY
from cuprl.policies.export import SUFFIXES, export_policy
from policies.arms import SPECS, agent_with, archive, broken_arrays


@pytest.mark.parametrize(
    "name, content",
    [
        ("p.npz", b""),
        ("p.npz", b"hello"),
        ("p.npz", archive(x=np.zeros(3))),
        ("p.npz", archive(info=np.array({"a": 1}))),  # an object: would have to be unpickled
        ("p.npz", archive(info="{")),
        ("p.jax", archive(info='{"kind": "something else"}')),
        ("p.onnx", b"hello"),
    ],
)
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


@pytest.mark.parametrize(
    "to, name, value",
    [
        *((to, *broken) for to in ("numpy", "onnx") for broken in BROKEN),
        ("jax", "weight1", np.nan),
        ("jax", "mean", np.nan),  # a compiled program shows only what reaches its outputs
    ],
)
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


def rewritten(path, change):
    """The file with other metadata, its checksums made to fit."""
    if path.suffix == ".onnx":
        model = onnx.load(path)
        onnx.helper.set_model_props(model, {KEY: json.dumps(change(json.loads(model.metadata_props[0].value)))})
        path.write_bytes(model.SerializeToString())
    else:
        with np.load(path) as file:
            arrays = dict(file)
        path.write_bytes(archive(**arrays | {"info": json.dumps(change(json.loads(str(arrays["info"]))))}))


def another_dim(info):
    action = info["spec"]["action"]
    action.update(dim=4, low=4 * [-1.0], high=4 * [1.0])
    return info | {"log_std": 4 * [0.0]}


@pytest.mark.parametrize(
    "change, words",
    [
        (another_dim, "not of the spec's sizes"),
        (lambda info: info | {"log_std": None}, "log_std does not fit"),
        (lambda info: info | {"log_std": 3 * [10**400]}, "log_std does not fit"),
        (lambda info: info["spec"].update(action={"kind": "Discrete", "n": 3}) or info, "log_std does not fit"),
    ],
)
@pytest.mark.parametrize("to", SUFFIXES)
def test_a_file_whose_parts_do_not_fit_is_refused(to, change, words, run, tmp_path):
    file = export_policy(run, to, tmp_path / f"p{SUFFIXES[to]}")
    rewritten(file, change)
    with pytest.raises(UserError, match=words):
        cuprl.load(file, trust=True)


@pytest.mark.parametrize(
    "damage",
    [
        lambda model: model.graph.initializer[2].CopyFrom(
            onnx.numpy_helper.from_array(np.ones(2), "clip")
        ),  # seen when it runs
        lambda model: model.graph.node.pop(),
        lambda model: setattr(model.graph.node[3], "op_type", "Unheard"),
    ],
)
def test_an_onnx_file_that_cannot_run_gets_one_sentence(damage, run, tmp_path, capfd):
    """And nothing else: ONNX Runtime would print lines of its own."""
    file = export_policy(run, "onnx", tmp_path / "p.onnx")
    model = onnx.load(file)
    damage(model)
    file.write_bytes(model.SerializeToString())
    assert main(["eval", str(file), "--episodes", "1"]) == 2
    shown = capfd.readouterr()
    assert shown.err.startswith(f"cup: {file} is damaged") and shown.err.count("\n") == 1 and not shown.out


def test_an_onnx_file_whose_metadata_is_no_text_gets_one_sentence(run, tmp_path, capfd):
    file = export_policy(run, "onnx", tmp_path / "p.onnx")
    file.write_bytes(file.read_bytes().replace(b'"bounds": "n', b'"bounds": "\xff'))
    assert main(["eval", str(file), "--episodes", "1"]) == 2
    shown = capfd.readouterr()
    assert shown.err.startswith(f"cup: {file} is damaged") and shown.err.count("\n") == 1 and not shown.out


def test_a_jax_file_whose_program_is_none_is_refused(run, tmp_path):
    file = export_policy(run, "jax", tmp_path / "p.jax")
    info = json.dumps(cuprl.load(run).info)
    for artifact in (b"", b"hello", bytes(1000)):
        file.write_bytes(archive(info=info, artifact=np.frombuffer(artifact, np.uint8)))
        with pytest.raises(UserError, match="damaged or not a policy"):
            cuprl.load(file, trust=True)
