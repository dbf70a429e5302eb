"""What a person sees while a grid runs: one live table in a terminal, a line for each event elsewhere."""

from __future__ import annotations

import math
import sys
from dataclasses import replace

from cuprl.experiments.engines.pace import Pace
from cuprl.experiments.grid.cells import Cell
from cuprl.runs.columns import held_cost
from cuprl.training.display import clock
from cuprl.training.screen import Redrawn, cost_colour

ORDER = ("running", "failed", "done", "waiting")  # those at work first


class PlainBoard:
    """Lines only, with the time left now and then."""

    def __init__(self) -> None:
        self.done = 0

    def __enter__(self) -> PlainBoard:
        return self

    def __exit__(self, *error: object) -> None: ...

    def say(self, line: str) -> None:
        """Print a line now, not when a buffer is full."""
        print(line, flush=True)

    def show(self, states: dict[Cell, str], pace: Pace, seconds_left: float | None) -> None:
        """Say how long it will take once that is known, and again after each tenth of the grid."""
        done = sum(state == "done" for state in states.values())
        if seconds_left and done >= self.done:
            self.done = done + max(len(states) // 10, 1)
            self.say(headline(states, seconds_left))


class LiveBoard(Redrawn, PlainBoard):
    """A row a run: where it stands, its latest return and cost."""

    def __init__(self) -> None:
        super().__init__(per_second=2)

    def say(self, line: str) -> None:
        from rich.text import Text

        self.console.print(Text(line))

    def show(self, states: dict[Cell, str], pace: Pace, seconds_left: float | None) -> None:
        from rich.table import Table
        from rich.text import Text

        table = Table(title=headline(states, seconds_left), box=None, title_justify="left", pad_edge=False)
        columns = ["task", "algorithm", "seed", "steps", "return", "cost / limit"]
        if self.console.width >= 80:
            columns.insert(4, "steps/s")
        for name in columns:
            table.add_column(name, justify="left" if name in ("task", "algorithm") else "right", no_wrap=True)
        order = sorted(states, key=lambda cell: ORDER.index(states[cell]))
        for cell in order[: max(self.console.height - 6, 1)]:  # what does not fit the screen is left out at the end
            row, colour = row_of(cell, states[cell], pace)
            table.add_row(*(Text(row[name], style=colour if name == "cost / limit" else "") for name in columns))
        self.draw(table)


def headline(states: dict[Cell, str], seconds_left: float | None) -> str:
    """Say how many runs are done and how long the rest will take."""
    count = {state: list(states.values()).count(state) for state in ORDER}
    failed = f", {count['failed']} failed" if count["failed"] else ""
    left = "" if seconds_left is None else f", about {clock(seconds_left)} left"
    return f"{count['done']} of {len(states)} runs done{failed}{left}"


def row_of(cell: Cell, state: str, pace: Pace) -> tuple[dict[str, str], str]:
    """Write the row of a run, from the last row of its metrics, and choose the colour of its cost."""
    shown = {
        "task": cell.task,
        "algorithm": f"{cell.algo} {cell.variant}".strip(),
        "seed": str(cell.seed),
        "steps": state,
        "steps/s": "",
        "return": "",
        "cost / limit": "",
    }
    row = pace.last(cell)
    if row is None:
        return shown, ""
    held = held_cost(replace(cell, start_from=None).resolved()["settings"])  # the policy that it begins from is not read
    costs, limits = ([value for name, value in row.items() if name.startswith(key)] for key in (held, "rollout/cost_limit"))
    unknown = (math.nan, math.nan)
    cost, limit = max(zip(costs, limits), key=lambda pair: pair[0] - pair[1], default=unknown)  # the worst kept of several
    if state == "running":
        shown["steps"] = f"{row['steps'] / cell.steps:.0%}"
    shown |= {
        "steps/s": f"{rate:,.0f}" if (rate := pace.rate(cell)) else "",
        "return": f"{row['rollout/ep_rew_mean']:.1f}",
        "cost / limit": f"{cost:.2f} / {limit:g}",
    }
    return shown, cost_colour(cost, limit)


def board_for() -> PlainBoard:
    """Choose a live table in a terminal, plain lines otherwise."""
    return LiveBoard() if sys.stdout.isatty() else PlainBoard()
