"""What is stored: the results below a folder, and which of them are those of a grid's cells."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from cuprl.errors import UserError
from cuprl.experiments.grid.cells import Cell
from cuprl.experiments.grid.differences import numerics_reason
from cuprl.experiments.store.results import SUFFIX, Result, config_hash, hash_in_name, read


def absent(root: Path) -> str:
    """Say why a store is empty that is not there: outside of a checkout there is none of ours."""
    if root.is_dir():
        return ""
    return (
        " (there is no such folder here: the results of our own runs come with cuprl's source, not with the package; go to "
        "a checkout of it, or give its folder with --results)"
    )


def files(folder: Path) -> list[Path]:
    """List the results below a folder, in linked folders too, each once."""
    found, seen = [], set()
    for here, folders, names in os.walk(folder, followlinks=True):
        if (real := os.path.realpath(here)) in seen:  # a link that leads back
            folders.clear()
            continue
        seen.add(real)
        found += [Path(here, name) for name in names if name.endswith(SUFFIX)]
    return sorted(found)


def is_fresh(result: Result, wanted: str) -> bool:
    """Tell whether a cell with that hash gives the same numbers now; a default may have changed since the file was named."""
    return numerics_reason(result.config) is None and config_hash(result.config) == wanted


def intact(paths: Iterable[Path]) -> Iterator[Result]:
    """Read those that can be read; `stale.left_out` tells of the others."""
    for path in paths:
        with suppress(UserError):
            yield read(path)


def stored(cells: Iterable[Cell], root: Path) -> dict[Cell, Result]:
    """Find the fresh result of each cell that has one, in whichever experiment's folder below `root` it is."""
    by_hash: dict[str, list[Path]] = {}
    for path in files(root):
        by_hash.setdefault(hash_in_name(path), []).append(path)
    found = {}
    for cell in cells if by_hash else ():
        wanted = config_hash(cell.resolved())
        results = intact(by_hash.get(wanted, ()))
        if fresh := [result for result in results if is_fresh(result, wanted)]:
            found[cell] = max(fresh, key=lambda result: result.evaluation is not None)  # of several, one that was evaluated
    return found
