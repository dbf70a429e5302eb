"""Rules for what moves, takes and repeats entries along axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from cuprl.policies.to_onnx.graph import Graph, Unwritable, Value, integers, is_known, shape_of

EVERY = 2**31 - 1  # past the end of any axis


def reshaped(graph: Graph, equation: Any, x: Value) -> str:
    """Write reshape, squeeze and expand_dims."""
    return graph.reshape(x, shape_of(equation.outvars[0]))


def broadcast(graph: Graph, equation: Any, x: Value) -> str:
    """Put the axes of x where they belong, with others of size 1 between them, and repeat it along these."""
    shape, places = equation.params["shape"], equation.params["broadcast_dimensions"]
    sizes = dict(zip(places, shape_of(equation.invars[0])))
    return graph.expand(graph.reshape(x, [sizes.get(axis, 1) for axis in range(len(shape))]), shape)


def sliced(graph: Graph, equation: Any, x: Value) -> str:
    """Write a slice from known places, each to a known one or to the end."""
    starts, limits = equation.params["start_indices"], equation.params["limit_indices"]
    steps = equation.params["strides"] or [1] * len(starts)
    ends = [EVERY if limit == size else limit for limit, size in zip(limits, shape_of(equation.invars[0]))]
    if not all(map(is_known, [*starts, *ends])):
        raise Unwritable("of an open axis")
    return graph.add("Slice", x, *map(integers, (starts, ends, range(len(starts)), steps)))


def reversed_along(graph: Graph, equation: Any, x: Value) -> str:
    """Write axes from their ends to their beginnings."""
    axes = equation.params["dimensions"]
    return graph.add("Slice", x, *map(integers, ([-1] * len(axes), [-EVERY] * len(axes), axes, [-1] * len(axes))))


def gathered(graph: Graph, equation: Any, x: Value, indices: Value) -> str:
    """Take slices at known places: the indexed axes become the last one, of which entries are then taken."""
    numbers, sizes, shape = (
        equation.params["dimension_numbers"],
        equation.params["slice_sizes"],
        shape_of(equation.invars[0]),
    )
    indexed, dropped = numbers.start_index_map, numbers.collapsed_slice_dims
    rest = [axis for axis in range(len(shape)) if axis not in indexed]
    whole = all(sizes[axis] == shape[axis] for axis in rest) and all(is_known(shape[axis]) for axis in indexed)
    if isinstance(indices, str) or not whole or numbers.operand_batching_dims:
        raise Unwritable("at places that depend on an observation")
    lengths, kept = [shape[axis] for axis in indexed], [axis for axis in indexed if axis not in dropped]
    starts = np.moveaxis(indices, -1, 0).astype(np.int64)  # [indexed, the indices' own axes]
    if (starts < 0).any() or any((at + sizes[axis] > shape[axis]).any() for at, axis in zip(starts, indexed)):
        raise Unwritable("outside of the array")
    within = np.indices([sizes[axis] for axis in indexed])  # [indexed, a slice's sizes], of which the dropped are 1
    within = within.reshape(len(indexed), *(1,) * (indices.ndim - 1), *(sizes[axis] for axis in kept))
    places = np.ravel_multi_index(tuple(starts[(..., *(None,) * len(kept))] + within), lengths)
    last = [*(shape[axis] for axis in rest), int(np.prod(lengths))]
    joined = graph.reshape(graph.add("Transpose", x, perm=[*rest, *indexed]), last)
    taken = graph.add("Gather", joined, np.asarray(places, np.int64), axis=len(rest))
    # What was taken has the axes `rest`, those of the indices, `kept`: each goes where the equation has it.
    own = [("index", k) for k in range(indices.ndim - 1)]
    found = [*rest, *own, *kept]
    of_x, of_indices = iter(sorted([*rest, *kept])), iter(own)
    wanted = [next(of_x if axis in numbers.offset_dims else of_indices) for axis in range(len(found))]
    return graph.add("Transpose", taken, perm=[found.index(axis) for axis in wanted])


def padded(graph: Graph, equation: Any, x: Value, filling: Value) -> str:
    """Write padding around an array; none within, and none taken away."""
    before, after, within = zip(*equation.params["padding_config"])
    if any(within) or min(*before, *after) < 0:
        raise Unwritable("within an array, or by less than nothing")
    return graph.add("Pad", x, integers([*before, *after]), filling)


def stacked(graph: Graph, equation: Any, *parts: Value) -> str:
    """Write arrays one above the other."""
    axis = equation.params["axis"]
    return graph.add("Concat", *(graph.add("Unsqueeze", part, integers([axis])) for part in parts), axis=axis)


def split(graph: Graph, equation: Any, x: Value) -> list[str]:
    """Write an array cut into several."""
    made = graph.add(
        "Split", x, integers(equation.params["sizes"]), outputs=len(equation.outvars), axis=equation.params["axis"]
    )
    return made if isinstance(made, list) else [made]
