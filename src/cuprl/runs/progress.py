"""progress.csv as it is read: a row an iteration, the first column its number. Damage is told, half a last line is not."""

from __future__ import annotations

import csv
import os
from pathlib import Path
from typing import Any

import numpy as np

from cuprl.errors import UserError
from cuprl.runs import files

LARGEST = 2**30  # bytes
DIGITS = 18  # of an iteration's number


def read_rows(path: Path) -> list[list[str]]:
    """Read the header and the whole rows, none where there is no file: a killed run may leave half a line or header."""
    if not os.path.lexists(path):
        return []
    text = files.read(path, LARGEST).decode(errors="replace")
    try:
        rows = list(csv.reader(line for line in text.splitlines(keepends=True) if line.endswith("\n")))
    except csv.Error as error:
        raise damaged(path, error) from None
    if not rows:
        return []
    if rows[0][:1] != ["iteration"] or len(set(rows[0])) < len(rows[0]):
        raise damaged(path, "its first line is not the names of its columns, iteration first")
    return [row for row in rows if len(row) == len(rows[0])]


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
