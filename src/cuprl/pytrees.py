"""Pytrees as named plain arrays and back: what a checkpoint holds."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np


def to_arrays(tree: Any, prefix: str) -> dict[str, np.ndarray]:
    leaves = jax.tree_util.tree_leaves_with_path(tree)
    return {prefix + jax.tree_util.keystr(path): np.asarray(leaf) for path, leaf in leaves}


def from_arrays(template: Any, arrays: dict[str, np.ndarray], prefix: str) -> Any:
    """The tree shaped like `template`; arrays missing or of another shape raise KeyError or ValueError."""

    def leaf(path: Any, like: Any) -> Any:
        array = arrays[prefix + jax.tree_util.keystr(path)]
        if array.shape != like.shape:
            raise ValueError(f"{prefix}{jax.tree_util.keystr(path)} has shape {array.shape}, expected {like.shape}")
        return jax.numpy.asarray(array) if isinstance(like, jax.Array) else array

    return jax.tree_util.tree_map_with_path(leaf, template)
