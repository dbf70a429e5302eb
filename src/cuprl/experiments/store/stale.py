"""Stored results that no longer count: their algorithm's numbers have changed, or the experiment has other settings now."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from cuprl.core.text import printable
from cuprl.errors import UserError
from cuprl.experiments.grid.cells import Cell
from cuprl.experiments.grid.differences import differing, numerics_reason
from cuprl.experiments.grid.expand import expand
from cuprl.experiments.grid.shipped import EXPERIMENTS, find
from cuprl.experiments.store.results import Result, config_hash, hash_in_name, read
from cuprl.experiments.store.stored import files

Wanted = dict[str, Cell]  # hash of a cell's configuration -> the cell


@dataclass(frozen=True, eq=False)
class Entry:
    """A stored file as it stands."""

    path: Path
    result: Result | None  # None: damaged
    variant: str = ""  # its point in the experiment's sweep
    stale: str = ""  # why it does not count; "": it does
    damage: str = ""

    @property
    def experiment(self) -> str:
        """Give the name of the folder that it lies in."""
        return self.path.parent.name

    def worth(self) -> tuple[bool, bool]:
        """Rank copies of one run: one that counts is worth more, and of those one that was evaluated."""
        return not self.stale and not self.damage, self.result is not None and self.result.evaluation is not None


def wanted_by(cells: Iterable[Cell]) -> Wanted:
    """Index cells by the hashes of their configurations."""
    return {config_hash(cell.resolved()): cell for cell in cells}


def wanted_in(folder: str) -> Wanted:
    """Index what the experiment of a folder's name asks for; empty where none that comes with cuprl is called so."""
    return wanted_by(expand(EXPERIMENTS[folder])) if folder in EXPERIMENTS else {}


def entry(path: Path, wanted: Wanted | None) -> Entry:
    """Read a stored file and tell whether it counts; wanted: what its folder's experiment asks for, None: there is none."""
    try:
        result = read(path)
    except UserError as error:
        return Entry(path, None, damage=str(error))
    cell = (wanted or {}).get(hash_in_name(path))
    stale = numerics_reason(result.config) or ""
    if not stale and wanted is not None and cell is None:
        stale = settings_reason(result, wanted.values())
    return Entry(path, result, cell.variant if cell else "", stale)


def entries(root: Path, experiment: str | None = None) -> list[Entry]:
    """List all that is stored; or what `experiment` names: a folder, one that comes with cuprl, or a TOML file.

    An experiment's runs count wherever they are stored, once each, and what else its folder holds is stale.
    """
    if experiment is None or not (experiment in EXPERIMENTS or experiment.endswith(".toml")):
        folders = {path.parent.name for path in files(root)} & EXPERIMENTS.keys()
        wanted = {name: wanted_in(name) for name in folders}
        chosen = [path for path in files(root) if experiment in (None, path.parent.name)]
        return [entry(path, wanted.get(path.parent.name)) for path in chosen]
    named = find(experiment)
    of_it = wanted_by(expand(named))
    found = [entry(path, of_it) for path in files(root) if path.parent.name == named.name or hash_in_name(path) in of_it]
    fresh_last = sorted(found, key=Entry.worth)
    return sorted({one.path.name: one for one in fresh_last}.values(), key=lambda one: one.path)


def left_out(cells: list[Cell], fresh: dict[Cell, Result], root: Path, experiment: str) -> list[Entry]:
    """List the stale and damaged results in the way of an experiment: in its folder, or elsewhere with its settings.

    cells: all of the experiment, so that no part of it passes for a leftover; fresh: what `stored` found of them.
    """
    wanted = wanted_by(cells)
    found = []
    for path in files(root):
        cell = wanted.get(hash_in_name(path))
        if cell not in fresh and (cell is not None or path.parent.name == experiment):
            found.append(entry(path, wanted))
    return [one for one in found if one.stale or one.damage]


def settings_reason(result: Result, cells: Iterable[Cell]) -> str:
    """Say in what a result differs from the nearest cell of its task, algorithm and seed."""
    same = [cell for cell in cells if all(getattr(cell, key) == result.config[key] for key in ("task", "algo", "seed"))]
    if not same:
        return "the experiment has no such run"
    nearest = min((differing(result.config, cell.resolved()) for cell in same), key=len)
    # What is at its default leaves no trace in a name: with another default the same configuration has another.
    return f"made with {nearest[0]}" if nearest else "named under older defaults; import its run again"


def sentence(left: list[Entry]) -> str:
    """Say what the reader of a table or figure must know of the results that are not in it."""
    damaged = [one.damage.partition(";")[0].removesuffix(".") for one in left if one.damage]
    stale = [f"{one.result.name} ({one.stale})" for one in left if one.result]
    return "; ".join(counted(kind, said) for kind, said in (("damaged", damaged), ("stale", stale)) if said)


def counted(kind: str, said: list[str]) -> str:
    """Count the results of a kind that are left out, and name the first three."""
    more = f" and {len(said) - 3} more" if len(said) > 3 else ""
    return f"{len(said)} {kind} result{'s'[: len(said) > 1]} left out: {printable('; '.join(said[:3]))}{more}"
