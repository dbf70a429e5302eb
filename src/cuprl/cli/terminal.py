"""Tables in a terminal: columns that line up and fold where it is narrow, bold that is bold."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rich.console import Console
from rich.markup import escape
from rich.table import Table as RichTable

from cuprl.experiments.formats import Table


def show(tables: list[Table]) -> None:
    console = Console(highlight=False)
    for table in tables:
        for part in by_task(table) if table.header[0] == "task" else [table]:
            shown = RichTable(box=None, padding=(0, 1, 0, 0), title=part.title, title_justify="left", title_style="bold")
            for i, name in enumerate(part.header):
                shown.add_column(name, overflow="fold", no_wrap=i == 0)
            for row in part.rows:
                shown.add_row(*(re.sub(r"\*\*(.+?)\*\*", r"[bold green]\1[/]", escape(cell)) for cell in row))
            console.print(shown, "")
        console.print(f"{escape(table.note)}\n")


def by_task(table: Table) -> Iterator[Table]:
    """A table's part for each task, with what is the same on all its lines in the title."""
    for task in dict.fromkeys(row[0] for row in table.rows):
        rows = [row for row in table.rows if row[0] == task]
        titled = [i for i, name in enumerate(table.header) if name in ("constraint", "limit")]
        same = [i for i in titled if len({row[i] for row in rows}) == 1]
        kept = [i for i in range(1, len(table.header)) if i not in same]
        title = ", ".join([task, *(f"{table.header[i]} {rows[0][i]}" for i in same)])
        yield Table([table.header[i] for i in kept], [[row[i] for i in kept] for row in rows], title)
