"""Pictures of an experiment: learning curves, multipliers, sweeps, and the return-cost plane."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cuprl.errors import UserError
from cuprl.experiments.report import paper, statistics
from cuprl.experiments.report.drawing import save_figure
from cuprl.experiments.report.groups import Group
from cuprl.experiments.report.panels import (
    KNOWN,
    LINE,
    caption,
    colours_of,
    cost_label,
    finish_cost,
    label_rows,
    legend_above,
    legend_on,
    limit_colours,
    lines_of,
    panels_of,
)
from cuprl.experiments.report.promise import promise
from cuprl.experiments.report.sweeps import no_sweep, point, swept_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FEW = 5  # with fewer seeds than this a band is their range: a bootstrap would pretend to know more
MULTIPLIER = "train/multiplier"
COST = "rollout/ep_cost_mean"
# A row of panels: its label, the metric, and of which constraint (None: of none).
Row = tuple[str, str, int | None]


# --- over training ----------------------------------------------------------------------------------------------------


def curves(groups: list[Group], out: Path) -> None:
    """Draw the return above, each cost below."""
    constraints = range(max(len(g.limits) for g in groups))
    over_training(groups, [("return", "rollout/ep_rew_mean", None), *(("cost", COST, i) for i in constraints)], out)


def nu(groups: list[Group], out: Path) -> None:
    """Draw each cost and, below it, its multiplier."""
    having = [g for g in groups if any(column.startswith(MULTIPLIER) for column in g.results[0].metrics)]
    if not having:
        raise UserError("none of these algorithms has a multiplier; draw the `curves`.")
    constraints = range(max(len(g.limits) for g in having))
    over_training(having, [row for i in constraints for row in (("cost", COST, i), ("ν", MULTIPLIER, i))], out)


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
    for task, axes in panels.items():
        mine = [g for g in groups if g.task == task]
        colours, lines = (look(mine if sweep else groups) for look in (colours_of, lines_of))
        for axis, (_, metric, constraint) in zip(axes, rows):
            for g in mine:
                if constraint is None:
                    draw(axis, g, g.curves(metric), colours[g.label], lines[g.label])
                elif constraint < len(g.limits):
                    draw(axis, g, g.cost_curves(metric)[:, :, constraint], colours[g.label], lines[g.label])
            if metric == COST and constraint is not None:
                finish_cost(axis, mine, constraint, colours)
            axis.set_visible(bool(axis.lines))
        if sweep:
            one = len({g.algo for g in mine}) == 1
            lines_of_legends.append(legend_on(figure, axes[0], [g.variant if one else g.label for g in mine]))
    label_rows(figure, panels, [label for label, _, _ in rows])
    caption(figure, "environment steps (millions)", f"line: {line_text(groups)}{band_text(groups)}; dashed: limit")
    if not sweep:
        legend_above(figure, panels)
    stacks = figure.axes[0].get_gridspec().nrows // len(rows)
    figure.set_figheight(figure.get_figheight() + LINE * stacks * max(max(lines_of_legends) - 2, 0))
    save_figure(figure, out)


def draw(axis: Axes, g: Group, values: np.ndarray, colour: Any, line: Any) -> None:
    """Draw the mean of curves [seeds, iterations] and a band about it."""
    steps = g.results[0].metrics["steps"] / 1e6
    axis.plot(steps, values.mean(axis=0), color=colour, linestyle=line, label=g.label, linewidth=1.3)
    if (band := band_of(values)) is not None:
        axis.fill_between(steps, *band, color=colour, alpha=0.18, linewidth=0)


def band_of(values: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Give the band of curves [seeds, iterations], its low and high edge; one curve has none."""
    if len(values) < 2:
        return None
    return statistics.band(values) if len(values) >= FEW else (values.min(axis=0), values.max(axis=0))


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


# --- at the end -------------------------------------------------------------------------------------------------------


def alpha(groups: list[Group], out: Path) -> None:
    """Draw final return and costs against the swept number: a point a seed, a line through the means."""
    name = swept_name(groups)
    if name is None:
        names = list(dict.fromkeys(name for g in groups for name in point(g)))
        raise no_sweep(groups, "number", names, "paper-alpha")
    constraints = max(len(g.limits) for g in groups)
    figure, panels = panels_of(list(dict.fromkeys(g.task for g in groups)), 1 + constraints)
    for task, axes in panels.items():
        mine = [g for g in groups if g.task == task]
        for algo in dict.fromkeys(g.algo for g in mine):
            line = sorted((g for g in mine if g.algo == algo), key=lambda g: float(point(g)[name]))
            finals = [[g.returns for g in line], *([g.costs()[:, i] for g in line] for i in range(len(line[0].limits)))]
            for axis, values in zip(axes, finals):
                points(axis, [float(point(g)[name]) for g in line], values, KNOWN.get(algo, "black"), algo)
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
    figure, panels = panels_of(list(wanted), 1, height=2.8)
    colours, shaded = colours_of(groups), 0
    for title, (axis,) in panels.items():
        task, i = wanted[title]
        mine = [g for g in groups if g.task == task]
        for g in mine:
            cost, colour = g.costs()[:, i], colours[g.label]
            axis.plot(cost, g.returns, "o", color=colour, markersize=3.5, alpha=0.6, markeredgewidth=0)
            axis.plot(cost.mean(), g.returns.mean(), "o", color=colour, markersize=8, markeredgecolor="white", label=g.label)
            if g.published:
                axis.plot(g.published.cost, g.published.value, "o", color=colour, markersize=7, fillstyle="none")
        bounds = limit_colours(mine, i, colours)
        for bound, colour in bounds.items():
            axis.axvline(bound, color=colour, linestyle="--", linewidth=1)
        if len(bounds) == 1:
            shade_unsafe(axis, *bounds)
            shaded += 1
        axis.set_xlabel(cost_label(mine[0], i, " "), fontsize=9)
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


KINDS: dict[str, Callable[[list[Group], Path], None]] = {
    "curves": curves,
    "nu": nu,
    "alpha": alpha,
    "limit": limit,
    "plane": plane,
    "promise": promise,
}
