"""What goes wrong in a grid: of one run, which is told beside its folder, or of all, which ends the grid."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cuprl.errors import UserError
from cuprl.experiments.engines.local import log_of
from cuprl.runs.files import try_writing

FULL = tuple(os.strerror(code) for code in (errno.ENOSPC, errno.EDQUOT))  # what a run without room for its files says last
GO_ON = "make room or mend it, and the same command goes on; nothing that is finished is lost"


class Stopped(UserError):  # noqa: N818
    """What ends a whole grid, for every further run would fail alike."""


def failure_of(path: Path) -> Path:
    """Say where it is written why a run failed for good: beside its folder."""
    return path.with_name(path.name + ".failed")


def last_lines(path: Path) -> str:
    """Read the last five lines that a run printed."""
    return "".join(log_of(path).read_text(errors="replace").splitlines(keepends=True)[-5:])


def refuse_full_disk(path: Path) -> None:
    """End the grid where a run has ended for want of room: trained again it would end so again, and so would the others."""
    try:
        said = last_lines(path).strip().rpartition("\n")[2]  # older lines may be of a time when it was full
    except OSError:  # it said nothing
        return
    if any(full in said for full in FULL):
        raise Stopped(f"the disk of {path} is full; {GO_ON}.")


def try_storing(results: Path) -> None:
    """Find out before hours of training whether results can be stored."""
    with storing(results):
        try_writing(results / "result")


@contextmanager
def storing(results: Path) -> Iterator[None]:
    """End the grid where the results' folder cannot be written: the runs themselves are not at fault."""
    try:
        yield
    except OSError as error:
        raise Stopped(f"results cannot be stored in {results} ({error.strerror}); {GO_ON}.") from None
