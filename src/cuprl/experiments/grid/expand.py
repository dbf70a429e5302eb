"""Choosing: the cells of a grid, checked before any of them runs, and those of them that are asked for."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

from cuprl.core.parse import parse_value
from cuprl.errors import UserError, unknown
from cuprl.experiments.grid.cells import Cell, Experiment

PARTS = ("task", "algo", "seed", "variant")  # what --only chooses by
MOST_SEEDS = 100_000  # of a range


def expand(experiment: Experiment, only: str | None = None) -> list[Cell]:
    """Make the cells of a grid, those of `only` ("task=hopper-speed,seed=0..2") if given; everything is checked first."""
    # A seed of everything first: a grid that is stopped half-way can already be compared.
    cells = sorted((cell for block in experiment.blocks for cell in block.cells()), key=lambda cell: cell.seed)
    seen: dict[Path, Cell] = {}
    made: dict[str, Cell] = {}
    alike: dict[tuple[str, str, str], Cell] = {}
    for cell in cells:
        try:
            same = made.setdefault(json.dumps(cell.resolved()), cell)
        except UserError as error:
            raise UserError(f"{experiment.name}, {cell}: {error}") from None
        if cell.path(Path()) in seen:
            raise UserError(f"{experiment.name} has the run {cell} twice; remove one, or sweep over what differs.")
        seen[cell.path(Path())] = cell
        if same is not cell:  # alpha=0.1 and alpha=1e-1
            raise UserError(f"{experiment.name}: {same} and {cell} are the same run in other words; remove one.")
        first = alike.setdefault((cell.task, cell.algo, cell.variant), cell)
        if dataclasses.replace(cell, seed=first.seed, start_from=first.start_from) != first:  # they would be averaged as one
            raise UserError(f"{experiment.name}: {first} and {cell} differ in more than the seed; sweep over what differs.")
    every = cells
    for part, values in parse_only(only).items():
        accepted = list(dict.fromkeys(str(getattr(cell, part)) for cell in every))
        for value in values:
            if value not in accepted:
                raise unknown(f"{part} of {experiment.name}", value, accepted)
        cells = [cell for cell in cells if str(getattr(cell, part)) in values]
    if not cells:
        raise UserError(f"no run of {experiment.name} is all of {only}; `cup bench {experiment.name} --dry-run` lists them.")
    return cells


def parse_only(only: str | None) -> dict[str, list[str]]:
    """Read what --only says; values of the same part are alternatives: task=hopper-speed,algo=cup,algo=cpo,seed=0..2"""
    chosen: dict[str, list[str]] = {}
    for part in only.split(",") if only else ():
        key, equals, value = part.partition("=")
        if not equals or key not in PARTS:
            raise UserError(f"--only {only}: give task=NAME, algo=NAME, seed=K or variant=X, with commas between them.")
        chosen.setdefault(key, []).extend(map(str, parse_seeds(value, "seed")) if key == "seed" else [value])
    return chosen


def parse_seeds(text: str, name: str = "--seeds") -> list[int]:
    """Read 0..9, or 0,3,7."""
    first, dots, last = text.partition("..")
    if not dots:
        return [parse_value(int, part, name) for part in text.split(",")]
    low, high = parse_value(int, first, name), parse_value(int, last, name)
    if high < low:
        raise UserError(f"{name} is {text}: the last seed is less than the first; give them in order, as 0..9.")
    if high - low >= MOST_SEEDS:
        raise UserError(f"{name} is {text}, more than {MOST_SEEDS:,} seeds; give fewer, as 0..9.")
    return list(range(low, high + 1))
