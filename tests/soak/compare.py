"""What a run's folder holds, read without cuprl: is it that of a run nobody disturbed, to the last bit?"""

from __future__ import annotations

import csv
import fcntl
import hashlib
from pathlib import Path

from .processes import Failed


def rows(run: Path) -> dict[int, dict[str, str]]:
    """The whole rows of progress.csv by their iteration, without the clock's columns; as text, which has all the bits."""
    path = run / "progress.csv"
    lines = path.read_text(errors="replace").splitlines(keepends=True) if path.is_file() else []
    header, *rest = list(csv.reader(line for line in lines if line.endswith("\n"))) or [[]]
    whole = [dict(zip(header, row)) for row in rest if len(row) == len(header)]
    return {int(row["iteration"]): {key: row[key] for key in row if not key.startswith("time/")} for row in whole}


def last_row(run: Path) -> int:
    """Cheap: looked at again and again while a run goes on."""
    try:
        return max((run / "progress.csv").read_bytes().count(b"\n") - 1, 0)
    except OSError:
        return 0


def held(run: Path) -> bool:
    """Whether a process has the run for itself."""
    try:
        with open(run / "lock") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def checkpoints(run: Path) -> list[Path]:
    """Newest first, damaged or not."""
    return sorted((run / "checkpoints").glob("*.safetensors"), reverse=True)


def iteration_of(checkpoint: Path) -> int:
    return int(checkpoint.name.partition("-")[0])


def intact(checkpoint: Path) -> bool:
    """Its name has the checksum of its content."""
    found = hashlib.sha256(checkpoint.read_bytes()).hexdigest()[:16] if checkpoint.is_file() else ""
    return checkpoint.name.removesuffix(".safetensors").partition("-")[2] == found


def difference(run: Path, reference: Path, lost: bool = False) -> str:
    """What tells a finished run from its reference, in words; nothing if they are equal. lost: rows may be missing."""
    ours, theirs = rows(run), rows(reference)
    missing = sorted(theirs.keys() - ours.keys())
    if (missing and not lost) or ours.keys() - theirs.keys():
        return f"it has {len(ours)} rows of {len(theirs)}; the first missing is {missing[:1]}"
    for iteration, row in ours.items():
        if wrong := [name for name in theirs[iteration] if row.get(name) != theirs[iteration][name]]:
            return f"iteration {iteration} has {wrong[0]} {row.get(wrong[0])}, not {theirs[iteration][wrong[0]]}"
        if row.keys() != theirs[iteration].keys():
            return f"it has the columns {', '.join(row.keys() ^ theirs[iteration].keys())} or has them not"
    newest, expected = (checkpoints(path)[:1] for path in (run, reference))
    if not newest or newest[0].name != expected[0].name or newest[0].read_bytes() != expected[0].read_bytes():
        return f"its last checkpoint is {newest}, not {expected}"
    return ""


def expect_same(run: Path, reference: Path, lost: bool = False) -> None:
    if different := difference(run, reference, lost):
        raise Failed(f"{run} is not the undisturbed run: {different}")


def expect_nothing_wrong_so_far(run: Path, reference: Path) -> None:
    """Of a run that was stopped: what is there is right, and no half-written file is left."""
    theirs = rows(reference)
    if wrong := [iteration for iteration, row in rows(run).items() if theirs.get(iteration) != row]:
        raise Failed(f"{run}: the row of iteration {wrong[0]} is not that of the undisturbed run")
    if damaged := [path.name for path in checkpoints(run) if not intact(path)]:
        raise Failed(f"{run}: the checkpoint {damaged[0]} is damaged")


def can_go_on(run: Path, every: int) -> bool:
    """Whether what is left is enough to go on exactly: an intact checkpoint with every row before it, or a start."""
    recorded = set(rows(run))
    if not checkpoints(run):
        return max(recorded, default=0) <= every
    return any(intact(path) and recorded.issuperset(range(1, iteration_of(path) + 1)) for path in checkpoints(run))


def snapshot(folder: Path) -> dict[str, bytes]:
    """All files but the lock, which whoever looks may make."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != "lock"
    }
