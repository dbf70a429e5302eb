"""A graph of ONNX nodes as it grows, with the few things that rules need of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import NodeProto, helper, numpy_helper

Value = str | np.ndarray  # the name of a node's result, or what is known already


class Unwritable(Exception):  # noqa: N818
    """A primitive, or this use of it, cannot be said in ONNX."""


class Graph:
    """Nodes, each result of which has a name of its own."""

    def __init__(self, rows: str, batch: Any):
        self.nodes: list[NodeProto] = []
        self.rows, self.batch = rows, batch  # the value whose first axis is the open one, and what JAX calls its size

    def add(self, operator: str, *inputs: Value, outputs: int = 1, **attributes: Any) -> Any:
        """Append a node; returns the name of its result, or a list of the names of several."""
        names = [self.named(value) for value in inputs]
        made = [f"encoder.{len(self.nodes)}.{k}" for k in range(outputs)]
        self.nodes.append(helper.make_node(operator, names, made, **attributes))
        return made[0] if outputs == 1 else made

    def named(self, value: Value) -> str:
        """Give the name of a value; what is known already becomes a constant."""
        return value if isinstance(value, str) else self.add("Constant", value=numpy_helper.from_array(value))

    def reshape(self, x: Value, shape: Sequence[Any]) -> str:
        """Give x a shape in which one axis may be open."""
        sizes = [size if is_known(size) else -1 for size in shape]
        if sizes.count(-1) > 1:
            raise Unwritable(f"to the shape {list(shape)}")
        return self.add("Reshape", x, integers(sizes))

    def expand(self, x: Value, shape: Sequence[Any]) -> str:
        """Repeat x along its axes of size 1 until it has the shape."""
        sizes: Value = integers([size if is_known(size) else 1 for size in shape])
        if opened := [size for size in shape if not is_known(size)]:
            if opened != [self.batch]:
                raise Unwritable(f"to the shape {list(shape)}")
            rows = self.add("Slice", self.add("Shape", self.rows), integers([0]), integers([1]))
            sizes = self.add("Where", np.array([size is opened[0] for size in shape]), rows, sizes)
        return self.add("Expand", x, sizes)


def is_known(size: Any) -> bool:
    """Tell whether the size of an axis is a number, and not open."""
    return isinstance(size, int)


def integers(values: Sequence[int]) -> np.ndarray:
    """Give what ONNX takes shapes and axes as."""
    return np.array(values, np.int64)


def shape_of(variable: Any) -> tuple[Any, ...]:
    """Give the shape of what an equation takes or gives."""
    return variable.aval.shape


def dtype_of(variable: Any) -> np.dtype:
    """Give the type of what an equation takes or gives."""
    return np.dtype(variable.aval.dtype)
