"""Trainings that are killed, stopped or interrupted at random moments, some of them again as they go on."""

from __future__ import annotations

import signal
from pathlib import Path

from .compare import checkpoints, expect_nothing_wrong_so_far, held, iteration_of, last_row
from .processes import SOON, Command, Failed
from .trial import ITERATIONS, Trial, expect

STOPPING = "stopping after this iteration"
BEFORE_MAIN = (1, -signal.SIGINT)  # how Python itself ends by Ctrl-C, until it has come to what `cup` is


def killed(trial: Trial, number: int) -> str:
    for _ in range(trial.random.randint(1, 3)):
        command = trial.go_on()
        trial.await_moment(command, trial.run)
        begun = held(trial.run)
        row = command.strike(number, lambda: last_row(trial.run))
        command.end()
        expect_stopped(command, number, trial.run, row, begun)
        trial.host.expect_nothing_left(SOON)
        expect_nothing_wrong_so_far(trial.run, trial.reference())
    trial.finish()
    return "same"


def expect_stopped(command: Command, number: int, run: Path, row: int, begun: bool, last: int = ITERATIONS) -> None:
    """How a run ends that gets a signal after so many rows; begun: it had taken its folder; last: the rows it will have."""
    finished = (0,) if row >= last - 1 else ()
    if number == signal.SIGKILL:
        command.expect(-number, *finished)
    elif STOPPING in command.err:
        command.expect(130, *finished)
        expect(f"cup resume {run}" in command.err or command.status == 0, f"it does not say how to go on: {command.err}")
        expect(iteration_of(checkpoints(run)[0]) == last_row(run), f"{run} was stopped without a checkpoint of its last row")
    else:
        expect_ended(command, begun, finished)


def expect_ended(command: Command, begun: bool, finished: tuple[int, ...]) -> None:
    """By SIGTERM or SIGINT; finished: the status that is right too, if there was nothing left to do."""
    if begun:
        command.expect(130, -signal.SIGTERM, *finished)
    elif command.status not in (130, -signal.SIGTERM, *BEFORE_MAIN, *finished):  # not begun, or done already
        raise Failed(f"{command} took no notice of its signal and ended with status {command.status}")
