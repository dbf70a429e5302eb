"""Rules for products, convolutions, windows and sums."""

from __future__ import annotations

import string
from collections.abc import Callable
from typing import Any

import numpy as np

from cuprl.policies.to_onnx.graph import Graph, Unwritable, Value, integers, shape_of


def product(graph: Graph, equation: Any, x: Value, y: Value) -> str:
    """Write any product of arrays as a sum over named axes, the usual one as a product of matrices."""
    (x_summed, y_summed), (x_shared, y_shared) = equation.params["dimension_numbers"]
    left, right = (len(shape_of(variable)) for variable in equation.invars)
    if not x_shared and right == 2 and tuple(x_summed) == (left - 1,) and tuple(y_summed) == (0,):
        return graph.add("MatMul", x, y)
    letters = iter(string.ascii_lowercase)
    of_x = [next(letters) for _ in range(left)]
    paired = dict(zip([*y_shared, *y_summed], [*x_shared, *x_summed]))
    of_y = [of_x[paired[axis]] if axis in paired else next(letters) for axis in range(right)]
    own_x = [of_x[axis] for axis in range(left) if axis not in (*x_shared, *x_summed)]
    own_y = [of_y[axis] for axis in range(right) if axis not in paired]
    result = "".join([*(of_x[axis] for axis in x_shared), *own_x, *own_y])
    return graph.add("Einsum", x, y, equation=f"{''.join(of_x)},{''.join(of_y)}->{result}")


def convolution(graph: Graph, equation: Any, x: Value, kernel: Value) -> str:
    """Write a convolution, between transpositions to ONNX's order of axes: batch, channels, places."""
    params = equation.params
    numbers = params["dimension_numbers"]
    if set(params["lhs_dilation"]) != {1} or params["batch_group_count"] != 1:
        raise Unwritable("with a dilated input or groups of rows")
    made = graph.add(
        "Conv",
        graph.add("Transpose", x, perm=list(numbers.lhs_spec)),
        graph.add("Transpose", kernel, perm=list(numbers.rhs_spec)),
        strides=list(params["window_strides"]),
        dilations=list(params["rhs_dilation"]),
        pads=[edge for edges in zip(*params["padding"]) for edge in edges],
        group=params["feature_group_count"],
    )
    return graph.add("Transpose", made, perm=[int(k) for k in np.argsort(numbers.out_spec)])


def pooled(operator: str, scale: Callable[[Any], float], **more: Any) -> Callable[..., str]:
    """Give the rule of a window that slides over all axes but two."""

    def rule(graph: Graph, equation: Any, x: Value) -> str:
        params = equation.params
        window, strides, padding = params["window_dimensions"], params["window_strides"], params["padding"]
        still = [axis for axis, size in enumerate(window) if size == 1 and strides[axis] == 1 and padding[axis] == (0, 0)]
        moved = [axis for axis in range(len(window)) if axis not in still]
        if len(still) != 2 or {*params["base_dilation"], *params["window_dilation"]} != {1}:
            raise Unwritable("other than over all axes but the rows and the channels")
        order = [*still, *moved]
        made = graph.add(
            operator,
            graph.add("Transpose", x, perm=order),
            kernel_shape=[window[axis] for axis in moved],
            strides=[strides[axis] for axis in moved],
            pads=[edge for edges in zip(*(padding[axis] for axis in moved)) for edge in edges],
            **more,
        )
        made = graph.add("Mul", made, np.array(scale(window), np.float32))
        return graph.add("Transpose", made, perm=[int(k) for k in np.argsort(order)])

    return rule


def reduced(operator: str) -> Callable[..., str]:
    """Give the rule of a reduction; of a sum the axes are an input."""

    def rule(graph: Graph, equation: Any, x: Value) -> str:
        axes = list(equation.params["axes"])
        if operator == "ReduceSum":
            return graph.add(operator, x, integers(axes), keepdims=0)
        return graph.add(operator, x, axes=axes, keepdims=0)

    return rule
