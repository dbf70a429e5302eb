"""The results store: one small file a finished run, kept apart from the run folders and small enough for git.

    results/<experiment>/<task>-<algo>-seed<k>-<hash of the configuration>.json.gz

A file holds the metrics of every iteration, the configuration, package versions, the machine and the commit, with a
checksum over it all; no paths, no host or user names. The same run gives the same bytes. It is plain JSON: nothing is
ever unpickled.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cuprl.algorithms import as_now, settings_that_differ
from cuprl.errors import UserError
from cuprl.experiments.grid.cells import file_name
from cuprl.runs.columns import column, held_cost, needed
from cuprl.runs.config import identity_of
from cuprl.runs.config_checks import check_configuration, planned_iterations
from cuprl.runs.files import read as read_file
from cuprl.runs.files import too_large, write_with_folders
from cuprl.runs.provenance import plain

FORMAT = 2
SUFFIX = ".json.gz"
LARGEST = 2**25  # bytes of a file unpacked: a hundred thousand iterations
DIGITS, CLOCK_DIGITS = 6, 4  # significant ones kept of a metric (about what float32 carries) and of a time
DISTURBED = 3  # times the median of a run's iterations: longer ones are not its own doing


@dataclass(frozen=True, eq=False)
class Result:
    """One finished run."""

    config: dict[str, Any]  # of its config.json what its numbers depend on, as `RunConfig.identity`
    metrics: dict[str, np.ndarray]  # column of progress.csv -> [iterations]
    versions: dict[str, str]
    machine: dict[str, Any] | None
    git: str | None
    evaluation: dict[str, Any] | None = None  # of the mode when it was stored, where that was asked for: `store.evaluation`

    @property
    def name(self) -> str:
        """Say which run it is: task, algorithm and seed."""
        return f"{self.config['task']} {self.config['algo']} seed {self.config['seed']}"

    @property
    def limits(self) -> dict[str, float]:
        """Give the limit of each constraint by its name."""
        return self.config["limits"]

    def cost(self, constraint: str, key: str | None = None) -> np.ndarray:
        """Give the cost that this run holds to a limit, or another metric of the constraint, over training [iterations]."""
        return self.metrics[column(key or held_cost(self.config["settings"]), constraint, self.limits)]

    @property
    def seconds(self) -> np.ndarray:
        """Sum up the time spent up to each iteration, collection and update [iterations].

        One that took more than three times the median is taken for the median: the process was stopped, or the machine
        slept or did something else (a grid's runs go on over days).
        """
        each = self.metrics["time/collect"] + self.metrics["time/update"]
        usual = np.median(each)
        return np.cumsum(np.where(each > DISTURBED * usual, usual, each))


def config_hash(config: dict[str, Any]) -> str:
    """Give 16 hex digits that stand for a configuration: of a config.json, or of what a cell asks for.

    Settings at their defaults leave no trace in it: one that is added later changes no hash.
    """
    config = as_now(config)
    differing = settings_that_differ(config["algo"], config["settings"])
    telling = {**identity_of(config), "settings": differing}
    text = json.dumps(plain(telling), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


# --- files ------------------------------------------------------------------------------------------------------------


def store(result: Result, folder: Path) -> Path:
    """Write a result into an experiment's folder; one of the same configuration is written over."""
    config = result.config
    body = {
        "config": config,
        "hash": config_hash(config),
        "versions": result.versions,
        "machine": result.machine,
        "git": result.git,
        "metrics": {name: rounded(name, column) for name, column in result.metrics.items()},
        **({"evaluation": result.evaluation} if result.evaluation else {}),
    }
    content = json.dumps({"format": FORMAT, "checksum": checksum(body), **body}, separators=(",", ":")).encode()
    if len(content) > LARGEST:
        raise UserError(f"{result.name} would be a result of {len(content):,} bytes; {LARGEST:,} are the most.")
    path = path_of(result, folder)
    write_with_folders(path, gzip.compress(content, 9, mtime=0))
    return path


def path_of(result: Result, folder: Path) -> Path:
    """Say which file a result has in an experiment's folder."""
    config = result.config
    return folder / file_name(f"{config['task']}-{config['algo']}-seed{config['seed']}-{config_hash(config)}{SUFFIX}")


def rounded(name: str, column: np.ndarray) -> list[float | int | None]:
    """Write a column in few digits; null where JSON has no word for it (NaN: no episode had ended yet)."""
    digits = CLOCK_DIGITS if name.startswith("time/") else DIGITS
    return [None if not np.isfinite(x) else int(x) if float(x).is_integer() else float(f"{x:.{digits}g}") for x in column]


def checksum(body: dict[str, Any]) -> str:
    """Compute the sha256 of what a file says."""
    return hashlib.sha256(json.dumps(body, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def read(path: Path) -> Result:
    """Read a stored result; damage and other formats are refused by name."""
    mend = "take it back from git, or remove it and import or run it again"
    try:
        body = json.loads(unpacked(path))
        found, expected, actual = body.pop("format"), body.pop("checksum"), checksum(body)
    except UserError:  # no file at all, or too large a one
        raise
    except (OSError, EOFError, ValueError, KeyError, TypeError, AttributeError, RecursionError, zlib.error) as error:
        raise UserError(f"the result {path} is damaged ({type(error).__name__}: {error}); {mend}.") from None
    if found != FORMAT:
        raise UserError(f"the result {path} has format {found}, this cuprl reads {FORMAT}; use the cuprl that wrote it.")
    if actual != expected or body.get("hash") != hash_in_name(path):
        raise UserError(f"the result {path} is damaged: its content does not match its checksum or its name; {mend}.")
    try:
        return from_body(body)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise UserError(f"the result {path} is damaged ({error}); {mend}.") from None


def unpacked(path: Path) -> bytes:
    """Unpack a file's JSON; one that would not end is left where it becomes too large."""
    with gzip.open(io.BytesIO(read_file(path, LARGEST))) as file:
        content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise too_large(path, len(content), LARGEST)
    return content


def from_body(body: dict[str, Any]) -> Result:
    """Check what a file says and make the result of it; a ValueError, TypeError or KeyError where that is no result."""
    check_configuration({**body["config"], **{key: body[key] for key in ("versions", "machine", "git")}})
    metrics = {name: np.array(column, np.float64) for name, column in body["metrics"].items()}  # null becomes NaN
    for name in needed(body["config"]["limits"]):
        if name not in metrics:
            raise ValueError(f"it has no column {name}")
    wanted = planned_iterations(body["config"])
    for name, values in metrics.items():
        if values.shape != (wanted,):
            raise ValueError(f"its {name} has the shape {list(values.shape)}, its configuration {wanted} iterations")
    evaluation = body.get("evaluation")
    if evaluation is not None:
        check_evaluation(evaluation, body["config"]["limits"])
    return Result(as_now(body["config"]), metrics, body["versions"], body["machine"], body["git"], evaluation)


def check_evaluation(evaluation: dict[str, Any], limits: dict[str, float]) -> None:
    """Check that an evaluation has a finite return and finite costs of every constraint."""
    costs = [evaluation[key][name] for key in ("cost", "cost_undiscounted") for name in limits]
    if not isinstance(evaluation["episodes"], int) or evaluation["episodes"] < 1:
        raise ValueError(f"its evaluation has {evaluation['episodes']!r} episodes")
    for value in (evaluation["return"], *costs):
        if isinstance(value, bool) or not isinstance(value, int | float) or not np.isfinite(value):
            raise ValueError(f"its evaluation has {value!r} where a number should be")


def hash_in_name(path: Path) -> str:
    """Read the hash of the configuration that a file's name ends with."""
    return path.name.removesuffix(SUFFIX).rpartition("-")[2]
