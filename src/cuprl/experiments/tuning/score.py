"""What a trial is worth: its best return within the limits; over them, how near it came. The rule, and nothing else.

A row of progress.csv has the means of the latest 100 training episodes: where every cost is within its limit, it is worth
its return. The score of a run is its best such row. A run without any such row is worth less than every run with one; among
those the one wins that came nearest, by the largest of its costs' excesses over their limits, each divided by its limit (by
1 where that is smaller).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cuprl.runs.columns import column, held_cost

INFEASIBLE = 1e30  # times (1 + how far over) below 0: under any return, and 15 digits of the excess are left


@dataclass(frozen=True)
class Score:
    """The best row of a run so far."""

    value: float  # its return
    over: float  # 0 within every limit; 0.1: a tenth over one
    costs: tuple[float, ...]  # in the order of the limits
    iteration: int

    @property
    def rank(self) -> float:
        """Give one number that orders scores as the rule does, the higher the better."""
        return self.value if self.over <= 0.0 else -INFEASIBLE * (1.0 + self.over)


def score_of(progress: dict[str, np.ndarray], config: dict[str, Any], rows: int | None = None) -> Score | None:
    """Score a run by its first rows, or by all; None before an episode has ended. config: as in config.json."""
    limits, held = config["limits"], held_cost(config["settings"])
    returns = progress["rollout/ep_rew_mean"][:rows]  # [rows]
    costs = [progress[column(held, name, limits)][:rows] for name in limits]  # m of [rows]
    excess = [(cost - limit) / max(limit, 1.0) for cost, limit in zip(costs, limits.values())]
    over = np.max([np.zeros_like(returns), *excess], axis=0)  # [rows]
    known = np.flatnonzero(np.isfinite(returns) & np.isfinite(over))
    if not len(known):
        return None
    best = min(known, key=lambda i: (over[i], -returns[i]))
    at = int(progress["iteration"][best])
    return Score(float(returns[best]), float(over[best]), tuple(float(cost[best]) for cost in costs), at)
