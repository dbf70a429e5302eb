"""What a user waits for: when a training has reached a level of return within its limits, and stays there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from cuprl.experiments.report import paper, statistics
from cuprl.experiments.report.groups import Group
from cuprl.experiments.report.statistics import Estimate

STAY = 20  # iterations
SHARES = (0.5, 0.8, 1.0)  # of the return of the paper's CUP
Found = tuple[dict[str, Any], str, Estimate, int]  # where, which statistic, its value, of how many seeds


def of_groups(groups: list[Group], levels: Sequence[float] | None = None) -> Iterator[Found]:
    """Give, for every group and level, the share of seeds that get there and the median of how long that takes them."""
    for g in groups:
        for share, level in levels_of(g, levels):
            where = {"task": g.task, "algorithm": g.label, "level": level, **({"share_of_paper": share} if share else {})}
            arrivals = [safe_arrival(g, seed, level) for seed in range(len(g.results))]
            steps, seconds = (
                np.array([np.inf if k is None else times[k] for times, k in zip(clock, arrivals)])
                for clock in (g.curves("steps"), [result.seconds for result in g.results])
            )
            yield where, "reached", statistics.proportion(np.isfinite(steps)), len(steps)
            yield where, "steps", statistics.bootstrap(statistics.half, [steps]), len(steps)
            yield where, "seconds", statistics.bootstrap(statistics.half, [seconds]), len(steps)


def levels_of(g: Group, levels: Sequence[float] | None = None) -> list[tuple[float | None, float]]:
    """List the levels of return, each with its share of the paper's CUP; without any given, only a task of the paper has."""
    if levels is not None:
        return [(None, level) for level in levels]
    if g.plain or not paper.same_limit(g.task, g.first_limit):
        return []
    return [(share, share * paper.TABLE[g.task]["cup"].value) for share in SHARES]


def safe_arrival(g: Group, seed: int, level: float) -> int | None:
    """Find the first of 20 iterations in a row whose last 100 episodes reach the level within every limit; None: never.

    A cost that is not known is not within its limit.
    """
    costs, returns = g.cost_curves()[seed], g.curves("rollout/ep_rew_mean")[seed]
    there = (returns >= level) & (costs <= g.bounds).all(axis=1)
    if len(there) < STAY:
        return None
    stays = np.lib.stride_tricks.sliding_window_view(there, STAY).all(axis=1)
    return int(np.argmax(stays)) if stays.any() else None
