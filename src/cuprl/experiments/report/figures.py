"""Pictures of an experiment, each kind by its name; here those of its end: sweeps, and the return-cost plane."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cuprl.errors import UserError
from cuprl.experiments.report import paper
from cuprl.experiments.report.drawing import save_figure
from cuprl.experiments.report.groups import Group
from cuprl.experiments.report.over_training import curves, limit, nu
from cuprl.experiments.report.panels import (
    caption,
    colours_of,
    cost_label,
    finish_cost,
    label_rows,
    legend_above,
    limit_colours,
    palette,
    panels_of,
    shapes_of,
)
from cuprl.experiments.report.promise import promise
from cuprl.experiments.report.sweeps import no_sweep, point, swept_name
from cuprl.experiments.report.waits import waits

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def alpha(groups: list[Group], out: Path) -> None:
    """Draw final return and costs against the swept number: a point a seed, a line through the means."""
    name = swept_name(groups)
    if name is None:
        names = list(dict.fromkeys(name for g in groups for name in point(g)))
        raise no_sweep(groups, "number", names, "paper-alpha")
    constraints = max(len(g.limits) for g in groups)
    figure, panels = panels_of(list(dict.fromkeys(g.task for g in groups)), 1 + constraints)
    colours = palette(list(dict.fromkeys(g.algo for g in groups)))
    for task, axes in panels.items():
        mine = [g for g in groups if g.task == task]
        for algo in dict.fromkeys(g.algo for g in mine):
            line = sorted((g for g in mine if g.algo == algo), key=lambda g: float(point(g)[name]))
            finals = [[g.returns for g in line], *([g.costs()[:, i] for g in line] for i in range(len(line[0].limits)))]
            for axis, values in zip(axes, finals):
                points(axis, [float(point(g)[name]) for g in line], values, colours[algo], algo)
        low, high = axes[0].get_ylim()
        axes[0].set_ylim(min(low, 0.0), max(high, 0.0))  # from 0, so that a small difference looks small
        for i, axis in enumerate(axes[1:]):
            finish_cost(axis, mine, i, {})
    label_rows(figure, panels, ["return", *["cost"] * constraints])
    caption(figure, name, "large: mean over seeds; small: each seed; dashed: limit")
    if len({g.algo for g in groups}) > 1:
        legend_above(figure, panels)
    save_figure(figure, out)


def points(axis: Axes, places: list[float], values: list[np.ndarray], colour: str, label: str) -> None:
    """Draw a small point a seed, the means joined."""
    for place, some in zip(places, values):
        axis.plot([place] * len(some), some, "o", color=colour, markersize=3, alpha=0.5, markeredgewidth=0)
    axis.plot(places, [some.mean() for some in values], "o-", color=colour, markersize=6, linewidth=1.3, label=label)


def plane(groups: list[Group], out: Path) -> None:
    """Draw final return against final cost; the unsafe side of one limit is shaded, the paper's numbers are hollow."""
    limits = {g.task: g.limits for g in groups}
    wanted = {
        task if len(names) == 1 else f"{task}: {name}": (task, i)
        for task, names in limits.items()
        for i, name in enumerate(names)
    }
    if not wanted:
        raise UserError("none of these runs has a constraint; draw their `curves`.")
    figure, panels = panels_of(list(wanted), 1, height=2.8)
    colours, shapes, shaded = colours_of(groups), shapes_of(groups), 0
    for title, (axis,) in panels.items():
        task, i = wanted[title]
        mine = [g for g in groups if g.task == task]
        for g in mine:
            cost, colour, shape = g.costs()[:, i], colours[g.label], shapes[g.label]
            axis.plot(cost, g.returns, shape, color=colour, markersize=3.5, alpha=0.6, markeredgewidth=0)
            mean = (cost.mean(), g.returns.mean())
            axis.plot(*mean, shape, color=colour, markersize=8, markeredgecolor="white", label=g.label)
            if g.published:
                axis.plot(g.published.cost, g.published.value, shape, color=colour, markersize=7, fillstyle="none")
        bounds = limit_colours(mine, i, colours)
        for bound, colour in bounds.items():
            axis.axvline(bound, color=colour, linestyle="--", linewidth=1)
        if len(bounds) == 1:
            shade_unsafe(axis, *bounds)
            shaded += 1
        axis.set_xlabel(cost_label(mine, i, " "), fontsize=9)
    label_rows(figure, panels, ["return"])
    over = {0: "", len(panels): ", shaded: over it"}.get(shaded, ", shaded: over it where all have the same")
    hollow = f"; hollow: the paper's mean of {paper.SEEDS} seeds" if any(g.published for g in groups) else ""
    caption(figure, "", f"large: mean over seeds; small: each seed{hollow}; dashed: limit{over}")
    legend_above(figure, panels)
    save_figure(figure, out)


def shade_unsafe(axis: Axes, limit: float) -> None:
    """Shade what lies beyond a limit."""
    low, high = axis.get_xlim()
    high = max(high, limit + 0.15 * (limit - low))  # some of the unsafe side is always seen
    axis.axvspan(limit, high, color="#D55E00", alpha=0.08, linewidth=0)
    axis.set_xlim(low, high)


KINDS: dict[str, Callable[..., None]] = {
    "curves": curves,
    "nu": nu,
    "alpha": alpha,
    "limit": limit,
    "plane": plane,
    "promise": promise,
    "waits": waits,  # takes `levels` too
}
