"""A table of text in the formats people write in."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cuprl.core.text import csv_text, printable
from cuprl.errors import UserError, unknown

SUFFIXES = {".md": "md", ".csv": "csv", ".tex": "latex"}
LATEX = str.maketrans(
    {c: f"\\{c}" for c in "&%#_${}"}
    | {c: f"${c}$" for c in "<>"}  # bare, LaTeX's own font prints them as marks of Spanish
    | {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}", "±": r"$\pm$", "−": "$-$"}
)


@dataclass(frozen=True)
class Table:
    """A table for readers, before it has a format."""

    header: list[str]
    rows: list[list[str]]  # Markdown: **bold**
    title: str = ""
    note: str = ""
    places: int = 0  # so many columns at the left need not say again what stands above them

    @property
    def lines(self) -> list[list[str]]:
        """Give the rows as a reader has them: of these places, those that a row shares with the one before are empty."""
        return [
            ["" if i < self.places and row[: i + 1] == above[: i + 1] else cell for i, cell in enumerate(row)]
            for row, above in zip(self.rows, [[], *self.rows])
        ]


def choose(format: str | None, out: str | None) -> str:
    """Choose the format asked for, else that of the file's name, else Markdown."""
    if format is not None:
        if format not in SUFFIXES.values():
            raise unknown("format", format, SUFFIXES.values())
        return format
    suffix = Path(out).suffix if out else ".md"
    if suffix not in SUFFIXES:
        raise UserError(f"--out {out} has no known kind; let it end in {', '.join(SUFFIXES)}, or give --format.")
    return SUFFIXES[suffix]


def to_markdown(tables: Sequence[Table]) -> str:
    """Write tables as Markdown, one after the other."""
    parts = []
    for table in tables:
        head, *lines = ("| " + " | ".join(map(markdown_text, line)) + " |" for line in (table.header, *table.lines))
        grid = "\n".join([head, "|" + "---|" * len(table.header), *lines])
        title = table.title and f"**{markdown_text(table.title)}**"
        parts.append("\n\n".join(part for part in (title, grid, table.note) if part))
    return "\n\n".join(parts)


def markdown_text(cell: str) -> str:
    """Write a cell, bold as a whole or not at all; what a name in it may hold is neither a column, nor HTML, nor a link."""
    bold = re.fullmatch(r"\*\*(.*)\*\*", cell)
    text = re.sub(r"[|`*\\]|<(?=[\w/!?])|(?<=\])\(", r"\\\g<0>", printable(bold[1] if bold else cell))
    return f"**{text}**" if bold else text


def to_latex(tables: Sequence[Table]) -> str:
    """Write tabular environments; they need \\usepackage{booktabs}."""
    parts = []
    for table in tables:
        lines = [" & ".join(map(latex_text, line)) + r" \\" for line in (table.header, *table.lines)]
        rules = {1: r"\midrule", **dict.fromkeys(new_tasks(table), r"\midrule")}
        body = [text for i, line in enumerate(lines) for text in (rules.get(i), line) if text]
        comments = [f"% {printable(text)}" for text in (table.title, table.note) if text]
        columns = "l" * len(table.header)
        parts.append(
            "\n".join([*comments, rf"\begin{{tabular}}{{{columns}}}", r"\toprule", *body, r"\bottomrule", r"\end{tabular}"])
        )
    return "\n\n".join(["% needs \\usepackage{booktabs}", *parts])


def new_tasks(table: Table) -> list[int]:
    """Find the lines, the header being line 0, that begin another task than the line before has."""
    if table.header[0] != "task":
        return []
    return [i + 1 for i in range(1, len(table.rows)) if table.rows[i][0] != table.rows[i - 1][0]]


def latex_text(text: str) -> str:
    """Write a cell for LaTeX: what would be a command of it stands as it is."""
    text = re.sub(r"(?<!\w)-(?=\d)", "−", printable(text))  # of a number; a hyphen stays one
    text = re.sub(r"\*\*(.+?)\*\*", r"\\textbf{\1}", text.translate(LATEX))
    # At the start of a line they would be read as options of the line break before.
    return f"{{}}{text}" if text.startswith(("[", "*")) else text


def to_csv(records: Sequence[dict[str, Any]]) -> str:
    """Write one row a record; the columns are those of all records, empty where one has none."""
    text = io.StringIO()
    columns = list(dict.fromkeys(name for record in records for name in record))
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writerow({name: csv_text(name) for name in columns})
    writer.writerows({name: csv_text(value) for name, value in record.items()} for record in records)
    return text.getvalue().rstrip("\n")
