"""THE loop: iterate -> record -> evaluate -> checkpoint, until done or stopped."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cuprl.core.printing import readers_may_leave
from cuprl.errors import RunStopped, blame
from cuprl.runs.checkpoint import iteration_of
from cuprl.runs.columns import holds_plain_sums
from cuprl.runs.folder import Run
from cuprl.training.display import Display
from cuprl.training.evaluating import Evaluator
from cuprl.training.hooks import Hook, View, wants_stop
from cuprl.training.training import Training
from cuprl.training.writers import Writer, open_writers

BOUND_PATIENCE = 10  # iterations a multiplier may sit at its bound before the user is told


def loop(training: Training, run: Run, display: Display, hook: Hook | None) -> Run:
    """Iterate, record and checkpoint until all is learnt, the hook says stop, or a signal does: then KeyboardInterrupt."""
    learner, evaluator = training.learner, Evaluator(training, run, display)

    def hurry() -> None:
        training.hurry()
        evaluator.hurry()

    last_good = next((path for path in run.checkpoints() if iteration_of(path) == learner.iteration), None)
    writers = open_writers(training.config, run)
    with readers_may_leave(), writers as writing, stop_signals(hurry, display) as stopped, display:
        display.start(run, learner.spec, learner.iteration, learner.iterations)
        _tell_of_the_steps(training, display)
        _tell_plain_sums(training, run, display)
        evaluator.look(stopped)  # a stop may have come before it
        while not training.done:
            row = _iterate(training, last_good)
            _record(row, run, writing, display)
            _tell_bound(training, display)
            evaluated = evaluator.look(stopped)
            ended = hook is not None and _ended_by(hook, row, training, run, display)
            stopping = bool(stopped)  # once: a signal from here on waits for the next iteration's checkpoint
            if evaluated or ended or stopping or _checkpoint_is_due(training):
                last_good = run.save(learner.iteration, training.arrays())
            if ended or stopping:
                break
    said = f"stopped after iteration {learner.iteration}"
    said += f"; continue with: cup resume {run.path}" if not training.done or evaluator.is_due() else ", the last one"
    if stopped:
        raise KeyboardInterrupt(said)
    if not training.done:
        display.note(f"on_iteration {said}")
    return run


def _iterate(training: Training, last_good: Path | None) -> dict[str, float]:
    """Iterate; what stops the run says which checkpoint is the last good one."""
    try:
        return training.iterate()
    except RunStopped as error:
        said = str(error)
    except SystemExit as error:  # of an environment or a cost: signals are ours
        said = str(blame("an iteration", error)).removesuffix(".")
    where = f"the last good checkpoint is {last_good}" if last_good else "there was no checkpoint yet"
    raise RunStopped(f"{said}; {where}.")


def _ended_by(hook: Hook, row: dict[str, float], training: Training, run: Run, display: Display) -> bool:
    """Call a program's own function; tell whether it wants the run to stop. Where it raises, a checkpoint is left."""
    try:
        return wants_stop(hook(dict(row), View(training, run)))
    except (Exception, SystemExit) as error:
        iteration = training.learner.iteration
        saved = run.save(iteration, training.arrays())
        said = f"on_iteration raised {type(error).__name__} after iteration {iteration}; the checkpoint is {saved}"
        display.note(f"{said}; continue with: cup resume {run.path}")
        error.add_note(f"cuprl: {said}; continue with cuprl.resume({str(run.path)!r}).")
        raise


def _record(row: dict[str, float], run: Run, writers: list[Writer], display: Display) -> None:
    """Write an iteration's row of metrics, and show it."""
    run.append(row)
    for writer in writers:
        writer.write(row)
    display.update(row)


def _checkpoint_is_due(training: Training) -> bool:
    """Tell whether the state after this iteration is to be kept."""
    return training.done or training.learner.iteration % training.config.checkpoint_every == 0


def _tell_of_the_steps(training: Training, display: Display) -> None:
    """Say, as they begin, where the steps asked for are no whole number of batches: the rest is not trained."""
    asked, batch, learner = training.config.steps, training.learner.config.batch_size, training.learner
    begun = [0, *(extension["iteration"] for extension in training.config.extensions or ())][-1]
    if asked % batch and learner.iteration == begun:
        display.note(f"of {asked:,} steps {asked - asked % batch:,} are trained, in whole batches of {batch:,}.")


def _tell_plain_sums(training: Training, run: Run, display: Display) -> None:
    """Say where plain sums are held to the limits of constraints that discount them: a task's own are not meant for that."""
    limits = training.config.limits
    own = any(c.discount < 1.0 and limits[c.name] == c.limit for c in training.task.constraints)  # type: ignore[index]
    if holds_plain_sums(run.config["settings"]) and own:
        display.note(
            "the plain sum of costs is held to the limit here; the task's own limit is meant for the discounted sum."
        )


def _tell_bound(training: Training, display: Display) -> None:
    """Warn, now and again, of a multiplier that cannot rise any more."""
    learner = training.learner
    if learner.at_bound and learner.at_bound % BOUND_PATIENCE == 0:
        display.note(
            f"a multiplier has been at its bound {learner.config.multiplier_max:g} for {learner.at_bound} "
            "iterations: the constraint is pressed no harder. Raise --multiplier-max, or check the limit."
        )


@contextmanager
def stop_signals(hurry: Callable[[], None], display: Display) -> Iterator[list[int]]:
    """Let Ctrl-C and SIGTERM only fill the list while inside, after `hurry()`; a second Ctrl-C interrupts at once."""
    received: list[int] = []

    def note(number: int, frame: Any) -> None:
        if received:
            raise KeyboardInterrupt("stopped at once, at the newest checkpoint")
        received.append(number)
        display.note("stopping after this iteration …")
        hurry()

    try:
        before = {s: signal.signal(s, note) for s in (signal.SIGINT, signal.SIGTERM)}
    except ValueError:  # not the main thread: the program around us handles signals
        before = {}
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
