"""Tables in a terminal: columns that line up, bold that is bold; where it is narrow, several tables below one another."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

from rich.console import Console
from rich.markup import escape
from rich.table import Table as RichTable
from rich.text import Text

from cuprl.core.text import printable
from cuprl.experiments.report.formats import Table

KEYS = ("algorithm", "tasks", "constraint", "limit")  # what a line is of: in every part of a table that is cut
TIED = "\u00a0"  # a space at which no line may break


def show(tables: list[Table]) -> None:
    console = Console(highlight=False)
    for table in tables:
        for part in by_task(table) if table.header[0] == "task" else [table]:
            for piece in pieces(part, console.width):
                console.print(laid_out(piece, console.width), "")
        if table.note:
            console.print(f"{escape(table.note)}\n")


def by_task(table: Table) -> Iterator[Table]:
    """A table's part for each task, with what is the same on all its lines in the title."""
    for task in dict.fromkeys(row[0] for row in table.rows):
        rows = [row for row in table.rows if row[0] == task]
        titled = [i for i, name in enumerate(table.header) if name in ("constraint", "limit")]
        same = [i for i in titled if len({row[i] for row in rows}) == 1]
        kept = [i for i in range(1, len(table.header)) if i not in same]
        title = ", ".join([task, *(f"{table.header[i]} {rows[0][i]}" for i in same)])
        yield columns_of(Table(table.header, rows, title), kept)


def columns_of(table: Table, kept: list[int]) -> Table:
    return Table([table.header[i] for i in kept], [[row[i] for i in kept] for row in table.rows], table.title)


# --- widths -----------------------------------------------------------------------------------------------------------


def pieces(table: Table, room: int) -> list[Table]:
    """The table cut into as few that fit as can be; of as many, those whose cells need no second line."""
    columns = list(zip(table.header, *table.rows))
    narrow, wide = ([width(column) for column in columns] for width in (narrowest, one_line))
    cut = min(cuts(table.header, wide, room), cuts(table.header, narrow, room), key=len)
    return [columns_of(table, kept) for kept in cut]


def cuts(header: list[str], widths: list[int], room: int) -> list[list[int]]:
    """The columns of each piece: those that say what a line is of, and as many others as there is room for."""
    keys = [i for i, name in enumerate(header) if name in KEYS]
    found: list[list[int]] = [[]]
    for i in range(len(header)):
        if i not in keys:
            if found[-1] and sum(widths[k] + 1 for k in (*keys, *found[-1], i)) > room:
                found.append([])
            found[-1].append(i)
    return [sorted(keys + others) for others in found]


def plain(cell: str) -> str:
    """Without bold; an interval, what is in brackets, and a deviation with its sign hold together."""
    return re.sub(r"\[.*?\]|\(.*?\)|± \S+", lambda found: found[0].replace(" ", TIED), printable(cell.replace("**", "")))


def narrowest(column: tuple[str, ...]) -> int:
    """The width of a column's longest word."""
    return max(len(word) for cell in column for word in plain(cell).split(" "))


def one_line(column: tuple[str, ...]) -> int:
    """The width at which no cell needs a second line; a header may."""
    return max([narrowest(column[:1]), *(len(plain(cell)) for cell in column[1:])])


def fitted(columns: list[tuple[str, ...]], room: int) -> list[int]:
    """Widths that take up no more than the room: headers give way first, then cells; none below its longest word."""
    widths = [max(len(plain(cell)) for cell in column) for column in columns]
    for least in ([one_line(column) for column in columns], [narrowest(column) for column in columns]):
        while sum(widths) + len(widths) > room and widths != least:
            widest = max((i for i in range(len(widths)) if widths[i] > least[i]), key=lambda i: widths[i])
            widths[widest] -= 1
    return widths


# --- as rich has it ---------------------------------------------------------------------------------------------------


def laid_out(table: Table, room: int) -> RichTable:
    title = escape(printable(table.title))
    shown = RichTable(box=None, padding=(0, 1, 0, 0), title=title, title_justify="left", title_style="bold")
    widths = fitted(list(zip(table.header, *table.rows)), room)
    for name, width in zip(table.header, widths):
        shown.add_column(wrapped(name, width), width=width)
    for row in table.rows:
        shown.add_row(*(wrapped(cell, width) for cell, width in zip(row, widths)))
    return shown


def wrapped(cell: str, width: int) -> Text:
    lines = textwrap.wrap(plain(cell), width, break_long_words=False, break_on_hyphens=False)
    return Text("\n".join(lines).replace(TIED, " "), style="bold green" if "**" in cell else "")
