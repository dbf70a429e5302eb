"""Runs with a history, trained further than was planned or begun from a policy, that are killed at random moments."""

from __future__ import annotations

import json
import shutil
import signal
from pathlib import Path

from .compare import expect_nothing_wrong_so_far, expect_same, held, last_row
from .processes import SOON, Command
from .trainings import expect_stopped
from .trial import ITERATIONS, STEPS, Trial

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
ANNEALS = ("continue", "restart", "off")


def further_killed(trial: Trial) -> str:
    """A finished run that is given as many steps again, killed meanwhile, and gone on with by either command."""
    anneal = trial.random.choice(ANNEALS)
    further = ["--steps", str(2 * STEPS), "--anneal", anneal]
    reference = undisturbed_further(trial, anneal, further)
    shutil.copytree(trial.reference(), trial.run)
    for _ in range(trial.random.randint(1, 3)):
        strike(trial, resumed(trial, further), reference, ITERATIONS)
    resumed(trial, further).end().expect(0)
    trial.host.expect_nothing_left(SOON)
    expect_same(trial.run, reference)
    return "same"


def undisturbed_further(trial: Trial, anneal: str, further: list[str]) -> Path:
    """The same run trained further without any disturbance."""
    begun = trial.reference()
    path = begun.with_name(f"{begun.name}-{anneal}")
    if not path.exists():
        shutil.copytree(begun, path)
        trial.host.start("resume", path, *further).end().expect(0)
    return path


def resumed(trial: Trial, further: list[str]) -> Command:
    """The command that trains further, or `cup resume` alone once the run has recorded it."""
    recorded = json.loads((trial.run / "config.json").read_text())["steps"] == 2 * STEPS
    return trial.host.start("resume", trial.run, *([] if recorded and trial.random.random() < 0.5 else further))


def begun_killed(trial: Trial) -> str:
    """A run that begins with another's policy and critics, killed before or after its first checkpoint."""
    words = ("--from", str(trial.reference()), "--from-critics", "--limit", "1000")
    reference = trial.references.of(trial.task, trial.algo, 0, *words, kind="begun")
    for _ in range(trial.random.randint(1, 3)):
        strike(trial, trial.go_on(*words), reference, 0)
    trial.go_on(*words).end().expect(0)
    trial.host.expect_nothing_left(SOON)
    expect_same(trial.run, reference)
    return "same"


def strike(trial: Trial, command: Command, reference: Path, first: int) -> None:
    """Kill a command that trains from this row on; what it leaves must be right."""
    number = trial.random.choice(SIGNALS)
    trial.await_moment(command, trial.run, first=first)
    begun = held(trial.run)
    row = command.strike(number, lambda: last_row(trial.run))
    expect_stopped(command.end(), number, trial.run, row, begun, last=first + ITERATIONS)
    trial.host.expect_nothing_left(SOON)
    expect_nothing_wrong_so_far(trial.run, reference)
