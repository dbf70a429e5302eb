"""The columns of progress.csv that belong to constraints: `key`, or `key/<name>` for each of several.

Of a cost there are two: the sum over an episode as its constraint discounts it, and the plain sum. Which of them a run holds
to its limits its settings say; whatever compares a cost with a limit asks here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

DISCOUNTED_COST, PLAIN_COST = COSTS = ("rollout/ep_cost_mean", "rollout/ep_cost_undiscounted_mean")


def holds_plain_sums(settings: Mapping[str, Any]) -> bool:
    """Tell whether an algorithm's settings hold plain sums of costs to the limits, however the constraints discount them."""
    return settings.get("cost_return") == "undiscounted"  # where it is missing, the run is older than the choice


def held_cost(settings: Mapping[str, Any]) -> str:
    """Name the metric of the costs that an algorithm's settings hold to the limits."""
    return PLAIN_COST if holds_plain_sums(settings) else DISCOUNTED_COST


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
