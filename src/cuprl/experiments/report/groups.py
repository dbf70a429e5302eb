"""The seeds of one algorithm on one task, taken together: what tables and figures are made of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cuprl.errors import UserError
from cuprl.experiments.grid.cells import Cell, expand
from cuprl.experiments.grid.shipped import find
from cuprl.experiments.report import paper
from cuprl.experiments.store.results import Result, stored
from cuprl.experiments.store.stale import left_out, sentence

PLAIN_COST = "rollout/ep_cost_undiscounted_mean"


@dataclass(frozen=True, eq=False)
class Group:
    """Finished runs that differ only in their seed; none where none is there yet."""

    task: str
    algo: str
    variant: str
    steps: int
    limits: dict[str, float]  # of each constraint
    results: list[Result]

    @property
    def label(self) -> str:
        return f"{self.algo} {self.variant}".strip()

    @property
    def returns(self) -> np.ndarray:
        """Each seed's final return: the last row's mean over 100 episodes, as in the paper's table [seeds]."""
        return self.curves("rollout/ep_rew_mean")[:, -1]

    def costs(self, key: str = "rollout/ep_cost_mean") -> np.ndarray:
        """Each seed's final cost, discounted unless another column is asked for [seeds, m]."""
        return self.cost_curves(key)[:, -1]

    def curves(self, column: str) -> np.ndarray:
        return np.stack([result.metrics[column] for result in self.results])  # [seeds, iterations]

    def cost_curves(self, key: str = "rollout/ep_cost_mean") -> np.ndarray:
        curves = [[result.cost(name, key) for name in self.limits] for result in self.results]
        return np.stack(curves).swapaxes(1, 2)  # [seeds, iterations, m]

    @property
    def bounds(self) -> np.ndarray:
        return np.array(list(self.limits.values()))  # [m]

    @property
    def safe(self) -> bool:
        """The mean over seeds of every cost is within its limit."""
        return bool((self.costs().mean(axis=0) <= self.bounds).all())

    @property
    def published(self) -> paper.Published | None:
        return None if self.variant else paper.published(self.task, self.algo, self.steps, self.bounds[0])


def find_groups(name: str, root: Path, only: str | None = None) -> tuple[list[Group], str]:
    """The groups of an experiment, or of the part of it that is asked for, and what is stored but stale or damaged.

    name: the experiment's, or its TOML file; root: where the results are. Without any result it is an error.
    """
    experiment = find(name)
    cells, whole = expand(experiment, only), expand(experiment)
    fresh = stored(whole, root)
    left = sentence(left_out(whole, fresh, root, experiment.name))
    found = {cell: fresh[cell] for cell in cells if cell in fresh}
    if not found:
        part, why = f" --only {only}" if only else "", f" ({left})" if left else ""
        raise UserError(f"no result of {name}{part} is stored in {root}{why}; run `cup bench {name}`.")
    return group(cells, found), left


def group(cells: Iterable[Cell], found: dict[Cell, Result]) -> list[Group]:
    """The groups of a grid, tasks together, otherwise in the grid's order."""
    cells = list(cells)
    tasks = list(dict.fromkeys(cell.task for cell in cells))
    together: dict[tuple[str, str, str, int], list[Cell]] = {}
    for cell in sorted(cells, key=lambda cell: tasks.index(cell.task)):
        together.setdefault((cell.task, cell.algo, cell.variant, cell.steps), []).append(cell)
    return [
        Group(*key, mine[0].resolved()["limits"], [found[cell] for cell in mine if cell in found])
        for key, mine in together.items()
    ]


def winners(groups: list[Group]) -> set[Group]:
    """Of each task and limits the group with the highest mean return of those within them: a looser limit is no merit."""
    best: dict[Any, Group] = {}
    for candidate in groups:
        if candidate.results and candidate.safe:
            where = (candidate.task, *candidate.limits.items())
            best[where] = max(best.get(where, candidate), candidate, key=lambda g: g.returns.mean())
    return set(best.values())
