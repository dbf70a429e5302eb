"""Draw tables in a terminal: columns that line up, bold that is bold; where it is narrow, several below one another."""

from __future__ import annotations

import os
import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import replace

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from cuprl.core.text import printable
from cuprl.experiments.report.formats import Table

# What a line is of, as its first column is: in every part of a table.
KEYS = ("algorithm", "tasks", "constraint", "limit", "level", "what")
TIED = "\u00a0"  # a space at which no line may break
ENDLESS = 10_000  # letters of a line that goes into a file or pipe, where the next program wants a row in one
NUMBER = re.compile(r"([-+]?\d[\d,]*(\.\d+)?(e[-+]?\d+)?( ± \S+)?( ?(%|µs|kB))?|[-+]?inf|unknown|-)?")


class Styled(str):
    """A cell with a style of rich's, as "red"; it is a str, so that tables hold it as any other."""

    style: str

    def __new__(cls, text: str, style: str) -> Styled:
        cell = super().__new__(cls, text)
        cell.style = style
        return cell


def show(tables: Iterable[Table]) -> None:
    """Print tables; in a terminal none is wider than it."""
    console = Console(highlight=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = ENDLESS
    blank = False
    for table in tables:
        for piece in pieces(table, console.width):
            if blank:
                console.print()
            blank = True
            if piece.title:
                console.print(Text(printable(piece.title), style="bold"))
            console.print(laid_out(piece, console.width))
        if table.note:
            console.print(Text(f"\n{table.note}"))


def by_task(table: Table) -> list[Table]:
    """Split a table into a part for each task, with what is the same on all its lines in the title."""
    parts = []
    for task in dict.fromkeys(row[0] for row in table.rows):
        rows = [row for row in table.rows if row[0] == task]
        titled = [i for i, name in enumerate(table.header) if name in ("constraint", "limit")]
        same = [i for i in titled if len({row[i] for row in rows}) == 1]
        kept = [i for i in range(1, len(table.header)) if i not in same]
        named = f"{table.title}: {task}" if table.title else task
        title = ", ".join([named, *(f"{table.header[i]} {rows[0][i]}" for i in same)])
        parts.append(columns_of(Table(table.header, rows, title), kept))
    return [*parts[:-1], *(replace(last, note=table.note) for last in parts[-1:])]


def columns_of(table: Table, kept: list[int]) -> Table:
    """Keep some columns of a table."""
    return Table([table.header[i] for i in kept], [[row[i] for i in kept] for row in table.rows], table.title)


# --- widths -----------------------------------------------------------------------------------------------------------


def pieces(table: Table, room: int) -> list[Table]:
    """Cut a table into as few that fit as can be; of as many, those whose cells need no second line."""
    columns = list(zip(table.header, *table.rows))
    narrow, wide = ([width(column) for column in columns] for width in (narrowest, one_line))
    cut = min(cuts(table.header, wide, room), cuts(table.header, narrow, room), key=len)
    return [columns_of(table, kept) for kept in cut]


def cuts(header: list[str], widths: list[int], room: int) -> list[list[int]]:
    """Choose the columns of each piece: those that say what a line is of, and as many others as there is room for."""
    keys = [i for i, name in enumerate(header) if i == 0 or name in KEYS]
    found: list[list[int]] = [[]]
    for i in range(len(header)):
        if i not in keys:
            if found[-1] and sum(widths[k] + 1 for k in (*keys, *found[-1], i)) > room:
                found.append([])
            found[-1].append(i)
    return [sorted(keys + others) for others in found]


def plain(cell: str) -> str:
    """Take bold away; an interval, what is in brackets, and a deviation with its sign hold together."""
    return re.sub(r"\[.*?\]|\(.*?\)|± \S+", lambda found: found[0].replace(" ", TIED), printable(cell.replace("**", "")))


def narrowest(column: Sequence[str]) -> int:
    """Measure a column's longest word."""
    return max(len(word) for cell in column for word in plain(cell).split(" "))


def one_line(column: Sequence[str]) -> int:
    """Measure the width at which no cell needs a second line; a header may."""
    return max([narrowest(column[:1]), *(len(plain(cell)) for cell in column[1:])])


def fitted(columns: list[tuple[str, ...]], room: int) -> list[int]:
    """Find widths that take up no more than the room: headers give way first, then cells; none below its longest word."""
    widths = [max(len(plain(cell)) for cell in column) for column in columns]
    for least in ([one_line(column) for column in columns], [narrowest(column) for column in columns]):
        while sum(widths) + len(widths) > room and widths != least:
            widest = max((i for i in range(len(widths)) if widths[i] > least[i]), key=lambda i: widths[i])
            widths[widest] -= 1
    return widths


# --- as rich has it ---------------------------------------------------------------------------------------------------


def laid_out(table: Table, room: int) -> RichTable:
    """Lay a table out in a room of so many letters; columns of numbers stand at the right."""
    shown = RichTable(box=None, padding=(0, 1, 0, 0), show_header=any(table.header))
    columns = list(zip(table.header, *table.rows))
    widths = fitted(columns, room)
    for (name, *cells), width in zip(columns, widths):
        numbers = any(cells) and all(NUMBER.fullmatch(cell.replace("**", "")) for cell in cells)
        shown.add_column(wrapped(name, width), width=width, justify="right" if numbers else "left")
    for row in table.rows:
        shown.add_row(*(wrapped(cell, width) for cell, width in zip(row, widths)))
    return shown


def wrapped(cell: str, width: int) -> Text:
    """Break a cell into lines between its words."""
    lines = textwrap.wrap(plain(cell), width, break_long_words=False, break_on_hyphens=False)
    style = cell.style if isinstance(cell, Styled) else "bold green" if "**" in cell else ""
    return Text("\n".join(lines).replace(TIED, " "), style=style)
