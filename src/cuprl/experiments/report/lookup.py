"""What the names given to `cup table` and `cup figure` mean: an experiment, what was imported, or run folders."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from cuprl.core.text import printable
from cuprl.errors import UserError, unknown
from cuprl.experiments.grid.expand import expand, parse_only
from cuprl.experiments.grid.shipped import EXPERIMENTS, find
from cuprl.experiments.report.groups import Group, group
from cuprl.experiments.report.own_runs import of_runs, together
from cuprl.experiments.store.stale import entries, left_out, sentence
from cuprl.experiments.store.stored import absent, files, stored


def find_groups(names: Sequence[str], root: Path, only: str | None = None) -> tuple[list[Group], str]:
    """Find the groups of an experiment, of a folder in the results store `root`, or of run folders.

    only: a part of them, as "task=hopper-speed,algo=cup". What is stale, damaged or unfinished is left out, and the
    second value says so; it is empty where nothing was.
    """
    first = names[0]
    planned = first in EXPERIMENTS or first.endswith(".toml")
    imported = not planned and first in {path.parent.name for path in files(root)}
    is_run = os.path.lexists(Path(first, "config.json"))
    if len(names) > 1 or (not planned and (os.sep in first or is_run or (os.path.isdir(first) and not imported))):
        groups, left = of_runs(names)
        return part_of(groups, only), unusable(left) if left else ""
    if imported:
        return of_folder(first, root, only)
    return of_experiment(first, root, only)


def of_experiment(name: str, root: Path, only: str | None) -> tuple[list[Group], str]:
    """Find the groups of an experiment, from whichever folders their runs are stored in."""
    experiment = find(name)
    whole = expand(experiment)
    cells = expand(experiment, only) if only else whole
    fresh = stored(whole, root)
    left = left_out(whole, fresh, root, experiment.name)
    found = {cell: fresh[cell] for cell in cells if cell in fresh}
    if not found:
        part = f" --only {only}" if only else ""
        why = f" ({sentence(left)})" if left else ""
        raise UserError(f"no result of {name}{part} is stored in {root}{why or absent(root)}; run `cup bench {name}`.")
    return group(cells, found), f"{sentence(left)}; run `cup bench {name}` again, or remove the files." if left else ""


def of_folder(name: str, root: Path, only: str | None) -> tuple[list[Group], str]:
    """Find the groups of what was imported under a name that is no experiment's."""
    found = entries(root, name)
    fresh = [entry.result for entry in found if entry.result and not entry.stale]
    left = [entry for entry in found if entry.stale or entry.damage]
    if not fresh:
        raise UserError(f"no result of {name} in {root} can be used ({sentence(left)}); import its runs again.")
    said = f"{sentence(left)}; import these runs again, or remove the files." if left else ""
    return part_of(together(fresh), only), said


def unusable(left: list[str]) -> str:
    """Say which runs had to be left out: at most three of them, the last with what to do."""
    said = "; ".join([*(one.partition(";")[0] for one in left[1:3]), left[0]])
    some = ", three of them" if len(left) > 3 else ""
    return printable(f"{len(left)} run{'s'[: len(left) > 1]} left out{some}: {said}")


def part_of(groups: list[Group], only: str | None) -> list[Group]:
    """Choose groups, and seeds of them, as `--only` does in a grid."""
    for part, values in parse_only(only).items():
        accepted = [str(value) for g in groups for value in (seeds_of(g) if part == "seed" else [getattr(g, part)])]
        for value in values:
            if value not in accepted:
                raise unknown(f"{part} of these runs", value, dict.fromkeys(accepted))
        if part == "seed":
            chosen = ([r for r in g.results if str(r.config["seed"]) in values] for g in groups)
            groups = [replace(g, results=results) for g, results in zip(groups, chosen) if results]
        else:
            groups = [g for g in groups if getattr(g, part) in values]
    if not groups:
        raise UserError(f"none of these runs is all of {only}; leave --only away to see them.")
    return groups


def seeds_of(g: Group) -> list[int]:
    """List the seeds of a group."""
    return [result.config["seed"] for result in g.results]
