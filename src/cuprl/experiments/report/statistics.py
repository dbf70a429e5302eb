"""What can be said about algorithms from a few seeds, and how sure it is. Pure NumPy; each function gives its definition.

Scores come as one array a task, of one value a run: the strata of the bootstrap (Agarwal et al. 2021, "Deep
reinforcement learning at the edge of the statistical precipice"). Random draws are seeded: the same scores always give
the same interval.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

SAMPLES = 10_000  # of a bootstrap
LEVEL = 0.95
Scores = Sequence[np.ndarray]  # a task each: [..., runs]; the axes before are the samples of a bootstrap


class Estimate(NamedTuple):
    """A number and its 95% interval."""

    value: float
    low: float
    high: float


def mean_std(values: np.ndarray) -> tuple[float, float]:
    """Give mean and deviation over seeds; the deviation is that of these seeds (divided by n, not n - 1)."""
    return float(np.mean(values)), float(np.std(values))


# --- aggregates over runs and tasks -----------------------------------------------------------------------------------


def iqm(scores: Scores) -> np.ndarray:
    """Give the interquartile mean: the mean of the middle half of all runs of all tasks.

    A quarter of the values, rounded down, is dropped at each end; with fewer than four runs it is the plain mean.
    """
    values = np.sort(np.concatenate(scores, axis=-1), axis=-1)
    runs = values.shape[-1]
    return values[..., runs // 4 : runs - runs // 4].mean(axis=-1)


def half(times: Scores) -> np.ndarray:
    """Give the median of the times at which runs have got somewhere; infinity is a run that never does."""
    return np.median(np.concatenate(times, axis=-1), axis=-1)


def improvement(ours: Scores, theirs: Scores) -> np.ndarray:
    """Give the probability of improvement: that a run of ours beats one of theirs on a task drawn at random.

    On a task: the share of pairs (x, y) with x > y, a tie counting half; then the mean over tasks.
    """
    pairs = [(x[..., :, None], y[..., None, :]) for x, y in zip(ours, theirs, strict=True)]
    return np.mean([((x > y) + 0.5 * (x == y)).mean(axis=(-2, -1)) for x, y in pairs], axis=0)


# --- intervals --------------------------------------------------------------------------------------------------------


def bootstrap(statistic: Callable[..., np.ndarray], *groups: Scores, seed: int = 0) -> Estimate:
    """Give statistic(*groups) with the percentile interval of a stratified bootstrap.

    Each sample draws, with replacement and for every group and task apart, as many runs as there are.
    """
    random = np.random.default_rng(seed)
    drawn = [[x[random.integers(len(x), size=(SAMPLES, len(x)))] for x in scores] for scores in groups]
    low, high = percentiles(statistic(*drawn))
    return Estimate(float(statistic(*groups)), float(low), float(high))


def percentiles(values: np.ndarray) -> np.ndarray:
    """Give the ends of the middle 95%; next to an infinite value, where nothing can be interpolated, infinity."""
    with np.errstate(invalid="ignore"):  # infinity minus infinity
        ends = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return np.where(np.isposinf(values).any() & np.isnan(ends), np.inf, ends)


def proportion(happened: np.ndarray) -> Estimate:
    """Estimate a probability from yes or no in each run, with Wilson's score interval.

    A bootstrap of 0 in 3 would claim certainty; this gives 0 to 0.56.
    """
    n, share, z = len(happened), float(np.mean(happened)), 1.959963984540054  # the normal's 97.5% point
    centre, scale = share + z * z / (2 * n), 1 + z * z / n
    spread = z * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return Estimate(share, float(max(centre - spread, 0.0) / scale), float(min((centre + spread) / scale, 1.0)))


def band(curves: np.ndarray, samples: int = 1000, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Give the 95% bootstrap interval of the mean at each iteration, of curves [runs, iterations]."""
    runs = len(curves)
    drawn = np.random.default_rng(seed).integers(runs, size=(samples, runs))
    weights = (drawn[:, :, None] == np.arange(runs)).mean(axis=1)  # [samples, runs]
    low, high = np.quantile(weights @ curves, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    return low, high


# --- one run ----------------------------------------------------------------------------------------------------------


def in_violation(costs: np.ndarray, limits: np.ndarray) -> np.ndarray:
    """Tell whether any constraint is over its limit, of costs [..., m] and limits [m]; an unknown cost (NaN) is not."""
    return np.any(costs > limits, axis=-1)


def share_in_violation(costs: np.ndarray, limits: np.ndarray) -> float:
    """Give the share of iterations in violation, of those whose cost [iterations, m] is known."""
    known = ~np.isnan(costs).any(axis=-1)
    return float(in_violation(costs, limits)[known].mean()) if known.any() else float("nan")


def arrival(curve: np.ndarray, share: float = 0.9) -> int | None:
    """Find the first iteration (index) at which a curve has made `share` of its way from its first to its final value.

    That is the first i with curve[i] >= first + share (final - first), the first known value counting as the first; it
    may fall below again later. None where the curve does not end above where it began.
    """
    known = curve[~np.isnan(curve)]
    if not len(known) or np.isnan(curve[-1]) or curve[-1] <= known[0]:
        return None
    return int(np.flatnonzero(curve >= known[0] + share * (curve[-1] - known[0]))[0])
