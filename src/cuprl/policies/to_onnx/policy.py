"""A policy as an ONNX graph: normaliser, encoder of one's own, layers, and how the action is decoded."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from cuprl.core.actions import Box, Discrete
from cuprl.core.activations import USUAL
from cuprl.core.encoder import Encoder
from cuprl.core.normaliser import Normaliser
from cuprl.core.spec_json import action_from_json
from cuprl.policies.checks import layers_of, of_encoder
from cuprl.policies.deployed import KEY, as_text


def policy_bytes(info: dict[str, Any], arrays: dict[str, np.ndarray], encoder: Encoder | None = None) -> bytes:
    """Build the graph from obs [batch, obs] (double) to `action`, the mode, and `outputs`, the mean or logits (float)."""
    constants = {**arrays, "floor": Normaliser.from_arrays(arrays).floor}
    nodes = [
        helper.make_node("Sub", ["obs", "mean"], ["shifted"]),
        helper.make_node("Mul", ["shifted", "scale"], ["scaled"]),
        helper.make_node("Clip", ["scaled", "floor", "clip"], ["clipped"]),
        helper.make_node("Cast", ["clipped"], ["x0" if encoder is None else "normalised"], to=TensorProto.FLOAT),
    ]
    if encoder is not None:
        from cuprl.policies.to_onnx.encoder import encoder_nodes  # JAX, which a plain policy's graph does not need

        of_it, features = encoder_nodes(encoder, of_encoder(arrays), info["spec"]["obs_dim"], "normalised")
        nodes += [*of_it, helper.make_node("Identity", [features], ["x0"])]
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
