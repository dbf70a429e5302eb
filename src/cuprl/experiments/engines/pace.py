"""Where the runs of a grid stand and how long the rest will take, from the last rows of their metrics."""

from __future__ import annotations

import csv
import os
from pathlib import Path

from cuprl.experiments.grid.cells import Cell
from cuprl.runs.files import open_regular
from cuprl.runs.progress import whole_lines

TAIL = 10  # rows that tell a run's speed
COUNTED = ("iteration", "steps", "time/collect", "time/update")  # columns of which every row has more than 0
BYTES = 20_000  # more than these rows take


class Pace:
    """Reads how far and how fast the runs of a grid are."""

    def __init__(self, root: Path):
        self.root = root
        self.rows: dict[Cell, list[dict[str, float]]] = {}
        self.seen: dict[Cell, str] = {}  # the states at the last look

    def look(self, states: dict[Cell, str]) -> None:
        """Read again what is running; what is not changes no more."""
        for cell, state in states.items():
            if state == "running" or self.seen.get(cell) != state:
                self.rows[cell] = last_rows(cell.path(self.root) / "progress.csv")
        self.seen = dict(states)

    def last(self, cell: Cell) -> dict[str, float] | None:
        """Give a run's last row of metrics."""
        rows = self.rows.get(cell)
        return rows[-1] if rows else None

    def steps(self, cell: Cell) -> int:
        """Give how many steps a run has taken."""
        row = self.last(cell)
        return int(row["steps"]) if row else 0

    def rate(self, cell: Cell) -> float | None:
        """Compute the steps a second of a run's last rows; None: it has none but the first, which holds the compilation."""
        rows = [row for row in self.rows.get(cell, []) if row["iteration"] > 1]
        if not rows:
            return None
        batch = rows[-1]["steps"] / rows[-1]["iteration"]
        return batch * len(rows) / sum(row["time/collect"] + row["time/update"] for row in rows)

    def seconds_left(self, states: dict[Cell, str], room: int) -> float | None:
        """Estimate from each run's own speed; of one not begun, from that of the runs most like it."""
        rates = {cell: rate for cell in states if (rate := self.rate(cell))}
        if not rates:
            return None
        needs = []
        for cell, state in states.items():
            if state in ("waiting", "running"):
                alike = [
                    [rates[cell]] if cell in rates else [],
                    [rate for c, rate in rates.items() if (c.task, c.algo) == (cell.task, cell.algo)],
                    [rate for c, rate in rates.items() if c.task == cell.task],
                    list(rates.values()),
                ]
                known = next(group for group in alike if group)
                needs.append(max(cell.steps - self.steps(cell), 0) / (sum(known) / len(known)))
        return max(sum(needs) / max(room, 1), max(needs)) if needs else 0.0


def last_rows(file: Path) -> list[dict[str, float]]:
    """Read the last whole rows of a progress.csv; none where it is not there yet, or damaged: who finishes the run tells."""
    try:
        with os.fdopen(open_regular(file, os.O_RDONLY), "rb") as handle:
            header = handle.readline(BYTES).decode()
            handle.seek(max(handle.seek(0, 2) - BYTES, len(header)))
            lines = whole_lines(handle.read().decode(errors="replace"))
        names = next(csv.reader([header]), [])
        rows = [row for row in csv.reader(lines) if len(row) == len(names)]
        last = [dict(zip(names, map(float, row))) for row in rows[-TAIL:]]
    except (OSError, ValueError, csv.Error):
        return []
    return [row for row in last if all(row.get(name, 0.0) > 0.0 for name in COUNTED) and "rollout/ep_rew_mean" in row]
