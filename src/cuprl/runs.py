"""One run folder: settings, a row of metrics an iteration, checkpoints. Nothing else is needed to use a run later.

    runs/<task>/<algo>/seed<k>-<time>/config.json  progress.csv  checkpoints/<iteration>-<checksum>.safetensors
"""

from __future__ import annotations

import csv
import fcntl
import hashlib
import json
import os
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from cuprl import provenance
from cuprl.errors import UserError

KEEP = 3  # checkpoints kept: if the newest is damaged, there is one before it
CHECKPOINT = re.compile(r"(\d{8})-([0-9a-f]{16})\.safetensors")


class Run:
    """A run folder that exists."""

    def __init__(self, path: str | Path):
        self.path = Path(path)
        if not (self.path / "config.json").is_file():
            raise UserError(f"{self.path} is not a run: it has no config.json. Give a folder that `cup train` made.")
        try:
            self.config: dict[str, Any] = json.loads((self.path / "config.json").read_text())
        except ValueError as error:  # not JSON, or not text
            raise UserError(f"{self.path / 'config.json'} is not readable JSON ({error}); restore it.") from None
        provenance.refuse_foreign(self.path, self.config)

    @staticmethod
    def create(path: str | Path | None, config: dict[str, Any]) -> Run:
        """A new folder; an existing one must be empty, so that nothing is lost."""
        if path is None:
            stamp = time.strftime("%Y%m%d-%H%M%S")
            path = Path("runs", config["task"], config["algo"], f"seed{config['seed']}-{stamp}")
            while path.exists():
                path = path.with_name(path.name + "-again")
        path = Path(path)
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise UserError(f"the output folder {path} is not empty; give another with --out, or `cup resume {path}`.")
        (path / "checkpoints").mkdir(parents=True)
        facts = {**config, **provenance.facts(config), "command": sys.argv}
        write_atomically(path / "config.json", json.dumps(facts, indent=1).encode())
        return Run(path)

    # --- metrics ------------------------------------------------------------------------------------------------

    def append(self, row: dict[str, float]) -> None:
        """One row of progress.csv; the first decides the columns."""
        file = self.path / "progress.csv"
        new = not file.exists() or not file.stat().st_size
        with file.open("a", newline="") as handle:
            writer = csv.DictWriter(handle, list(row), lineterminator="\n")
            if new:
                writer.writeheader()
            writer.writerow({name: repr(value) for name, value in row.items()})

    def progress(self) -> dict[str, np.ndarray]:
        """The metrics so far, a column each."""
        file = self.path / "progress.csv"
        if not file.is_file():
            raise UserError(f"{self.path} has no progress.csv yet; it is written after the first iteration.")
        with file.open() as handle:
            rows = list(csv.reader(handle))
        rows = [row for row in rows if len(row) == len(rows[0])]  # a killed run may leave half a line
        columns = zip(*rows[1:]) if len(rows) > 1 else [()] * len(rows[0])
        return {name: np.array(column, np.float64) for name, column in zip(rows[0], columns)}

    def forget_after(self, iteration: int) -> None:
        """Drop the rows past a checkpoint: the resumed run writes them again."""
        file = self.path / "progress.csv"
        if file.is_file():
            # A killed run may leave half a line, even half a header.
            lines = [line for line in file.read_text().splitlines(keepends=True) if line.endswith("\n")]
            kept = [row for row in lines[1:] if int(row.split(",", 1)[0]) <= iteration]
            write_atomically(file, "".join([*lines[:1], *kept]).encode())

    @contextmanager
    def locked(self) -> Iterator[None]:
        """One process at a time writes to a run."""
        with (self.path / "lock").open("w") as handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise UserError(f"{self.path} is being trained by another process; wait for it or stop it.") from None
            yield

    # --- checkpoints --------------------------------------------------------------------------------------------

    def checkpoints(self) -> list[Path]:
        """Newest first."""
        return sorted((p for p in (self.path / "checkpoints").glob("*.safetensors") if CHECKPOINT.fullmatch(p.name)),
                      reverse=True)  # fmt: skip

    def save(self, iteration: int, arrays: dict[str, np.ndarray]) -> Path:
        if (self.path / "progress.csv").is_file():
            with (self.path / "progress.csv").open("a") as handle:  # its rows reach the disk before the checkpoint does
                os.fsync(handle.fileno())
        content = save({name: np.asarray(array, order="C") for name, array in arrays.items()})
        path = self.path / "checkpoints" / f"{iteration:08d}-{checksum(content)}.safetensors"
        write_atomically(path, content)
        for old in self.checkpoints()[KEEP:]:
            old.unlink()
        return path

    def latest(self) -> tuple[dict[str, np.ndarray], list[str]]:
        """The newest intact checkpoint, and a sentence for each newer one that was refused."""
        refused: list[str] = []
        for path in self.checkpoints():
            try:
                return read_checkpoint(path), refused
            except UserError as error:
                refused.append(str(error))
        refused.append(f"{self.path} has no intact checkpoint; start the run again with `cup train`.")
        raise UserError(" ".join(refused))


def checksum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def read_checkpoint(path: Path) -> dict[str, np.ndarray]:
    """A checkpoint's arrays; its name carries the checksum of its content, so that damage is seen."""
    named = CHECKPOINT.fullmatch(path.name)
    if named is None or checksum(path.read_bytes()) != named[2]:
        raise UserError(f"the checkpoint {path} is damaged: its content does not match the checksum in its name.")
    try:
        with safe_open(path, framework="np") as file:
            return {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except SafetensorError as error:
        raise UserError(f"the checkpoint {path} is damaged: {error}.") from None


def misfit(error: Exception) -> UserError:
    return UserError(f"the checkpoint does not fit the run's settings ({error}); restore config.json.")


def write_atomically(path: Path, content: bytes) -> None:
    """All or nothing, also if the machine stops half-way."""
    part = path.with_name(path.name + ".part")
    with part.open("wb") as handle:
        handle.write(content)
        handle.flush()
        os.fsync(handle.fileno())
    part.replace(path)
