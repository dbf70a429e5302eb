"""Files with a row an iteration, as progress.csv and evaluations.csv: the first column is its number.

Damage is told, half a last line is not: a killed run leaves such.
"""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path
from typing import Any

import numpy as np

from cuprl.errors import UserError
from cuprl.runs import files

LARGEST = 2**30  # bytes
DIGITS = 18  # of an iteration's number


class Rows:
    """Reads and writes such a file; it is made with its first row."""

    def __init__(self, path: Path):
        self.path = path
        self._columns: list[str] | None = None  # once a row was written

    def append(self, row: dict[str, float]) -> None:
        """Write one row; the first decides the columns, also where an older cuprl wrote it."""
        with files.appending(self.path) as handle:
            new = not os.fstat(handle.fileno()).st_size
            if self._columns is None:
                self._columns = list(row) if new else self.table()[0]
            writer = csv.DictWriter(handle, self._columns, restval="nan", extrasaction="ignore", lineterminator="\n")
            if new:
                writer.writeheader()
            writer.writerow({name: repr(value) for name, value in row.items()})

    def table(self) -> list[list[str]]:
        """Read the header and the rows as they are written; nothing where there is no file."""
        return read_rows(self.path)

    def columns(self) -> dict[str, np.ndarray]:
        """Read the numbers, a column each [rows]; none where there is no file."""
        rows = self.table()
        return as_columns(rows, self.path) if rows else {}

    def recorded(self) -> set[int]:
        """Find the iterations that have a row."""
        return {iteration for row in self.table()[1:] if (iteration := iteration_in(row))}

    def forget_after(self, iteration: int) -> None:
        """Drop the rows past an iteration, and what is no whole row."""
        if os.path.lexists(self.path):
            rows, text = self.table(), io.StringIO()
            kept = [row for row in rows[1:] if 0 < iteration_in(row) <= iteration]
            csv.writer(text, lineterminator="\n").writerows([*rows[:1], *kept])
            files.write_atomically(self.path, text.getvalue().encode())

    def sync(self) -> None:
        """Wait until its rows are on the disk."""
        if self.path.is_file():
            with files.appending(self.path) as handle:
                os.fsync(handle.fileno())


def read_rows(path: Path) -> list[list[str]]:
    """Read the header and the whole rows, none where there is no file: a killed run may leave half a line or header."""
    if not os.path.lexists(path):
        return []
    text = files.read(path, LARGEST).decode(errors="replace")
    try:
        rows = list(csv.reader(whole_lines(text)))
    except csv.Error as error:
        raise damaged(path, error) from None
    if not rows:
        return []
    if rows[0][:1] != ["iteration"] or len(set(rows[0])) < len(rows[0]):
        raise damaged(path, "its first line is not the names of its columns, iteration first")
    return [row for row in rows if len(row) == len(rows[0])]


def whole_lines(text: str) -> list[str]:
    """Cut a text into lines where they were ended, and leave half a last one out; a name may hold other kinds of ends."""
    return [line for line in io.StringIO(text, newline="\n") if line.endswith("\n")]


def iteration_in(row: list[str]) -> int:
    """Read a row's number; 0, which none has, where it is damaged."""
    return int(row[0]) if row[0].isdecimal() and len(row[0]) <= DIGITS else 0


def as_columns(rows: list[list[str]], path: Path) -> dict[str, np.ndarray]:
    """Turn the rows' words into numbers, a column each [rows]."""
    columns = zip(*rows[1:]) if len(rows) > 1 else [()] * len(rows[0])
    try:
        return {name: np.array(column, np.float64) for name, column in zip(rows[0], columns)}
    except ValueError as error:
        raise damaged(path, error) from None


def damaged(path: Path, why: Any) -> UserError:
    """Say what is wrong with the file."""
    return UserError(f"{path} is damaged ({why}); restore it, or train the run again.")
