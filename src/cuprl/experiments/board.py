"""What a person sees while a grid runs: one live table in a terminal, a line for each event elsewhere."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import Any

from cuprl.display import clock
from cuprl.experiments.grid import Cell


class PlainBoard:
    """Lines only."""

    def __enter__(self) -> PlainBoard:
        return self

    def __exit__(self, *error: object) -> None: ...

    def say(self, line: str) -> None:
        print(line, flush=True)

    def show(self, states: dict[Cell, str], root: Path, seconds_left: float | None) -> None: ...


class LiveBoard(PlainBoard):
    """A row a run: where it stands, its latest return and cost."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.live import Live

        self.console = Console()
        self.live = Live(console=self.console, refresh_per_second=2)

    def __enter__(self) -> LiveBoard:
        self.live.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self.live.__exit__(None, None, None)

    def say(self, line: str) -> None:
        self.console.print(line, highlight=False)

    def show(self, states: dict[Cell, str], root: Path, seconds_left: float | None) -> None:
        from rich.table import Table

        left = "" if seconds_left is None else f", about {clock(seconds_left)} left"
        done = sum(state == "done" for state in states.values())
        table = Table(title=f"{done} of {len(states)} runs done{left}", box=None, title_justify="left")
        for name in ("task", "algorithm", "seed", "steps", "steps/s", "return", "cost / limit"):
            table.add_column(name, justify="left" if name in ("task", "algorithm") else "right", no_wrap=True)
        # Those at work first; what does not fit the screen is left out at the end.
        order = sorted(states, key=lambda cell: ("running", "failed", "done", "waiting").index(states[cell]))
        for cell in order[: max(self.console.height - 6, 1)]:
            table.add_row(cell.task, cell.algo, str(cell.seed), *numbers(cell, root, states[cell]))
        self.live.update(table)


def numbers(cell: Cell, root: Path, state: str) -> tuple[str, ...]:
    """steps, rate, return and cost of a run from the last row of its metrics."""
    row = last_row(cell.path(root) / "progress.csv")
    if row is None:
        return (state, "", "", "")
    cost, limit = (
        next(float(v) for k, v in row.items() if k.startswith(key)) for key in ("rollout/ep_cost_mean", "rollout/cost_limit")
    )
    colour = "green" if cost <= limit else "red"
    steps = f"{int(row['steps']) / cell.steps:.0%}" if state == "running" else state
    rate = f"{float(row['time/fps']):,.0f}"
    return steps, rate, f"{float(row['rollout/ep_rew_mean']):.1f}", f"[{colour}]{cost:.2f}[/] / {limit:g}"


def last_row(file: Path) -> dict[str, Any] | None:
    try:
        with file.open() as handle:
            rows = list(csv.DictReader(handle))
    except OSError:
        return None
    rows = [row for row in rows if None not in row.values()]  # the last line may be half written
    return rows[-1] if rows else None


def board_for() -> PlainBoard:
    return LiveBoard() if sys.stdout.isatty() else PlainBoard()
