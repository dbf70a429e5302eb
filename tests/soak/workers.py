"""Runs whose environments are in worker processes: a worker is killed, or the run itself, alone or with all of them."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from dataclasses import replace

import gymnasium

from .compare import expect_nothing_wrong_so_far, held, last_row, rows
from .processes import SOON, children_of
from .trainings import expect_stopped
from .trial import ITERATIONS, Trial, expect

WORDS = ("--limit", "10", "--horizon", "60")  # the cost is in info["cost"]
ASYNC = (*WORDS, "--backend", "async", "--threads", "2")
WORKER = b"--multiprocessing-fork"  # on the command line of a process that multiprocessing started for work


def with_workers(trial: Trial) -> Trial:
    """The same on the task as Gymnasium has it; on another one where it has it not."""
    names = {spec.kwargs["task"]: name for name, spec in gymnasium.registry.items() if name.startswith("cuprl/")}
    other = trial.random.choice(sorted(names))
    return replace(trial, task=f"gym:{names.get(trial.task, names[other])}")


def worker_killed(trial: Trial) -> str:
    trial = with_workers(trial)
    reference = trial.references.of(trial.task, trial.algo, 0, *WORDS)  # without workers: the bits are the same
    command = trial.go_on(*ASYNC)
    trial.await_moment(command, trial.run)
    workers = [pid for pid in children_of(command.process.pid) if is_worker(pid)]
    for pid in trial.random.sample(workers, min(len(workers), trial.random.randint(1, 2))):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    command.end().expect(0, 1)
    if command.status == 1:
        expect("worker process" in command.sentence(), f"it does not say that a worker has gone: {command.err}")
    else:
        expect(len(rows(trial.run)) == ITERATIONS, "a run without its worker ended with status 0, unfinished")
    trial.host.expect_nothing_left(SOON)
    expect_nothing_wrong_so_far(trial.run, reference)
    trial.finish(reference, *ASYNC)
    return "same"


def run_killed(trial: Trial) -> str:
    """By a signal to the run alone, or, as a terminal's Ctrl-C or a job's end, to its workers too."""
    trial = with_workers(trial)
    reference = trial.references.of(trial.task, trial.algo, 0, *WORDS)
    number = trial.random.choice((signal.SIGKILL, signal.SIGTERM, signal.SIGINT))
    command = trial.go_on(*ASYNC)
    everyone = trial.random.random() < 0.5
    trial.await_moment(command, trial.run)
    begun = held(trial.run)
    row = command.strike(number, lambda: last_row(trial.run), everyone)
    expect_stopped(command.end(), number, trial.run, row, begun)
    trial.host.expect_nothing_left(SOON)
    expect_nothing_wrong_so_far(trial.run, reference)
    trial.finish(reference, *ASYNC)
    return "same"


def is_worker(pid: int) -> bool:
    with suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as file:
        return WORKER in file.read()
    return False
