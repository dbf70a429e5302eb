"""Grids: killed, their runs killed, on a full disk, with a run damaged; and started again."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from .compare import can_go_on, checkpoints, expect_same, iteration_of, last_row
from .damage import checkpoint, configuration, metrics
from .disks import disk
from .processes import SOON, Command, children_of
from .trainings import expect_ended
from .trial import ITERATIONS, SETTINGS, STEPS, Trial, expect

SEEDS = (0, 1)
EVERY = 10  # iterations between checkpoints in a grid
LEAVING = 60.0  # seconds that a run has to leave its checkpoint when its grid was killed
TOML = """
tasks = ["{task}"]
algos = ["{algo}"]
seeds = {seeds}
steps = {steps}
settings = {{ {settings} }}
"""


class Grid:
    """An experiment of two runs, in a trial's folder."""

    def __init__(self, trial: Trial, root: Path):
        self.trial, self.root, self.results = trial, root, trial.folder / "results"
        self.file = trial.folder / "grid.toml"
        settings = ", ".join(f"{name} = {value}" for name, value in SETTINGS.items())
        self.file.write_text(
            TOML.format(task=trial.task, algo=trial.algo, seeds=list(SEEDS), steps=STEPS, settings=settings)
        )
        self.references = [trial.reference(seed) for seed in SEEDS]
        folder = root / "grid" / trial.task.replace(":", "-") / trial.algo
        self.runs = [folder / f"seed{seed}" for seed in SEEDS]

    def start(self, before: Callable[[], None] | None = None) -> Command:
        words = ["bench", self.file, "--root", self.root, "--results", self.results, "--workers", "2"]
        return self.trial.host.start(*words, before=before)

    def finish(self, broken: Path | None = None) -> None:
        """To its end: all runs as undisturbed and stored, but for one that is broken, which is named."""
        command = self.start().end().expect(1 if broken else 0)
        self.trial.host.expect_nothing_left(SOON)
        for run, reference in zip(self.runs, self.references):
            if run != broken:
                expect_same(run, reference)
        stored = len(list(self.results.glob("grid/*.json.gz")))
        expect(stored == len(SEEDS) - bool(broken), f"{stored} of {len(SEEDS)} runs are stored")
        said = f"failed: {self.trial.task} {self.trial.algo} {broken.name.replace('seed', 'seed ')}" if broken else ""
        expect(said in command.out, f"the run that cannot be used is not named: {command.out[-500:]}")
        for log in self.root.rglob("*.log"):
            expect("Traceback" not in log.read_text(errors="replace"), f"there is a traceback in {log}")

    def rows(self) -> int:
        return sum(map(last_row, self.runs))


def killed(trial: Trial, number: int) -> str:
    grid = Grid(trial, trial.folder / "runs")
    for first in (True, False)[: trial.random.randint(1, 2)]:
        command = grid.start()
        trial.await_moment(command, *grid.runs)
        begun = bool(children_of(command.process.pid))
        finished = (0,) if command.strike(number, grid.rows) >= len(SEEDS) * (ITERATIONS - 1) else ()
        command.end()
        if number == signal.SIGKILL:
            command.expect(-number, *finished)
            if trial.random.random() < 0.5:  # otherwise the next grid is started at once, and waits for what is left
                trial.host.expect_nothing_left(LEAVING)
        else:
            expect_ended(command, begun, finished)
            trial.host.expect_nothing_left(SOON)
            if first and command.status == 130:
                left = [run for run in grid.runs if last_row(run) != max(map(iteration_of, checkpoints(run)), default=0)]
                expect(not left, f"{left} were stopped without a checkpoint of their last row")
    grid.finish()
    return "same"


def run_killed(trial: Trial) -> str:
    """The grid itself starts it again."""
    grid = Grid(trial, trial.folder / "runs")
    command = grid.start()
    trial.await_moment(command, *grid.runs)
    runs = children_of(command.process.pid)
    for pid in trial.random.sample(runs, min(len(runs), trial.random.randint(1, 2))):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    command.end().expect(0)
    grid.finish()
    return "same"


def twice(trial: Trial) -> str:
    """Two grids at once share the work."""
    grid = Grid(trial, trial.folder / "runs")
    for command in [grid.start(), grid.start()]:
        command.end().expect(0)
    grid.finish()
    return "same"


def full(trial: Trial) -> str:
    references = [trial.reference(seed) for seed in SEEDS]
    needed = [path for reference in references for path in reference.rglob("*") if path.is_file()]
    with disk(trial.folder / "disk", trial.random.uniform(0.05, 1.1), needed) as place:
        grid = Grid(trial, place.folder)
        grid.start(place.before).end().expect(0, 1, 2)
        trial.host.expect_nothing_left(SOON)
        place.grow()
        grid.finish()
    return "same"


def damaged(trial: Trial) -> str:
    """One run of a finished grid that has not been stored."""
    grid = Grid(trial, trial.folder / "runs")
    grid.start().end().expect(0)
    shutil.rmtree(grid.results)
    run = trial.random.choice(grid.runs)
    known = (run / "config.json").read_bytes()
    trial.random.choice((checkpoint, metrics, configuration))(run, trial.random)
    config = run / "config.json"
    if config.is_file() and config.read_bytes() != known:  # what one bit of it means is not known here
        grid.start().end().expect(0, 1)
        config.write_bytes(known)
    broken = None if config.is_file() and can_go_on(run, EVERY) else run
    grid.finish(broken)
    return "told" if broken else "same"
