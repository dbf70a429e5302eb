"""A run's folder as it is at one moment: all that a page says of it, read once and then left alone."""

from __future__ import annotations

import base64
import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from cuprl.algorithms import as_now
from cuprl.core.spec_json import spec_from_json
from cuprl.core.values import is_number
from cuprl.errors import UserError
from cuprl.policies import certificate
from cuprl.runs import evaluations, files, progress, provenance
from cuprl.runs.columns import column, held_cost, holds_plain_sums
from cuprl.runs.config_checks import planned_iterations
from cuprl.runs.folder import Run, iteration_of

LARGEST_VIDEO = 20 * 10**6  # bytes
VIDEOS = {"video.mp4": "video/mp4", "video.gif": "image/gif"}


@dataclass(frozen=True, eq=False)
class Seen:
    """A run: its configuration in today's words, its rows, and what lies beside them."""

    path: str
    config: dict[str, Any]
    rows: dict[str, np.ndarray]  # column of progress.csv -> [rows]; empty before the first
    checkpoint: int = 0  # the newest one's iteration; 0: there is none
    lost: list[range] = field(default_factory=list)  # iterations without a row
    training: bool = False  # a process has the folder's lock
    evaluations: dict[str, np.ndarray] = field(default_factory=dict)  # column of evaluations.csv -> [evaluations]
    certificate: Any = None
    faults: list[str] = field(default_factory=list)  # what of the folder is not as it was written

    @property
    def limits(self) -> dict[str, float]:
        """Give the limit of each constraint by its name."""
        return self.config["limits"]

    @property
    def planned(self) -> int:
        """Count the iterations that the run is to have."""
        return planned_iterations(self.config)

    def metric(self, key: str, constraint: str) -> np.ndarray | None:
        """Give a constraint's column [rows]; None where the algorithm has no such."""
        return self.rows.get(column(key, constraint, self.limits))

    @property
    def best(self) -> int | None:
        """Find the row of the best evaluation; None where there is none within every limit."""
        return evaluations.best_row(self.evaluations, self.config)

    @property
    def bound(self) -> float:
        """Give the largest multiplier; infinite where there is none."""
        bound = self.config["settings"].get("multiplier_max")
        return bound if is_number(bound) and bound > 0 else math.inf

    def cost(self, constraint: str) -> np.ndarray:
        """Give the cost that this run holds to its limit [rows]."""
        return self.rows[column(held_cost(self.config["settings"]), constraint, self.limits)]

    def how_discounted(self, constraint: str) -> str:
        """Say how a constraint's cost is summed up."""
        constraints = spec_from_json(self.config["spec"]).constraints if "spec" in self.config else ()
        known = {c.name: c.discount for c in constraints}
        if holds_plain_sums(self.config["settings"]) or known.get(constraint) == 1.0:
            return "undiscounted"
        return f"discounted by {known[constraint]:g}" if constraint in known else "discounted"


def read_run(run: Run) -> Seen:
    """Read all that a page shows of a run, at one moment; what is damaged is noted, not raised."""
    faults: list[str] = []
    try:
        provenance.refuse_altered(run.path, run.config)
    except UserError as error:
        faults.append(str(error))
    return Seen(
        str(run.path),
        as_now(run.config),
        numbered(run.measured()) if run.recorded() else {},
        checkpoint=max(map(iteration_of, run.checkpoints()), default=0),
        lost=run.lost(),
        training=files.held(run.path),
        evaluations=read_evaluations(run.path / evaluations.NAME, faults),
        certificate=read_certificate(run.path / certificate.NAME, faults),
        faults=faults,
    )


def numbered(columns: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Keep the rows that say which iteration they are of, and after how many steps; nothing where none does."""
    where = columns["iteration"], columns["steps"]
    kept = np.logical_and.reduce([(place >= 1) & (place < 10**progress.DIGITS) for place in where])
    return {name: values[kept] for name, values in columns.items()} if kept.any() else {}


def read_evaluations(path: Path, faults: list[str]) -> dict[str, np.ndarray]:
    """Read the columns that are numbers; without steps they have no place, and none is shown."""
    try:
        rows = progress.read_rows(path)
    except UserError as error:
        faults.append(str(error))
        return {}
    found = {}
    for name, *values in zip(*rows):
        try:
            found[name] = np.array([value or "nan" for value in values], np.float64)
        except ValueError:  # a column of words
            continue
    return numbered(found) if {"iteration", "steps"} <= found.keys() else {}


def read_certificate(path: Path, faults: list[str]) -> Any:
    """Read the certificate's JSON in a run's folder, if there is one; what is damaged is added to the faults."""
    if not is_own(path):
        return None
    try:
        return json.loads(files.read(path, certificate.LARGEST_FILE))
    except UserError as error:
        faults.append(str(error))
    except (ValueError, RecursionError) as error:
        faults.append(f"{path} is not readable JSON ({error}); certify the policy again.")
    return None


def read_video(folder: Path) -> tuple[str, str]:
    """Read the video of a run as (kind, data URI), ("", "") without one; one that is too large for a page is left out."""
    for name, kind in VIDEOS.items():
        if is_own(folder / name) and (folder / name).stat().st_size < LARGEST_VIDEO:
            content = files.read(folder / name, LARGEST_VIDEO)
            return kind, f"data:{kind};base64,{base64.b64encode(content).decode()}"
    return "", ""


def is_own(path: Path) -> bool:
    """Tell whether a file lies there itself: a stranger's link to one of ours must not put it on a page that we hand on."""
    return path.is_file() and not path.is_symlink()
