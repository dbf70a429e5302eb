"""What of a run's evaluations goes on its page."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cuprl.pages.parts import Part, panel, series
from cuprl.pages.reading import Seen
from cuprl.runs.evaluations import ACTIONS, cost_column


def evaluations(seen: Seen) -> Iterator[Part]:
    """Draw return and costs of the mode and of sampled actions, and mark the best within every limit on the mode's."""
    wanted: list[tuple[str, dict[str, str], dict[str, float]]] = [("Return", {a: f"{a}/return" for a in ACTIONS}, {})]
    for name, limit in seen.limits.items():
        costs = {actions: cost_column(seen.config, name, actions) for actions in ACTIONS}
        wanted.append((f"Cost: {name}", costs, {f"limit {limit:g}": limit}))
    found = seen.evaluations
    for i, (title, columns, lines) in enumerate(wanted):
        present = {actions: found[name] for actions, name in columns.items() if name in found}
        drawn = [series(actions, "evaluations", values, k) for k, (actions, values) in enumerate(present.items())]
        marked = best(seen, present[ACTIONS[0]]) if ACTIONS[0] in present else {}
        if drawn:
            yield panel(f"evaluation-{i}", title, drawn, lines, "Evaluations", note=episodes(seen), points=marked)


def best(seen: Seen, values: np.ndarray) -> dict[str, tuple[float, float]]:
    """Tell where the best one lies on a curve, by what is written beside it."""
    if (row := seen.best) is None:
        return {}
    iteration, steps = (seen.evaluations[name][row] for name in ("iteration", "steps"))
    return {f"best, iteration {int(iteration)}": (steps, values[row])} if np.isfinite((steps, values[row])).all() else {}


def episodes(seen: Seen) -> str:
    """Tell of how many episodes each point is the mean, where that is the same of all."""
    counts = set(seen.evaluations.get("episodes", ()))
    count = counts.pop() if len(counts) == 1 else np.nan
    return f"means of {int(count)} episodes" if 1 < count < 10**9 else ""
