"""The columns of progress.csv that belong to constraints: `key`, or `key/<name>` for each of several."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np


def column(key: str, constraint: str, constraints: Collection[str]) -> str:
    """Where the metric `key` of one of a run's constraints stands."""
    return f"{key}/{constraint}" if len(constraints) > 1 else key


def one_column_each(row: dict[str, Any], constraints: Collection[str]) -> dict[str, float]:
    """Metrics as numbers: values [m] of the constraints are spread over their columns."""
    flat: dict[str, float] = {}
    for key, value in row.items():
        array = np.asarray(value)
        if array.ndim == 0:
            flat[key] = array.item()
        else:
            flat.update({column(key, name, constraints): x.item() for name, x in zip(constraints, array)})
    return flat
