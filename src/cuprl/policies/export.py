"""A run's policy in one file that needs neither the run nor the training code: `deployed` reads it again.

The file holds the normaliser, the network and, as JSON, what the policy is: task, limits, spec, bounds, what it was
measured to do. Raw observations are normalised in float64 and the network computes in float32, as in training.
"""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np

from cuprl.core.actions import Box, Discrete
from cuprl.core.activations import USUAL
from cuprl.core.encoder import Encoder, from_names
from cuprl.core.normaliser import Normaliser
from cuprl.core.spec_json import action_from_json
from cuprl.errors import UserError, unknown
from cuprl.policies.acting import decoder
from cuprl.policies.certificate import Certificate
from cuprl.policies.checks import layers_of, of_encoder
from cuprl.policies.deployed import KEY, SavedPolicy, double_precision
from cuprl.policies.load import loaded
from cuprl.runs.files import write_atomically
from cuprl.runs.folder import Run

SUFFIXES = {"numpy": ".npz", "onnx": ".onnx", "jax": ".jax"}
PLATFORMS = ("cpu", "cuda", "rocm", "tpu")  # what a .jax file runs on


def export_policy(
    run: str | Path | Run | SavedPolicy,
    to: str = "numpy",
    out: str | Path | None = None,
    evaluation: Any = None,
    certificate: Certificate | None = None,
    *,
    checkpoint: str | int | None = None,
) -> Path:
    """Write a policy into one file, with all that acting needs, and return the file.

    Args:
        run: a run or its folder, a .npz file, "zoo:NAME", or such a policy as `load` gave it.
        to: "numpy" (.npz), "onnx" or "jax".
        out: the file [`policy` with the format's suffix, in the run's folder; beside a policy's file].
        evaluation: what `evaluate` returned, to be carried along [what a file carries already].
        certificate: what `certify` returned, to be carried along; that of another checkpoint is refused [likewise].
        checkpoint: as for `load`.
    """
    check(to, out)
    policy = loaded(run, checkpoint)
    if not policy.arrays:
        raise UserError(f"{policy.source} does not show its arrays; give the run it was exported from, or a .npz file.")
    path = Path(out) if out is not None else policy.beside("policy" + SUFFIXES[to], SUFFIXES[to])
    if path is None:
        raise UserError("this policy has no folder yet; give the file to write as out=.")
    writer = {"numpy": numpy_bytes, "onnx": onnx_bytes, "jax": jax_bytes}[to]
    refuse_unwritable(policy, to)
    info = {**policy.info, **as_carried(evaluation), **carried(certificate, policy)}
    content = writer(info, policy.arrays, policy.encoder)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, content)
    return path


def as_carried(evaluation: dict[str, Any] | None) -> dict[str, Any]:
    """The entry of a policy's info: what its other entries do not say."""
    if evaluation is None:
        return {}
    return {"evaluation": {k: v for k, v in evaluation.items() if k not in ("task", "algo", "iteration", "run")}}


def carried(certificate: Certificate | None, policy: SavedPolicy) -> dict[str, Any]:
    """The entry of a policy's info; the certificate of another checkpoint is refused."""
    if certificate is None:
        return {}
    certificate.refuse_other(policy)
    return {"certificate": certificate.to_json()}


def write_with_certificate(policy: SavedPolicy, certificate: Certificate, out: Path) -> None:
    """A .npz file of the same policy, made of plain arrays, that carries the certificate."""
    out.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(out, numpy_bytes({**policy.info, **carried(certificate, policy)}, policy.arrays, policy.encoder))


def check(to: str, out: str | Path | None = None) -> None:
    """Refuse what cannot be written, before anything is done for it."""
    if to not in SUFFIXES:
        raise unknown("format", to, SUFFIXES)
    if out is not None and Path(out).suffix != SUFFIXES[to]:
        raise UserError(f"{out} does not end in {SUFFIXES[to]}, as a file of the format {to} must; name it so.")
    if to == "onnx":
        try:
            import onnx  # noqa: F401
        except ImportError:
            raise UserError("writing an .onnx file needs onnx: pip install 'cuprl[onnx]'.") from None


def refuse_unwritable(policy: SavedPolicy, to: str) -> None:
    """Refuse a format that cannot hold the policy's encoder."""
    encoder = policy.encoder
    if encoder is None or to == "jax" or (to == "numpy" and encoder.numpy is not None):
        return
    lacks = "no function in NumPy, which a .npz file acts with" if to == "numpy" else "no graph for an .onnx file"
    fix = "give it one, Encoder(init, apply, numpy), or export" if to == "numpy" else "export"
    raise UserError(f"the encoder {encoder.name} has {lacks}; {fix} --to jax.")


def as_text(info: dict[str, Any]) -> str:
    """Write the metadata."""
    return json.dumps(info, allow_nan=False)  # strict JSON, for readers in any language


def numpy_bytes(info: dict[str, Any], arrays: dict[str, np.ndarray], encoder: Encoder | None = None) -> bytes:
    """Pack the arrays and the metadata into an archive that `numpy.load` opens."""
    file = io.BytesIO()
    contents: dict[str, Any] = {"info": as_text(info), **arrays}
    np.savez(file, **contents)
    return file.getvalue()


def onnx_bytes(info: dict[str, Any], arrays: dict[str, np.ndarray], encoder: Encoder | None = None) -> bytes:
    """Build the graph from obs [batch, obs] (double) to `action`, the mode, and `outputs`, the mean or logits (float)."""
    from onnx import TensorProto, helper, numpy_helper

    constants = {**arrays, "floor": Normaliser.from_arrays(arrays).floor}
    nodes = [
        helper.make_node("Sub", ["obs", "mean"], ["shifted"]),
        helper.make_node("Mul", ["shifted", "scale"], ["scaled"]),
        helper.make_node("Clip", ["scaled", "floor", "clip"], ["clipped"]),
        helper.make_node("Cast", ["clipped"], ["x0"], to=TensorProto.FLOAT),
    ]
    last = len(layers_of(arrays)) - 1
    for i in range(last + 1):
        result = "outputs" if i == last else f"y{i}"
        nodes.append(helper.make_node("Gemm", [f"x{i}", f"weight{i}", f"bias{i}"], [result]))
        if i < last:
            nodes += [helper.make_node(*node) for node in activation_nodes(info.get("activation", USUAL), i)]
    action = action_from_json(info["spec"]["action"])
    shape: list[str | int]
    if isinstance(action, Box):
        squashed = info.get("policy") == "squashed"
        constants |= action.squashing() if squashed else {}
        nodes += [helper.make_node(*node) for node in (SQUASH if squashed else IDENTITY)]
        kind, shape = TensorProto.FLOAT, ["batch", action.dim]
    elif isinstance(action, Discrete):
        nodes.append(helper.make_node("ArgMax", ["outputs"], ["action"], axis=1, keepdims=0))
        kind, shape = TensorProto.INT64, ["batch"]
    else:
        choices = range(len(action.sizes))
        constants["sizes"] = np.array(action.sizes, np.int64)
        nodes.append(helper.make_node("Split", ["outputs", "sizes"], [f"logits{k}" for k in choices], axis=1))
        nodes += [helper.make_node("ArgMax", [f"logits{k}"], [f"choice{k}"], axis=1, keepdims=1) for k in choices]
        nodes.append(helper.make_node("Concat", [f"choice{k}" for k in choices], ["action"], axis=1))
        kind, shape = TensorProto.INT64, ["batch", len(choices)]
    width = arrays[f"bias{last}"].size
    graph = helper.make_graph(
        nodes,
        "policy",
        [helper.make_tensor_value_info("obs", TensorProto.DOUBLE, ["batch", info["spec"]["obs_dim"]])],
        [
            helper.make_tensor_value_info("action", kind, shape),
            helper.make_tensor_value_info("outputs", TensorProto.FLOAT, ["batch", width]),
        ],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in constants.items()],
    )
    # An old opset and file version, so that old runtimes read it too.
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="cuprl")
    helper.set_model_props(model, {KEY: as_text(info)})
    return model.SerializeToString()


IDENTITY = [("Identity", ["outputs"], ["action"])]
SQUASH = [  # as Box.squash
    ("Tanh", ["outputs"], ["squashed"]),
    ("Mul", ["squashed", "reach"], ["reached"]),
    ("Add", ["reached", "middle"], ["moved"]),
    ("Max", ["moved", "low"], ["above"]),
    ("Min", ["above", "high"], ["action"]),
]


def activation_nodes(name: str, i: int) -> list[tuple[str, list[str], list[str]]]:
    """Name the operators from the sums y of layer i to the inputs x of the next."""
    y, x = f"y{i}", f"x{i + 1}"
    if name == "swish":
        return [("Sigmoid", [y], [f"gate{i}"]), ("Mul", [y, f"gate{i}"], [x])]
    return [({"tanh": "Tanh", "relu": "Relu", "elu": "Elu"}[name], [y], [x])]


def jax_bytes(info: dict[str, Any], arrays: dict[str, np.ndarray], encoder: Encoder | None = None) -> bytes:
    """Compile obs [batch, obs] -> (action, outputs), and pack the program and the metadata into an archive."""
    from cuprl.learn.networks import Network

    import jax  # isort: skip
    import jax.numpy as jnp  # isort: skip
    from jax import export

    normaliser, action = Normaliser.from_arrays(arrays), action_from_json(info["spec"]["action"])
    network = Network((), info.get("activation", USUAL), encoder)
    params = {"encoder": from_names(of_encoder(arrays)), "layers": layers_of(arrays)}
    decode = decoder(info, action)

    def policy(obs: jax.Array) -> tuple[jax.Array, jax.Array]:
        out = network.apply(params, normaliser.apply(obs, xp=jnp))
        chosen = decode(out, jnp)
        return (chosen if isinstance(action, Box) else chosen.astype(np.int32)), out

    with double_precision():
        shape = export.symbolic_shape(f"batch, {info['spec']['obs_dim']}")
        program = export.export(jax.jit(policy), platforms=PLATFORMS)(jax.ShapeDtypeStruct(shape, np.float64))
        return numpy_bytes(info, {"artifact": np.frombuffer(program.serialize(), np.uint8)})
