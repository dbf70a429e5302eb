"""What updates promise of J^C beside what their policies truly cost, on problems where that can be computed.

An update's surrogate promises J^C(pi_{k+1}) - J^C(pi_k) = span * mean (ratio - 1) A^C, and an algorithm that keeps a belief
(learn/belief.py) predicts J^C(pi_{k+1}) from it. Both are unbiased if what came is on average what was said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cuprl.experiments.report.promise import FOUND, PREDICTED
from cuprl.runs.columns import column

BELIEVED, KEPT, DRIFT = "train/believed_cost", "train/promises_kept", "train/cost_drift"


@dataclass(frozen=True)
class Promises:
    """How true the promises of a run were, the worst of its constraints by each measure; in shares of the limit."""

    kept: float  # by how much J^C changed for each unit that the surrogate promised: 1 is the truth
    bias: float  # mean of the true J^C less the predicted one
    error: float  # root mean square of that
    noise: float  # root mean square of the batch's J^C less the true one


def judge(rows: Sequence[Mapping[str, float]], costs: np.ndarray, limits: Mapping[str, float]) -> Promises | None:
    """Compare rows [K] of metrics with exact costs [K + 1, m], before the first update and after each.

    The first tenth is left out: nothing has been learnt of J^C yet. None where an algorithm predicts nothing.
    """
    first = len(rows) // 10
    if any(column(PREDICTED, name, limits) not in rows[0] for name in limits):
        return None
    each = []
    for i, (name, limit) in enumerate(limits.items()):
        said = {key: series(rows, column(key, name, limits))[first:] for key in (PREDICTED, FOUND, BELIEVED, KEPT, DRIFT)}
        before, after = costs[first:-1, i], costs[first + 1 :, i]
        promise, came = promised(said), after - before
        missed, off = after - said[PREDICTED], said[FOUND] - before
        kept = float(promise @ came / max(promise @ promise, 1e-12))
        each.append((kept, *(float(x) / limit for x in (missed.mean(), rms(missed), rms(off)))))
    shares, biases, errors, noises = zip(*each)
    return Promises(max(shares, key=off_one), max(biases, key=abs), max(errors), max(noises))


def promised(said: Mapping[str, np.ndarray]) -> np.ndarray:
    """Give the change of J^C that the surrogate promised [K]: what was predicted, less what else went into it."""
    if np.isnan(said[BELIEVED]).all():
        return said[PREDICTED] - said[FOUND]
    return (said[PREDICTED] - said[BELIEVED] - said[DRIFT]) / said[KEPT]


def series(rows: Sequence[Mapping[str, float]], key: str) -> np.ndarray:
    """Take a column of rows [K]; NaN where there is none."""
    return np.array([row.get(key, np.nan) for row in rows])


def rms(x: np.ndarray) -> float:
    """Take the root of the mean square."""
    return float(np.sqrt(np.mean(x**2)))


def off_one(x: float) -> float:
    """Tell how far a share is from 1."""
    return abs(x - 1.0)
