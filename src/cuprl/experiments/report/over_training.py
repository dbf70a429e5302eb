"""Pictures over training: learning curves, multipliers, and the curves of each limit of a sweep."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cuprl.errors import UserError
from cuprl.experiments.report import statistics
from cuprl.experiments.report.drawing import save_figure
from cuprl.experiments.report.groups import Group
from cuprl.experiments.report.panels import (
    LINE,
    caption,
    colours_of,
    finish_cost,
    label_rows,
    legend_above,
    legend_on,
    lines_of,
    panels_of,
)
from cuprl.experiments.report.sweeps import no_sweep, swept_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

EARLY = 0.1  # of a training: what its costs do there, before a limit binds, does not set the scale
MARGIN = 0.08  # of a cost axis, above and below
FEW = 5  # with fewer seeds than this a band is their range: a bootstrap would pretend to know more
MULTIPLIER = "train/multiplier"
COSTS_TEXT = "dashed: limit; what costs do in the first tenth may lie outside"
COST = "cost"  # as each group holds it to its limits
# A row of panels: its label, the curves that it shows of a group, and of which constraint (None: of none).
Row = tuple[str, Callable[[Group], np.ndarray], int | None]


def curves(groups: list[Group], out: Path) -> None:
    """Draw the return above, each cost below."""
    constraints = range(max(len(g.limits) for g in groups))
    rows: list[Row] = [("return", lambda g: g.curves("rollout/ep_rew_mean"), None)]
    over_training(groups, [*rows, *((COST, Group.cost_curves, i) for i in constraints)], out)


def nu(groups: list[Group], out: Path) -> None:
    """Draw each cost and, below it, its multiplier."""
    having = [g for g in groups if any(column.startswith(MULTIPLIER) for column in g.results[0].metrics)]
    if not having:
        raise UserError("none of these algorithms has a multiplier; draw the `curves`.")
    constraints = range(max(len(g.limits) for g in having))
    rows: list[Row] = [row for i in constraints for row in ((COST, Group.cost_curves, i), ("ν", multipliers, i))]
    over_training(having, rows, out)


def multipliers(g: Group) -> np.ndarray:
    """Stack nu of all seeds [seeds, iterations, m]."""
    return g.cost_curves(MULTIPLIER)


def limit(groups: list[Group], out: Path) -> None:
    """Draw the curves of each cost limit of a sweep, each limit dashed in its colour."""
    if swept_name(groups) != "limit":
        raise no_sweep(groups, "cost limit", ["limit"], "paper-limit")
    curves(groups, out)


def over_training(groups: list[Group], rows: list[Row], out: Path) -> None:
    """Draw metrics over environment steps: a stack of panels for each task."""
    tasks = list(dict.fromkeys(g.task for g in groups))
    figure, panels = panels_of(tasks, len(rows))
    lines_of_legends = [0]
    sweep = all(g.variant for g in groups)  # then each task has its own points, colours and legend
    unit, unit_name = unit_of_steps(groups)
    for task, axes in panels.items():
        mine = [g for g in groups if g.task == task]
        colours, lines = (look(mine if sweep else groups) for look in (colours_of, lines_of))
        for axis, (label, curves_of, constraint) in zip(axes, rows):
            for g in mine:
                if constraint is None:
                    draw(axis, g, curves_of(g), unit, colours[g.label], lines[g.label])
                elif constraint < len(g.limits):
                    draw(axis, g, curves_of(g)[:, :, constraint], unit, colours[g.label], lines[g.label])
            if axis.lines and not any(np.isfinite(curves_of(g)).any() for g in mine):
                axis.text(0.5, 0.6, "no episode has ended", transform=axis.transAxes, ha="center", fontsize=9, color="0.4")
            if label == COST and constraint is not None:
                finish_cost(axis, mine, constraint, colours)
                shown = [curves_of(g)[:, :, constraint] for g in mine if constraint < len(g.limits)]
                axis.set_ylim(late_range(shown, [g.bounds[constraint] for g in mine if constraint < len(g.limits)]))
            axis.set_visible(bool(axis.lines))
        if sweep:
            one = len({g.algo for g in mine}) == 1
            lines_of_legends.append(legend_on(figure, axes[0], [g.variant if one else g.label for g in mine]))
    label_rows(figure, panels, [label for label, _, _ in rows])
    caption(figure, f"environment steps{unit_name}", f"line: {line_text(groups)}{band_text(groups)}; {COSTS_TEXT}")
    if not sweep:
        legend_above(figure, panels)
    stacks = figure.axes[0].get_gridspec().nrows // len(rows)
    figure.set_figheight(figure.get_figheight() + LINE * stacks * max(max(lines_of_legends) - 2, 0))
    save_figure(figure, out)


def unit_of_steps(groups: list[Group]) -> tuple[float, str]:
    """Choose what the axis of steps counts in, by the longest curve, and how that is written."""
    longest = max((float(last) for g in groups for last in g.results[0].metrics["steps"][-1:]), default=0.0)
    units = {1e6: " (millions)", 1e3: " (thousands)"}
    return next(((unit, name) for unit, name in units.items() if longest >= unit / 5), (1.0, ""))


def draw(axis: Axes, g: Group, values: np.ndarray, unit: float, colour: Any, line: Any) -> None:
    """Draw the mean of curves [seeds, iterations] and a band about it, over steps in that unit."""
    steps = g.results[0].metrics["steps"] / unit
    axis.plot(steps, values.mean(axis=0), color=colour, linestyle=line, label=g.label, linewidth=1.3)
    if (band := band_of(values)) is not None:
        axis.fill_between(steps, *band, color=colour, alpha=0.18, linewidth=0)


def band_of(values: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Give the band of curves [seeds, iterations], its low and high edge; one curve has none."""
    if len(values) < 2:
        return None
    return statistics.band(values) if len(values) >= FEW else (values.min(axis=0), values.max(axis=0))


def late_range(curves: list[np.ndarray], bounds: list[float]) -> tuple[float, float] | None:
    """Give what an axis of costs shows: the limits, and curves [seeds, iterations] with their bands after the early part."""
    late = [values[:, int(EARLY * values.shape[1]) :] for values in curves]
    ends = [x for values in late for x in (values.mean(axis=0), *(band_of(values) or ()))]
    ends = [x[np.isfinite(x)] for x in (*ends, np.array(bounds))]
    drawn = np.concatenate(ends)
    if not drawn.size:
        return None
    margin = MARGIN * ((drawn.max() - drawn.min()) or 1.0)
    return float(drawn.min() - margin), float(drawn.max() + margin)


def line_text(groups: list[Group]) -> str:
    """Say what a line is, by the numbers of seeds that there are."""
    counts = {len(g.results) for g in groups}
    if counts == {1}:
        return "one seed"
    return f"mean over {counts.pop()} seeds" if len(counts) == 1 else "mean over seeds"


def band_text(groups: list[Group]) -> str:
    """Say what the band about a line is."""
    counts = {len(g.results) for g in groups}
    few, many = any(1 < n < FEW for n in counts), any(n >= FEW for n in counts)
    kinds = [f"lowest to highest (fewer than {FEW} seeds)"] * few + ["95% bootstrap interval of the mean"] * many
    return f"; band: {' or '.join(kinds)}" if kinds else ""
