"""Pytrees as named plain arrays and back: what a checkpoint holds."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np


def to_arrays(tree: Any, prefix: str) -> dict[str, np.ndarray]:
    leaves = jax.tree_util.tree_leaves_with_path(tree)
    return {prefix + jax.tree_util.keystr(path): np.asarray(leaf) for path, leaf in leaves}


def from_arrays(template: Any, arrays: dict[str, np.ndarray], prefix: str) -> Any:
    """The tree shaped like `template`; arrays missing or of another shape or type raise KeyError or ValueError."""

    def leaf(path: Any, like: Any) -> Any:
        array = arrays[prefix + jax.tree_util.keystr(path)]
        if (array.shape, array.dtype) != (like.shape, like.dtype):
            found, expected = (f"{x.dtype} {list(x.shape)}" for x in (array, like))
            raise ValueError(f"{prefix}{jax.tree_util.keystr(path)} is {found}, expected {expected}")
        return jax.numpy.asarray(array) if isinstance(like, jax.Array) else array

    return jax.tree_util.tree_map_with_path(leaf, template)
