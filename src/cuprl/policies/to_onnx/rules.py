"""What each primitive of JAX is in ONNX: a rule takes the graph, the traced equation and its inputs, and adds nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from onnx import helper

from cuprl.policies.to_onnx import axes, products
from cuprl.policies.to_onnx.graph import Graph, Unwritable, Value, dtype_of, integers


def plain(*operators: str) -> Callable[..., str]:
    """Give the rule of an operator that takes what the primitive takes, and of others applied to its result."""

    def rule(graph: Graph, equation: Any, *inputs: Value) -> str:
        made = graph.add(operators[0], *inputs)
        for operator in operators[1:]:
            made = graph.add(operator, made)
        return made

    return rule


def power(graph: Graph, equation: Any, x: Value) -> str:
    """Write x to a whole power."""
    return graph.add("Pow", x, np.array(equation.params["y"], np.float32))


def chosen(graph: Graph, equation: Any, which: Value, *cases: Value) -> str:
    """Write a choice of two, entry by entry."""
    if dtype_of(equation.invars[0]) != np.bool_:
        raise Unwritable("of more than two cases")
    return graph.add("Where", which, cases[1], cases[0])


def cast(graph: Graph, equation: Any, x: Value) -> str:
    """Write another type of number."""
    return graph.add("Cast", x, to=helper.np_dtype_to_tensor_dtype(np.dtype(equation.params["new_dtype"])))


ONE = np.array(1.0, np.float32)
ALIKE = "add sub mul div max min pow neg abs sign exp log sqrt tanh erf floor ceil sin cos tan atan sinh cosh and or not"
SAME = {
    **{name: name.title() for name in ALIKE.split()},
    "logistic": "Sigmoid",
    "stop_gradient": "Identity",
    "copy": "Identity",
    "copy_p": "Identity",
    "eq": "Equal",
    "gt": "Greater",
    "ge": "GreaterOrEqual",
    "lt": "Less",
    "le": "LessOrEqual",
}
RULES: dict[str, Callable[..., Any]] = {
    **{name: plain(operator) for name, operator in SAME.items()},
    "rsqrt": plain("Sqrt", "Reciprocal"),
    "ne": plain("Equal", "Not"),
    "square": lambda graph, equation, x: graph.add("Mul", x, x),
    "clamp": lambda graph, equation, low, x, high: graph.add("Min", graph.add("Max", x, low), high),
    "integer_pow": power,
    "expm1": lambda graph, equation, x: graph.add("Sub", graph.add("Exp", x), ONE),
    "log1p": lambda graph, equation, x: graph.add("Log", graph.add("Add", x, ONE)),
    "erfc": lambda graph, equation, x: graph.add("Sub", ONE, graph.add("Erf", x)),
    "select_n": chosen,
    "convert_element_type": cast,
    "optimization_barrier": lambda graph, equation, *xs: list(xs),
    "reshape": axes.reshaped,
    "squeeze": axes.reshaped,
    "expand_dims": axes.reshaped,
    "transpose": lambda graph, equation, x: graph.add("Transpose", x, perm=list(equation.params["permutation"])),
    "broadcast_in_dim": axes.broadcast,
    "concatenate": lambda graph, equation, *xs: graph.add("Concat", *xs, axis=equation.params["dimension"]),
    "stack": axes.stacked,
    "tile": lambda graph, equation, x: graph.add("Tile", x, integers(equation.params["reps"])),
    "split": axes.split,
    "slice": axes.sliced,
    "rev": axes.reversed_along,
    "gather": axes.gathered,
    "pad": axes.padded,
    "dot_general": products.product,
    "conv_general_dilated": products.convolution,
    "reduce_sum": products.reduced("ReduceSum"),
    "reduce_max": products.reduced("ReduceMax"),
    "reduce_min": products.reduced("ReduceMin"),
    "reduce_window_max": products.pooled("MaxPool", lambda window: 1.0),
    "reduce_window_sum": products.pooled("AveragePool", lambda window: float(np.prod(window)), count_include_pad=1),
}
