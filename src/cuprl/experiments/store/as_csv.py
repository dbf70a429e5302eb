"""Stored results as CSV for other tools: a row an iteration, with what tells the runs apart in front."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from cuprl.core.text import csv_text
from cuprl.errors import UserError
from cuprl.experiments.store.results import SUFFIX, Result, hash_in_name
from cuprl.experiments.store.stale import Entry
from cuprl.runs.files import write_with_folders


def rows(entry: Entry, result: Result) -> Iterator[dict[str, Any]]:
    """Give a row an iteration, with what tells the runs apart in front."""
    key = {
        "experiment": entry.experiment,
        "task": result.config["task"],
        "algo": result.config["algo"],
        "variant": entry.variant,
        "seed": result.config["seed"],
        "hash": hash_in_name(entry.path),
        "cuprl": result.versions.get("cuprl", ""),
    }
    names = list(result.metrics)
    for values in zip(*result.metrics.values()):
        yield {**key, **{name: "" if np.isnan(v) else f"{v:.15g}" for name, v in zip(names, values)}}


def write(entries: list[Entry], out: Path) -> None:
    """Write one long file if `out` ends in .csv; else a folder with each run's metrics (.csv) and its facts (.json)."""
    pairs = [(entry, entry.result) for entry in entries if entry.result is not None]
    if out.suffix == ".csv":
        write_rows(out, pairs)
        return
    if out.suffix or out.is_file():
        raise UserError(f"--out {out} is no folder and does not end in .csv; give FILE.csv or a folder.")
    for entry, result in pairs:
        path = out / entry.experiment / entry.path.name.removesuffix(SUFFIX)
        write_rows(path.with_name(path.name + ".csv"), [(entry, result)])
        facts = {**result.config, "versions": result.versions, "machine": result.machine, "git": result.git}
        facts |= {"evaluation": result.evaluation} if result.evaluation else {}
        write_with_folders(path.with_name(path.name + ".json"), (json.dumps(facts, indent=1) + "\n").encode())


def write_rows(path: Path, pairs: list[tuple[Entry, Result]]) -> None:
    """Write with the columns of all runs together: an algorithm leaves empty what it does not measure."""
    columns = dict.fromkeys(name for entry, result in pairs for name in next(rows(entry, result)))
    text = io.StringIO()
    writer = csv.DictWriter(text, list(columns), lineterminator="\n")
    writer.writerow({name: csv_text(name) for name in columns})
    for entry, result in pairs:
        writer.writerows({name: csv_text(value) for name, value in row.items()} for row in rows(entry, result))
    write_with_folders(path, text.getvalue().encode())
