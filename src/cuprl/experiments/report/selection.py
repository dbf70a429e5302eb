"""A part of what a table would say, or the same turned round: some columns, algorithms side by side, each seed by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cuprl.errors import UserError, unknown
from cuprl.experiments.report.formats import Table
from cuprl.experiments.report.groups import Group

PARTS = {  # of the statistics: the titles of their tables
    "runs": "",
    "time-to-safe": "Time to safe",
    "over-tasks": "Over tasks",
    "improvement": "Probability of improvement",
}
PLACES = ("task", "constraint", "limit", "level")  # columns that say of what a line is, beside its algorithm
WHAT = "what"  # the column that names a line's value, where algorithms stand side by side


def part_called(tables: list[Table], part: str) -> list[Table]:
    """Keep the statistics of one kind; there may be none of it."""
    return [table for table in tables if table.title == PARTS[part]]


def with_columns(tables: list[Table], names: Sequence[str]) -> list[Table]:
    """Keep these columns, in this order; a table that has none of them is left out."""
    check_columns(tables, names)
    kept = [(table, [table.header.index(name) for name in names if name in table.header]) for table in tables]
    return [
        replace(table, header=[table.header[i] for i in columns], rows=[[row[i] for i in columns] for row in table.rows])
        for table, columns in kept
        if columns
    ]


def check_columns(tables: list[Table], names: Sequence[str]) -> None:
    """Refuse a column that none of the tables has."""
    known = list(dict.fromkeys(name for table in tables for name in table.header))
    for name in names:
        if name not in known:
            raise unknown("column", name, known)


def wide(tables: list[Table], names: Sequence[str]) -> list[Table]:
    """Set the algorithms side by side, as the paper does: a column for each, a line for each of these columns.

    A table that has none of them is left out.
    """
    check_columns(tables, names)
    for name in names:
        if name in (*PLACES, "algorithm"):
            raise UserError(f"--wide {name}: every line says that already; give what differs, as return,cost.")
    kept = [(table, [name for name in names if name in table.header]) for table in tables]
    return [side_by_side(table, columns) for table, columns in kept if columns]


def side_by_side(table: Table, names: Sequence[str]) -> Table:
    """Turn one table round; "-" where an algorithm has no line of a place."""
    lines = [dict(zip(table.header, row)) for row in table.rows]
    algorithms = list(dict.fromkeys(line["algorithm"] for line in lines))
    places = [name for name in PLACES if name in table.header]
    names = [*(["tasks"] if "tasks" in table.header and "tasks" not in names else []), *names]
    constraints = {(line.get("task"), line.get("constraint")) for line in lines}
    if len(constraints) == len({task for task, _ in constraints}):  # each task has one: its limit says enough
        places = [name for name in places if name != "constraint"]
    found: dict[tuple[str, ...], dict[str, str]] = {}
    for line in lines:
        for name in names:
            found.setdefault((*(line[place] for place in places), name), {})[line["algorithm"]] = line[name]
    columns = {(where[0], frozenset(cells)) for where, cells in found.items()}
    if len(columns) > len({first for first, _ in columns}):  # an algorithm that has not all lines of a task
        raise UserError("--wide sets algorithms side by side that have the same limits, and these do not; leave it away.")
    rows = [[*where, *(cells.get(algorithm, "-") for algorithm in algorithms)] for where, cells in found.items()]
    return replace(table, header=[*places, WHAT, *algorithms], rows=rows, places=len(places))


def bare(tables: list[Table]) -> list[Table]:
    """Take titles and notes away."""
    return [replace(table, title="", note="") for table in tables]


def by_seed(groups: list[Group]) -> list[Group]:
    """Make a group of every run, named by its seed."""
    return [
        replace(g, variant=f"{g.variant} seed {result.config['seed']}".strip(), results=[result])
        for g in groups
        for result in g.results
    ]
