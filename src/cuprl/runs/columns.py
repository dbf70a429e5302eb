"""The columns of progress.csv that belong to constraints: `key`, or `key/<name>` for each of several."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

COSTS = ("rollout/ep_cost_mean", "rollout/ep_cost_undiscounted_mean")


def column(key: str, constraint: str, constraints: Collection[str]) -> str:
    """Name the column of the metric `key` for one of a run's constraints."""
    return f"{key}/{constraint}" if len(constraints) > 1 else key


def one_column_each(row: dict[str, Any], constraints: Collection[str]) -> dict[str, float]:
    """Turn metrics into numbers: values [m] of the constraints are spread over their columns."""
    flat: dict[str, float] = {}
    for key, value in row.items():
        array = np.asarray(value)
        if array.ndim == 0:
            flat[key] = array.item()
        else:
            flat.update({column(key, name, constraints): x.item() for name, x in zip(constraints, array)})
    return flat


def needed(constraints: Collection[str]) -> list[str]:
    """Name the columns that pictures and tables are made of."""
    costs = [column(key, name, constraints) for name in constraints for key in COSTS]
    return ["iteration", "steps", "rollout/ep_rew_mean", *costs, "time/collect", "time/update"]
