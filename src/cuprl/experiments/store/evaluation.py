"""What the mode of a run's last policy does in a few episodes: the convention of others, kept beside the training's means.

`cup eval RUN --episodes E` runs the same episodes and gives the same numbers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np

from cuprl.core.user_modules import Trust
from cuprl.experiments.store.results import DIGITS, Result, path_of, rounded
from cuprl.experiments.store.stored import intact
from cuprl.policies.evaluate import evaluate
from cuprl.runs.folder import Run

# What is kept of what `evaluate` gives: numbers, and of each constraint its cost, as its limit is discounted and not at all.
NUMBERS = {"return_mean": "return", "return_std": "return_std", "length_mean": "length"}
COSTS = {"cost_mean": "cost", "cost_undiscounted_mean": "cost_undiscounted"}
SEED = 10_000  # the episodes' are this and those after it, of every run alike


def with_evaluation(result: Result, run: Run, episodes: int, trust: Trust = False) -> Result:
    """Evaluate the policy that a run ended with, and put it into its result; with no episodes it stays as it is."""
    if not episodes:
        return result
    last = len(result.metrics["iteration"])
    found = evaluate(run, episodes, deterministic=True, seed=SEED, checkpoint=last, trust=trust)
    numbers = {name: few_digits(found[key]) for key, name in NUMBERS.items()}
    costs = {name: of_each(found[key], result.limits) for key, name in COSTS.items()}
    return replace(result, evaluation={"episodes": episodes, "seed": SEED, **numbers, **costs})


def as_stored(result: Result, folder: Path) -> Result:
    """Give a result without an evaluation the one that is stored with the same run: it is not lost by storing again."""
    path = path_of(result, folder)
    before = next(intact([path] if path.exists() else []), None)
    if result.evaluation is not None or before is None:
        return result
    written = {name: np.array(rounded(name, column), np.float64) for name, column in result.metrics.items()}
    same = written.keys() == before.metrics.keys() and all(
        np.array_equal(written[name], column, equal_nan=True) for name, column in before.metrics.items()
    )
    return replace(result, evaluation=before.evaluation) if same else result


def few_digits(value: float) -> float:
    """Round to as many digits as are kept of a metric."""
    return float(f"{value:.{DIGITS}g}")


def of_each(cost: float | dict[str, float], names: Iterable[str]) -> dict[str, float]:
    """Name the cost of each constraint; of a single one `evaluate` gives the number alone."""
    by_name = cost if isinstance(cost, dict) else dict.fromkeys(names, cost)
    return {name: few_digits(value) for name, value in by_name.items()}
