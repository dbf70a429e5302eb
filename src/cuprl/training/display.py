"""What is told while a run goes on: one live panel in a terminal, plain lines elsewhere, or messages of `logging`."""

from __future__ import annotations

import logging
import sys
import time
from typing import Any, NamedTuple, Protocol

from cuprl.core.spec import Spec
from cuprl.core.text import printable
from cuprl.runs.columns import column, held_cost
from cuprl.training.screen import Redrawn, cost_colour

LOGGER = logging.getLogger("cuprl.training")


class Display(Protocol):
    """What a run tells while it goes on; entered before `start` and left when the run ends."""

    def __enter__(self) -> Any: ...
    def __exit__(self, *error: object) -> None: ...
    def start(self, run: Any, spec: Spec, iteration: int, iterations: int) -> None:
        """Show that the run begins, or goes on after `iteration` of `iterations`."""

    def update(self, row: dict[str, float]) -> None:
        """Show an iteration's row of metrics."""

    def evaluated(self, sentence: str) -> None:
        """Show what an evaluation came to."""

    def note(self, sentence: str) -> None:
        """Tell a person what they should know."""


class Shown(NamedTuple):
    """One of the few numbers to watch."""

    text: str
    colour: str = ""  # of a cost, by its limit


class Silent:
    """Shows nothing."""

    def __enter__(self) -> Silent:
        return self

    def __exit__(self, *error: object) -> None: ...

    def start(self, run: Any, spec: Spec, iteration: int, iterations: int) -> None:
        self.run, self.spec, self.iterations = run, spec, iterations
        self.begun, self.first = time.perf_counter(), iteration

    def update(self, row: dict[str, float]) -> None: ...

    def evaluated(self, sentence: str) -> None: ...

    def note(self, sentence: str) -> None: ...

    def summary(self, row: dict[str, float]) -> dict[str, Shown]:
        """Choose the few numbers to watch."""
        iteration = int(row["iteration"])
        per_iteration = (time.perf_counter() - self.begun) / max(iteration - self.first, 1)
        shown = {
            "iteration": Shown(f"{iteration}/{self.iterations}"),
            "steps": Shown(f"{int(row['steps']):,}"),
            "steps/s": Shown(f"{row['time/fps']:,.0f}"),
            "return": Shown(f"{row['rollout/ep_rew_mean']:.1f}"),
        }
        names = [constraint.name for constraint in self.spec.constraints]
        held = held_cost(self.run.config["settings"])
        for constraint in self.spec.constraints:
            name, limit = constraint.name, constraint.limit
            label = f" {printable(name)}" if len(names) > 1 else ""
            cost = row[column(held, name, names)]
            shown[f"cost{label}"] = Shown(f"{cost:.2f} / {limit:g}", cost_colour(cost, limit))
            if (multiplier := column("train/multiplier", name, names)) in row:
                shown[f"nu{label}"] = Shown(f"{row[multiplier]:.3f}")
        shown["left"] = Shown(clock((self.iterations - iteration) * per_iteration))
        return shown


class Plain(Silent):
    """A line now and then: for logs and pipes."""

    def __init__(self, seconds: float = 10.0):
        self.seconds, self.last = seconds, -float("inf")

    def start(self, run: Any, spec: Spec, iteration: int, iterations: int) -> None:
        super().start(run, spec, iteration, iterations)
        self.say(f"run {printable(run.path)}")

    def update(self, row: dict[str, float]) -> None:
        now = time.perf_counter()
        if now - self.last >= self.seconds or row["iteration"] == self.iterations:
            self.last = now
            self.say("  ".join(f"{name} {number.text}" for name, number in self.summary(row).items()))

    def say(self, line: str) -> None:
        """Print a line now, not when a buffer is full."""
        print(line, flush=True)

    def evaluated(self, sentence: str) -> None:
        self.say(printable(sentence))

    def note(self, sentence: str) -> None:
        print(f"note: {printable(sentence)}", file=sys.stderr, flush=True)


class Logged(Plain):
    """Prints nothing: its lines are messages of the logger "cuprl.training", notes as warnings, all else as information."""

    def say(self, line: str) -> None:
        LOGGER.info(line)

    def note(self, sentence: str) -> None:
        LOGGER.warning(printable(sentence))


class Live(Redrawn, Silent):
    """A bar and the numbers that matter, redrawn in place; the cost is green under its limit and red over it."""

    def __init__(self) -> None:
        super().__init__(per_second=4)

    def start(self, run: Any, spec: Spec, iteration: int, iterations: int) -> None:
        super().start(run, spec, iteration, iterations)
        self.console.print(f"run {printable(run.path)}", highlight=False, markup=False, soft_wrap=True)
        self.console.print("compiling …", highlight=False)

    def update(self, row: dict[str, float]) -> None:
        from rich.columns import Columns
        from rich.console import Group
        from rich.padding import Padding
        from rich.progress_bar import ProgressBar
        from rich.text import Text

        cells = []  # laid out in as many columns as the terminal has room for
        for name, (text, colour) in self.summary(row).items():
            cells.append(Text.assemble((f"{name} ", "dim"), (text, f"bold {colour}".rstrip()), no_wrap=True))
        bar = ProgressBar(total=self.iterations, completed=row["iteration"])
        self.draw(Group(Padding(bar, 0), Columns(cells, padding=(0, 2))))  # Padding ends the bar's line

    def evaluated(self, sentence: str) -> None:
        self.console.print(printable(sentence), highlight=False, markup=False)

    def note(self, sentence: str) -> None:
        from rich.text import Text

        self.console.print(Text.assemble(("note:", "yellow"), f" {printable(sentence)}"), highlight=False)


def display_for(asked: Display | bool) -> Display:
    """Give what is asked for: True is a live display in a terminal and plain lines elsewhere, False messages alone."""
    if isinstance(asked, bool):
        return Logged() if not asked else Live() if sys.stdout.isatty() else Plain()
    return asked


def clock(seconds: float) -> str:
    """Write a time as 1:02:03 or 2:03."""
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"
