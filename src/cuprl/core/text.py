"""Text that comes from files, as people are shown it."""

from __future__ import annotations

from typing import Any

IN_ASCII = str.maketrans({"±": "+-", "−": "-", "…": "...", "µ": "u"})


def printable(text: Any) -> str:
    """Write text as a terminal may show it.

    What would move its cursor, colour it or turn it round is written out, as \\x1b.
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "replace").decode() for c in str(text))


def csv_text(value: Any) -> Any:
    """Make a value one that a spreadsheet takes for text, where it is text: none begins as a formula does."""
    if not isinstance(value, str):
        return value
    try:
        float(value)
    except ValueError:
        return f"'{printable(value)}" if value.lstrip().startswith(("=", "+", "-", "@")) else printable(value)
    return value


def ascii_for(error: UnicodeError) -> tuple[str, int]:
    """Replace characters that a stream cannot write by what comes nearest to them, else by their code."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    wrong = error.object[error.start : error.end].translate(IN_ASCII)
    return wrong.encode("ascii", "backslashreplace").decode(), error.end
