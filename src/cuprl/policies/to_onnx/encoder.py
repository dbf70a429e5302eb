"""An encoder of one's own, written in JAX, as nodes of an ONNX graph.

`apply` is traced with an open number of rows, and each primitive written by its rule. What depends on no input, as the
places of a slice, is computed here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import NodeProto

from cuprl.core.encoder import Encoder, from_names
from cuprl.errors import UserError
from cuprl.policies.checks import ENCODER
from cuprl.policies.to_onnx.graph import Graph, Unwritable, Value, dtype_of, is_known, shape_of
from cuprl.policies.to_onnx.rules import RULES

from cuprl import backend  # noqa: F401  # isort: skip  (sets JAX up before anything imports it)
import jax  # isort: skip
from jax import export  # isort: skip
from jax.extend.core import Literal  # isort: skip

CALLS = {"jit", "pjit", "closed_call", "checkpoint", "remat2", "custom_jvp_call", "custom_vjp_call", "custom_vjp_call_jaxpr"}
CALLED = ("jaxpr", "call_jaxpr", "fun_jaxpr")  # the parameters that hold what they call


def encoder_nodes(encoder: Encoder, arrays: dict[str, np.ndarray], obs_dim: int, obs: str) -> tuple[list[NodeProto], str]:
    """Write the encoder from `obs`, normalised, to its features; returns the nodes, and the name of the features.

    arrays: its parameters, by its own names; the graph has them with `encoder/` in front.
    """
    shape = export.symbolic_shape(f"batch, {obs_dim}")
    function = jax.make_jaxpr(lambda named, x: encoder.apply(from_names(named), x))
    traced = function(arrays, jax.ShapeDtypeStruct(shape, np.float32))
    graph = Graph(obs, shape[0])
    inputs = [*(ENCODER + name for name in sorted(arrays)), obs]  # JAX takes the entries of a dict in this order
    try:
        (features,) = written(graph, traced.jaxpr, traced.consts, inputs)
    except Unwritable as error:
        said = f"the encoder {encoder.name} uses JAX's {error}, which is not written into an .onnx file"
        raise UserError(f"{said}; put it in other words, or export --to jax.") from None
    return graph.nodes, graph.named(features)


def written(graph: Graph, jaxpr: Any, consts: Sequence[Any], inputs: Sequence[Value]) -> list[Value]:
    """Write a traced function, with those that it calls in their places; returns its results."""
    known: dict[Any, Value] = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*map(np.asarray, consts), *inputs]))

    def value(variable: Any) -> Value:
        return np.asarray(variable.val, dtype_of(variable)) if isinstance(variable, Literal) else known[variable]

    for equation in jaxpr.eqns:
        results = equation_written(graph, equation, [value(variable) for variable in equation.invars])
        known.update(zip(equation.outvars, results))
    return [value(variable) for variable in jaxpr.outvars]


def equation_written(graph: Graph, equation: Any, inputs: list[Value]) -> list[Value]:
    """Write one step of a traced function; returns its results."""
    primitive, params = equation.primitive, equation.params
    if primitive.name in CALLS:
        called = next(params[key] for key in CALLED if key in params)
        return written(graph, getattr(called, "jaxpr", called), getattr(called, "consts", ()), inputs)
    static = all(map(is_known, (size for variable in equation.outvars for size in shape_of(variable))))
    if static and all(isinstance(x, np.ndarray) for x in inputs):
        found = primitive.bind(*inputs, **params)
        return [np.asarray(x) for x in (found if primitive.multiple_results else [found])]
    if primitive.name not in RULES:
        raise Unwritable(primitive.name)
    try:
        results = RULES[primitive.name](graph, equation, *inputs)
    except Unwritable as error:
        raise Unwritable(f"{primitive.name} {error}") from None
    return results if isinstance(results, list) else [results]
