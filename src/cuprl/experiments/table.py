"""What a grid came to: means and deviations over seeds, as a Markdown table."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from cuprl.experiments.grid import Cell
from cuprl.plot import cost_column
from cuprl.runs import Run


class Final(NamedTuple):
    """The end of one run: means over its last 100 episodes, and what it took."""

    value: float
    cost: float
    plain_cost: float
    limit: float
    seconds: float


def final(run: Run) -> Final:
    progress = run.progress()
    name, limit = next(iter(run.config["limits"].items()))
    columns = list(progress)
    cost, plain = (
        progress[cost_column(key, name, columns)][-1]
        for key in ("rollout/ep_cost_mean", "rollout/ep_cost_undiscounted_mean")
    )
    seconds = float((progress["time/collect"] + progress["time/update"]).sum())
    return Final(float(progress["rollout/ep_rew_mean"][-1]), float(cost), float(plain), float(limit), seconds)


def rows(cells: list[Cell], root: Path) -> list[tuple[str, str, list[Final]]]:
    """(task, algorithm, the finished runs) in the order of the grid."""
    table = []
    for task, algo in dict.fromkeys((cell.task, cell.algo) for cell in sorted(cells, key=lambda c: c.task)):
        mine = [c for c in cells if (c.task, c.algo) == (task, algo) and c.fraction(root) >= 1.0]
        if mine:
            table.append((task, algo, [final(Run(cell.path(root))) for cell in mine]))
    return table


def markdown(cells: list[Cell], root: Path) -> str:
    """Mean ± deviation over seeds; a mean cost over the limit is marked, the best return under it is bold."""
    lines = [
        "| task | algorithm | return | cost | limit | undiscounted cost | seconds | seeds |",
        "|---|---|---|---|---|---|---|---|",
    ]
    table = rows(cells, root)
    for task, algo, finals in table:
        value, cost, plain, limit, seconds = (np.array(column) for column in zip(*finals))
        safe = [np.mean([f.value for f in fs]) for t, _, fs in table
                if t == task and np.mean([f.cost for f in fs]) <= fs[0].limit]  # fmt: skip
        shown = f"{value.mean():.1f} ± {value.std():.1f}"
        if safe and value.mean() == max(safe) and cost.mean() <= limit[0]:
            shown = f"**{shown}**"
        over = "" if cost.mean() <= limit[0] else " (over)"
        lines.append(
            f"| {task} | {algo} | {shown} | {cost.mean():.2f} ± {cost.std():.2f}{over} | {limit[0]:g} "
            f"| {plain.mean():.1f} | {seconds.mean():.0f} | {len(finals)} |"
        )
    return "\n".join(lines)
