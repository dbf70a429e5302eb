"""What evaluations.csv says, a row an evaluation: the columns, and which of them is the best.

    iteration steps episodes
    mode/return mode/return_std mode/length mode/violation_rate mode/cost mode/cost_std mode/cost_undiscounted
    sampled/…                                            the same of sampled actions, as in training

With several constraints each cost has a column `key/<name>`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cuprl.runs.columns import column, holds_plain_sums

NAME = "evaluations.csv"
ACTIONS = ("mode", "sampled")


def cost_column(config: dict[str, Any], constraint: str, actions: str = "mode") -> str:
    """Name the column of the cost that a run holds to its limit: discounted as the constraint is, or the plain sum."""
    plain = holds_plain_sums(config["settings"])
    return column(f"{actions}/cost{'_undiscounted' * plain}", constraint, config["limits"])


def within_limits(columns: dict[str, np.ndarray], config: dict[str, Any]) -> np.ndarray:
    """Tell of each evaluation whether the mode's mean cost is at or under every limit [rows]; what is unknown is not."""
    within = (columns["iteration"] >= 1) & np.isfinite(columns["iteration"])  # it is a file, which may be damaged
    for name, limit in config["limits"].items():
        within &= columns.get(cost_column(config, name), np.full(len(within), np.nan)) <= limit
    return within


def best_row(columns: dict[str, np.ndarray], config: dict[str, Any]) -> int | None:
    """Find the row of the best evaluation: within every limit, the mode's highest mean return, of equals the first.

    None where no evaluation is within every limit. config: as in config.json.
    """
    if "mode/return" not in columns:
        return None
    returns = np.where(within_limits(columns, config), columns["mode/return"], np.nan)
    return None if np.isnan(returns).all() else int(np.nanargmax(returns))
