"""One run folder: settings, a row of metrics an iteration, checkpoints. Nothing else is needed to use a run later.

runs/<task>/<algo>/seed<k>-<time>/config.json  progress.csv  checkpoints/<iteration>-<checksum>.safetensors
and, where it was evaluated in training, evaluations.csv
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from cuprl.errors import UserError, unknown
from cuprl.runs import evaluations, files, progress, provenance
from cuprl.runs.checkpoint import Arrays, iteration_of, list_checkpoints, prune, read_checkpoint, write_checkpoint
from cuprl.runs.columns import needed
from cuprl.runs.config import RunConfig
from cuprl.runs.files import write_atomically
from cuprl.runs.paths import given_folder, mend_no_run, new_folder, refuse_used


class Run:
    """Reads and writes a run folder that exists."""

    def __init__(self, path: str | Path):
        self.path = given_folder(path)
        self.rows = progress.Rows(self.path / "progress.csv")
        self.evaluations = progress.Rows(self.path / evaluations.NAME)
        if not os.path.lexists(self.path / "config.json"):
            raise UserError(f"{self.path} is not a run: it has no config.json. {mend_no_run(self.path)}")
        self.config: dict[str, Any] = provenance.read_config(self.path)

    def __repr__(self) -> str:
        made = self.config
        return f"<Run {self.path}: {made['task']} by {made['algo']}, seed {made['seed']}, {made['steps']:,} steps>"

    @staticmethod
    def create(path: str | Path | None, config: RunConfig) -> Run:
        """Make a new folder; an existing one must be empty, so that nothing is lost."""
        with Run.begun(path, config) as run:
            return run

    @staticmethod
    @contextmanager
    def begun(path: str | Path | None, config: RunConfig) -> Iterator[Run]:
        """Make a new folder, locked while inside: of two processes that begin a run there at once, one is refused."""
        path = new_folder(config) if path is None else given_folder(path)
        refuse_used(path)  # before a lock is put there
        path.mkdir(parents=True, exist_ok=True)
        with files.locked(path):
            refuse_used(path)
            files.refuse_link(path / "checkpoints")
            (path / "checkpoints").mkdir(exist_ok=True)
            facts = {**config.to_json(), **provenance.facts(config), "command": sys.argv}
            write_atomically(path / "config.json", json.dumps(facts, indent=1).encode())
            yield Run(path)

    def extend(self, config: RunConfig) -> None:
        """Write a configuration with more steps into config.json, and with it who asked for them."""
        by = {"command": sys.argv, "versions": provenance.versions(), "git": provenance.git_commit()}
        asked = config.to_json()
        facts = {**self.config, "steps": asked["steps"], "extensions": asked["extensions"]}
        facts |= {"hash": provenance.fingerprint(facts), "extended_by": [*self.config.get("extended_by", ()), by]}
        write_atomically(self.path / "config.json", json.dumps(facts, indent=1).encode())
        self.config = facts

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the run while inside: one process at a time writes to it.

        Its config is read anew, for whoever had the lock before may have given the run more steps.
        """
        with files.locked(self.path):
            self.config = provenance.read_config(self.path)
            yield

    # --- metrics ------------------------------------------------------------------------------------------------

    @property
    def metrics(self) -> Path:
        """Say where progress.csv is."""
        return self.rows.path

    def append(self, row: dict[str, float]) -> None:
        """Write one row of progress.csv."""
        self.rows.append(row)

    def progress(self) -> dict[str, np.ndarray]:
        """Read the metrics so far, a column each."""
        if not (columns := self.rows.columns()):
            raise UserError(f"{self.path} has no progress.csv yet; it is written after the first iteration.")
        return columns

    def measured(self) -> dict[str, np.ndarray]:
        """Read the metrics as `progress` does, and refuse them without a column that pictures and tables are made of."""
        columns = self.progress()
        if lacking := [name for name in needed(self.config["limits"]) if name not in columns]:
            raise progress.damaged(self.metrics, f"it has no column {lacking[0]}")
        return columns

    def recorded(self) -> set[int]:
        """Find the iterations that have a row of metrics."""
        return self.rows.recorded()

    def forget_after(self, iteration: int) -> None:
        """Drop the rows past a checkpoint, also of evaluations: the resumed run writes them again."""
        self.rows.forget_after(iteration)
        self.evaluations.forget_after(iteration)

    def best(self) -> int | None:
        """Find the iteration of the best evaluation, by the rule of `evaluations.best_row`; None where there is none."""
        columns = self.evaluations.columns()
        row = evaluations.best_row(columns, self.config)
        return None if row is None else int(columns["iteration"][row])

    # --- checkpoints --------------------------------------------------------------------------------------------

    def checkpoints(self) -> list[Path]:
        """Find the checkpoints, newest first."""
        return list_checkpoints(self.path / "checkpoints")

    def to_resume_from(self) -> list[Path]:
        """Order the checkpoints, best first: the newest with all rows before it, for what is lost is done again."""
        recorded = self.recorded()
        whole = next(i for i in count() if i + 1 not in recorded)  # the rows are there up to here
        return sorted(self.checkpoints(), key=lambda path: (iteration_of(path) <= whole, path.name), reverse=True)

    def lost(self) -> list[range]:
        """Find the iterations up to the newest checkpoint that have no row of metrics, in stretches of any length."""
        newest = max(map(iteration_of, self.checkpoints()), default=0)
        rows = [0, *sorted(i for i in self.recorded() if i <= newest), newest + 1]
        return [range(a + 1, b) for a, b in pairwise(rows) if b > a + 1]

    def save(self, iteration: int, arrays: Arrays) -> Path:
        """Write a checkpoint, after the rows that came before it; of the older ones the last two and the best stay."""
        self.rows.sync()
        self.evaluations.sync()
        path = write_checkpoint(self.path / "checkpoints", iteration, arrays)
        prune(path, self.best())
        return path

    def choose(self, checkpoint: str | int | None) -> list[Path]:
        """Find the files to read for "last" (or None), "best" or an iteration: where the first is damaged, the next."""
        if checkpoint is None or checkpoint == "last":
            return self.checkpoints()
        kept = {iteration_of(path): path for path in self.checkpoints()}
        wanted = self._best_or_why() if checkpoint == "best" else checkpoint
        if not str(wanted).isdecimal() or isinstance(wanted, bool):
            raise unknown("checkpoint", str(wanted), ["best", "last", *map(str, kept)])
        if int(wanted) not in kept:
            there = ", ".join(map(str, kept)) or "none"
            raise UserError(f"{self.path} has no checkpoint of iteration {wanted}; it has {there}. Or give best or last.")
        return [kept[int(wanted)]]

    def _best_or_why(self) -> int:
        """Find the iteration of the best evaluation; where there is none, say why and what to do."""
        if (iteration := self.best()) is not None:
            return iteration
        if count := len(self.evaluations.recorded()):
            why = f"none of the {count} evaluations of {self.path} was within every limit, so that no checkpoint is the best"
            raise UserError(f"{why}; give --checkpoint last, or train it further.")
        why = f"{self.path} was not evaluated in training, so that no checkpoint is known to be the best"
        raise UserError(f"{why}; give --checkpoint last, or train with --eval-every N.")

    def read(self, paths: Sequence[Path]) -> tuple[Path, Arrays, list[str]]:
        """Read the first intact checkpoint of these: its file, its arrays, and a sentence for each refused before it."""
        refused: list[str] = []
        for path in paths:
            try:
                return path, read_checkpoint(path), refused
            except UserError as error:
                refused.append(str(error))
        others = [str(iteration_of(path)) for path in self.checkpoints() if path not in paths]
        instead = (
            f"give --checkpoint last, or one of {', '.join(others)}" if others else "start the run again with `cup train`"
        )
        refused.append(f"{self.path} has no intact checkpoint{' of that iteration' if others else ''}; {instead}.")
        raise UserError(" ".join(refused))

    def latest(self) -> tuple[Arrays, list[str]]:
        """Read the newest intact checkpoint, and a sentence for each that was refused before it."""
        return self.read(self.checkpoints())[1:]


def iterations(stretches: list[range]) -> str:
    """Write them as 'iteration 7', or 'iterations 3 to 5, 9'."""
    said = ", ".join(str(s[0]) if len(s) == 1 else f"{s[0]} to {s[-1]}" for s in stretches)
    return f"iteration{'s' if sum(map(len, stretches)) > 1 else ''} {said}"
