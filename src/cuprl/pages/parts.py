"""What a page is made of, as plain JSON values: panels of curves, the steps they are drawn over, tables.

page = {title, subtitle, state, cards, warnings, lead, legend, grids, panels, tables, facts, certificate}
grid = {steps, iteration}: where the values of a series stand; one for all curves of a run
panel = {id, section, title, note, series, lines, points, trim}: with trim the one percent farthest out may be cut off
series = {name, grid, y, low, high, colour, dash};  line = {name, y};  point = {name, x, y}
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from cuprl.experiments.report.drawing import COLOURS
from cuprl.experiments.report.formats import Table, new_tasks
from cuprl.experiments.store.results import rounded

MOST = 4000  # points of a curve: more than a screen has columns
Part = dict[str, Any]


def stride(length: int) -> int:
    """Choose n so that of so many values each n-th is drawn, and the last."""
    return -(-length // MOST) or 1


def thinned(name: str, values: np.ndarray) -> list[float | int | None]:
    """Thin a curve to what a page draws of it, rounded; its last value stays."""
    return rounded(name, values[::-1][:: stride(len(values))][::-1])


def grid(columns: dict[str, np.ndarray]) -> Part:
    """Give the steps and iterations that the curves of a part are drawn over."""
    return {name: thinned(name, columns[name]) for name in ("steps", "iteration")}


def series(name: str, grid: str, values: np.ndarray, colour: int, band: tuple[np.ndarray, np.ndarray] | None = None) -> Part:
    """Make a curve: `colour` counts through the palette, and from its end on through dashes as well."""
    low, high = (thinned("", edge) for edge in band) if band else (None, None)
    dash, colour = divmod(colour, len(COLOURS))
    return {"name": name, "grid": grid, "y": thinned("", values), "low": low, "high": high, "colour": colour, "dash": dash}


def panel(
    id: str,
    title: str,
    curves: Iterable[Part],
    lines: dict[str, float] | None = None,
    section: str = "",
    note: str = "",
    trim: bool = False,
    points: dict[str, tuple[float, float]] | None = None,
) -> Part:
    """Make a panel of curves, with lines across it, as limits are, and points that stand out, each with its name.

    trim: half a percent of the values at each end may lie outside.
    """
    levels = [{"name": name, "y": value} for name, value in (lines or {}).items()]
    places = [{"name": name, "x": float(x), "y": float(y)} for name, (x, y) in (points or {}).items()]
    said = {"id": id, "section": section, "title": title, "note": note}
    return {**said, "series": list(curves), "lines": levels, "points": places, "trim": trim}


def table(found: Table, title: str = "") -> Part:
    """Make a table's part; title: where the table has none of its own."""
    breaks = [line - 1 for line in new_tasks(found)]  # the rows before which another task begins
    return {"title": found.title or title, "header": found.header, "rows": found.rows, "breaks": breaks, "note": found.note}


def plain(value: Any) -> str:
    """Write a value as a reader sees it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list | tuple):
        return ", ".join(map(plain, value)) or "none"
    return "unknown" if value is None else str(value)
