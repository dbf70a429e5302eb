"""A part of what a table would say: some of its columns, one kind of statistic, each seed by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cuprl.errors import unknown
from cuprl.experiments.report.formats import Table
from cuprl.experiments.report.groups import Group

PARTS = {  # of the statistics: the titles of their tables
    "runs": "",
    "time-to-safe": "Time to safe",
    "over-tasks": "Over tasks",
    "improvement": "Probability of improvement",
}


def part_called(tables: list[Table], part: str) -> list[Table]:
    """Keep the statistics of one kind; there may be none of it."""
    return [table for table in tables if table.title == PARTS[part]]


def with_columns(tables: list[Table], names: Sequence[str]) -> list[Table]:
    """Keep these columns, in this order; a table that has none of them is left out."""
    known = list(dict.fromkeys(name for table in tables for name in table.header))
    for name in names:
        if name not in known:
            raise unknown("column", name, known)
    kept = [(table, [table.header.index(name) for name in names if name in table.header]) for table in tables]
    return [
        replace(table, header=[table.header[i] for i in columns], rows=[[row[i] for i in columns] for row in table.rows])
        for table, columns in kept
        if columns
    ]


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
