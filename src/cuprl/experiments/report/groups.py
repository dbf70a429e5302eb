"""The seeds of one algorithm on one task, taken together: what tables and figures are made of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from cuprl.experiments.grid.cells import Cell, task_called
from cuprl.experiments.report import paper
from cuprl.experiments.store.results import Result
from cuprl.runs.columns import PLAIN_COST, holds_plain_sums


@dataclass(frozen=True, eq=False)
class Group:
    """Finished runs that differ only in their seed; none where none is there yet."""

    task: str
    algo: str
    variant: str
    steps: int
    limits: dict[str, float]  # of each constraint
    results: list[Result]
    discounts: dict[str, float] = field(default_factory=dict)  # of each constraint, where it is known

    @property
    def label(self) -> str:
        """Say what tells it apart from the others of its task."""
        return f"{self.algo} {self.variant}".strip()

    @property
    def returns(self) -> np.ndarray:
        """Take each seed's final return: the last row's mean over 100 episodes, as in the paper's table [seeds]."""
        return self.curves("rollout/ep_rew_mean")[:, -1]

    def costs(self, key: str | None = None) -> np.ndarray:
        """Take each seed's final costs as they are held to the limits, or another metric of theirs [seeds, m]."""
        return self.cost_curves(key)[:, -1]

    def curves(self, column: str) -> np.ndarray:
        """Stack a metric of all seeds over training [seeds, iterations]."""
        return np.stack([result.metrics[column] for result in self.results])

    def cost_curves(self, key: str | None = None) -> np.ndarray:
        """Stack the costs of all seeds as they are held to the limits, or another metric [seeds, iterations, m]."""
        curves = [result.cost(name, key) for result in self.results for name in self.limits]
        shape = len(self.results), len(self.limits), len(self.results[0].metrics["steps"])  # there may be no constraints
        return np.reshape(curves, shape).swapaxes(1, 2)

    @property
    def evaluations(self) -> list[dict[str, Any]]:
        """List the evaluations of the mode that were stored with these runs: of all, some or none of them."""
        return [result.evaluation for result in self.results if result.evaluation]

    @property
    def mode_returns(self) -> np.ndarray:
        """Take the returns of these evaluations [seeds that have one]."""
        return np.array([evaluation["return"] for evaluation in self.evaluations])

    def mode_costs(self, key: str = "cost") -> np.ndarray:
        """Take their costs as they are held to the limits, or as another key has them [seeds that have one, m]."""
        return np.array([[evaluation[key][name] for name in self.limits] for evaluation in self.evaluations])

    @property
    def plain(self) -> bool:
        """Tell whether plain sums are held to the limits, however the constraints discount them."""
        return any(holds_plain_sums(result.config["settings"]) for result in self.results)

    @property
    def held(self) -> dict[str, float | None]:
        """Tell how each cost is discounted that is held to its limit; None where that is not known."""
        return {name: 1.0 if self.plain else self.discounts.get(name) for name in self.limits}

    @property
    def bounds(self) -> np.ndarray:
        """Give the limits [m]."""
        return np.array(list(self.limits.values()))

    @property
    def first_limit(self) -> float:
        """Give the limit of the first constraint, the only one of tasks that others publish on; NaN where there is none."""
        return next(iter(self.limits.values()), float("nan"))

    @property
    def ended(self) -> Group:
        """Leave out the runs whose final return or a final cost is unknown: they are neither safe nor unsafe."""
        if not self.results:
            return self
        known = ~np.isnan(np.column_stack([self.returns, self.costs(), self.costs(PLAIN_COST)])).any(axis=1)
        return replace(self, results=[result for result, there in zip(self.results, known) if there])

    @property
    def safe(self) -> bool:
        """Tell whether the mean over seeds of every cost is within its limit."""
        return bool((self.costs().mean(axis=0) <= self.bounds).all())

    @property
    def published(self) -> paper.Published | None:
        """Look up the paper's numbers for runs like these, if it has them."""
        if self.variant or self.plain:
            return None
        return paper.published(self.task, self.algo, self.steps, self.first_limit)


def group(cells: Iterable[Cell], found: dict[Cell, Result]) -> list[Group]:
    """Put the seeds of a grid together into groups, tasks together, otherwise in the grid's order."""
    cells = list(cells)
    tasks = list(dict.fromkeys(cell.task for cell in cells))
    together: dict[tuple[str, str, str, int], list[Cell]] = {}
    for cell in sorted(cells, key=lambda cell: tasks.index(cell.task)):
        together.setdefault((cell.task, cell.algo, cell.variant, cell.steps), []).append(cell)
    return [
        Group(
            *key,
            mine[0].resolved()["limits"],
            [found[cell] for cell in mine if cell in found],
            {c.name: c.discount for c in task_called(key[0]).constraints},
        )
        for key, mine in together.items()
    ]


def winners(groups: list[Group]) -> set[Group]:
    """Find, of each task and limits, the group of the highest mean return within them: a looser limit is no merit.

    A limit on the plain sum is another than one of the same size on a discounted one.
    """
    best: dict[Any, Group] = {}
    for candidate in groups:
        if candidate.ended.results and candidate.ended.safe:
            where = (candidate.task, *candidate.limits.items(), *candidate.held.items())
            best[where] = max(best.get(where, candidate), candidate, key=lambda g: g.ended.returns.mean())
    return set(best.values())
