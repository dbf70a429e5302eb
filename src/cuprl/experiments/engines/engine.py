"""The grid itself, whatever runs its cells: finished runs are skipped, begun ones resumed, dead ones tried again."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Protocol

from cuprl.errors import RunStopped, UserError
from cuprl.experiments.engines.board import PlainBoard
from cuprl.experiments.engines.failure import Stopped, failure_of, last_lines, refuse_full_disk, storing, try_storing
from cuprl.experiments.engines.pace import Pace
from cuprl.experiments.grid.cells import Cell
from cuprl.experiments.store.evaluation import with_evaluation
from cuprl.experiments.store.of_run import from_run
from cuprl.experiments.store.results import store
from cuprl.experiments.store.stale import left_out, sentence
from cuprl.experiments.store.stored import stored
from cuprl.runs.files import held, write_atomically
from cuprl.runs.folder import Run

TRIES = 3  # in a row that bring a run no further


class Job(Protocol):
    """One run at work."""

    cell: Cell

    def status(self) -> int | None:
        """Give the exit status; None while it goes on."""
        ...

    def stop(self) -> None:
        """Ask it to leave a checkpoint and end."""
        ...

    def wait(self) -> None:
        """Wait until it has ended."""


class Engine(Protocol):
    """What runs cells: on this machine, or on others."""

    def room(self) -> int:
        """Count the runs that there is room for at once."""
        ...

    def start(self, cell: Cell, root: Path) -> Job:
        """Start a cell's run, or go on with it, in its folder below root."""

    def close(self) -> None:
        """Let go of what it holds; no run goes on."""


class Grid:
    """The cells of an experiment and where each stands."""

    def __init__(self, cells: Sequence[Cell], root: Path, results: Path, board: PlainBoard):
        """root: the run folders; results: the experiment's own folder in the results store."""
        self.root, self.results, self.board = root, results, board
        known = stored(cells, results.parent)
        if damaged := [one for one in left_out(list(cells), known, results.parent, results.name) if one.damage]:
            board.say(sentence(damaged))
        self.states = dict.fromkeys(cells, "waiting")
        self.failed: dict[Cell, str] = {}
        self.reached: dict[Cell, float] = {}
        for cell in cells:
            if cell in known:
                self.states[cell] = "done"
            elif not self.finished(cell) and cell not in self.failed:
                self.reached[cell] = cell.fraction(root)
        self.left = list(self.reached)
        self.tries = dict.fromkeys(self.left, 0)
        self.told: set[Cell] = set()

    def run(self, engine: Engine) -> dict[Cell, str]:
        """Run what is not finished; returns the last lines of each run that failed for good."""
        total = len(self.states)
        finished = total - len(self.left) - len(self.failed)
        self.board.say(f"{finished} of {total} runs are finished; {len(self.left)} to do")
        if self.left:
            try_storing(self.results)
        pace, look_again = Pace(self.root), 0.0
        active: list[Job] = []
        try:
            while self.left or active:
                for cell in self.startable(engine.room() - len(active)):
                    self.left.remove(cell)
                    if self.finished(cell) or cell in self.failed:  # another process has done that
                        continue
                    failure_of(cell.path(self.root)).unlink(missing_ok=True)
                    active.append(engine.start(cell, self.root))
                    self.states[cell] = "running"
                time.sleep(0.2)
                for job in [job for job in active if job.status() is not None]:
                    active.remove(job)
                    self.settle(job.cell, job.status())
                if time.monotonic() >= look_again:
                    look_again = time.monotonic() + 1.0
                    pace.look(self.states)
                    self.board.show(self.states, pace, pace.seconds_left(self.states, engine.room()))
            pace.look(self.states)
            self.board.show(self.states, pace, None)
        finally:  # interrupted: each run leaves a checkpoint
            for job in active:
                job.stop()
            for job in active:
                job.wait()
        return self.failed

    def startable(self, room: int) -> list[Cell]:
        """Choose the next cells, without those another process is training: one of a second grid, or of one killed."""
        if room <= 0:
            return []
        for cell in self.left:
            if cell not in self.told and held(cell.path(self.root)):
                self.told.add(cell)
                self.board.say(f"{cell} is being trained by another process; waiting for it")
        return list(islice((cell for cell in self.left if not held(cell.path(self.root))), room))

    def settle(self, cell: Cell, status: int | None) -> None:
        """Decide, where a run's process has ended: done, to be tried again, or failed."""
        path = cell.path(self.root)
        try:
            if status == 0:
                self.keep(cell)
                left = sum(state in ("waiting", "running") for state in self.states.values())
                self.board.say(f"done {cell}; {left} left")
                return
            self.states[cell] = "waiting"
            refuse_full_disk(path)
            fraction = cell.fraction(self.root)
            # Where a process still holds the run, that of a lost node, it may get further yet.
            further = fraction > self.reached[cell] or held(path)
            self.tries[cell] = 1 if further else self.tries[cell] + 1
            self.reached[cell] = fraction
            if self.tries[cell] < TRIES:
                self.board.say(f"{cell} ended with status {status} at {fraction:.0%}; trying again")
                self.left.append(cell)
                return
            how, lines = f"ended with status {status} after {TRIES} tries; its last lines:\n", last_lines(path)
        except Stopped:
            raise
        except (UserError, RunStopped, OSError) as error:
            how, lines = "cannot be used: ", f"{error}\n"
        self.fail(cell, how, lines)

    def fail(self, cell: Cell, how: str, lines: str) -> None:
        """Give a run up for good; the others go on."""
        self.states[cell] = "failed"
        self.failed[cell] = lines
        failure = failure_of(cell.path(self.root))
        write_atomically(failure, f"{cell} {how}{lines}".encode())
        self.board.say(f"failed {cell}; see {failure}")

    def finished(self, cell: Cell) -> bool:
        """Tell whether a run is done, and store it then; one in the way that cannot be used has failed."""
        try:
            if cell.fraction(self.root) < 1.0:
                return False
            self.keep(cell)
            return True
        except Stopped:
            raise
        except (UserError, RunStopped, OSError) as error:
            self.fail(cell, "cannot be used: ", f"{error}\n")
            return False

    def keep(self, cell: Cell) -> None:
        """Store a finished run."""
        run, named = Run(cell.path(self.root)), cell.modules()  # by the grid's user, as the run's folder is this cell's
        result = with_evaluation(from_run(run, named), run, cell.evaluate, named)
        with storing(self.results):
            store(result, self.results)
        self.states[cell] = "done"
        failure_of(cell.path(self.root)).unlink(missing_ok=True)
