"""Files of a run that are cut, altered or removed while it stands still, finished or half-way."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from random import Random

from .compare import can_go_on, checkpoints, expect_same, last_row, snapshot
from .processes import HUNG, Failed
from .trial import EVERY, Trial, expect

Damage = Callable[[Path, Random], None]


def alter(path: Path, chance: Random) -> None:
    """Cut it, flip one of its bits, or remove it."""
    kind, content = chance.choice(("cut", "flip", "remove")), path.read_bytes()
    if kind == "remove":
        path.unlink()
    elif kind == "cut":
        path.write_bytes(content[: chance.randrange(len(content))])
    else:
        at = chance.randrange(len(content))
        path.write_bytes(content[:at] + bytes([content[at] ^ 1 << chance.randrange(8)]) + content[at + 1 :])


def checkpoint(run: Path, chance: Random) -> None:
    """The newest, or the newest ones, or all."""
    found = checkpoints(run)
    for path in found[: chance.choice((1, 1, 2, len(found)))]:
        alter(path, chance)


def metrics(run: Path, chance: Random) -> None:
    """progress.csv is cut anywhere, or some of its rows are removed. (It has no checksum: a changed digit is not seen.)"""
    path = run / "progress.csv"
    content = path.read_bytes()
    if chance.random() < 0.5:
        path.write_bytes(content[: chance.randrange(len(content))])
        return
    header, *lines = content.splitlines(keepends=True)
    first, last = sorted(chance.randrange(len(lines) + 1) for _ in range(2))
    path.write_bytes(b"".join([header, *lines[:first], *lines[last:]]))


def configuration(run: Path, chance: Random) -> None:
    alter(run / "config.json", chance)


def damaged(trial: Trial, damage: Damage) -> str:
    stopped_run(trial)
    before = shutil.copytree(trial.run, trial.folder / "before")
    damage(trial.run, trial.random)
    return told_or_mended(trial, before)


def stopped_run(trial: Trial) -> None:
    """A finished run, or one that was killed some time after its second checkpoint."""
    if trial.random.random() < 0.4:
        shutil.copytree(trial.reference(), trial.run)
        return
    row = trial.random.uniform(2 * EVERY, 6 * EVERY)
    command = trial.go_on()
    trial.host.wait(lambda: last_row(trial.run) >= row or not command.running(), HUNG)
    command.strike(signal.SIGKILL)
    command.end().expect(-signal.SIGKILL, 0)


def told_or_mended(trial: Trial, before: Path) -> str:
    """What is enough to go on from gives the undisturbed run; otherwise it is said what is lost, and no more gets lost."""
    reference, left = trial.reference(), snapshot(trial.run)
    known = (trial.run / "config.json").is_file() and left["config.json"] == (before / "config.json").read_bytes()
    enough = known and can_go_on(trial.run, EVERY)
    command = trial.go_on().end()
    trial.host.expect_nothing_left()
    if command.status == 0:
        command.expect(0)
        lost = not enough and "are lost" in command.err
        expect_same(trial.run, reference, lost)
        return "told" if lost else "same"
    if enough:
        raise Failed(f"all was there to go on from, but it ended with status {command.status}: {command.err}")
    command.expect(2).sentence()
    expect(snapshot(trial.run) == left, "a refused resume changed the folder")
    shutil.copytree(before, trial.run, dirs_exist_ok=True)
    trial.finish()
    return "told"
