"""The picture of how long one waits: steps until a level of return is reached within the limits, and kept."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cuprl.errors import UserError
from cuprl.experiments.report import time_to_safe
from cuprl.experiments.report.drawing import SHAPES, drawn, save_figure
from cuprl.experiments.report.groups import Group
from cuprl.experiments.report.over_training import unit_of_steps
from cuprl.experiments.report.panels import caption, colours_of, legend_above, panels_of
from cuprl.experiments.report.statistics import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROW = 0.36  # inches: an algorithm's
NEVER = 1.12  # of the training: where a point stands that never comes
Wait = tuple[dict[str, Any], Estimate]  # of which task, algorithm and level; steps


def waits(groups: list[Group], out: Path, levels: Sequence[float] | None = None) -> None:
    """Draw a row an algorithm, a point a level: the median time of its seeds to get there; at the right those of never."""
    found = [(where, steps) for where, what, steps, _ in time_to_safe.of_groups(groups, levels) if what == "steps"]
    if not found:
        raise UserError("the paper has no return to reach for these tasks and limits; give levels, as --levels 1000,2000.")
    algorithms = list(dict.fromkeys(where["algorithm"] for where, _ in found))
    figure, panels = panels_of(list(dict.fromkeys(where["task"] for where, _ in found)), 1, 0.6 + ROW * len(algorithms))
    colours, (unit, unit_name) = colours_of(groups), unit_of_steps(groups)
    for task, (axis,) in panels.items():
        end = max(g.steps for g in groups if g.task == task) / unit
        draw(axis, [wait for wait in found if wait[0]["task"] == task], algorithms, colours, end, unit)
        if axis.get_subplotspec().colspan.start > 0:
            axis.tick_params(labelleft=False)
    kept = f"have that return within the limits, and keep it for {time_to_safe.STAY} iterations"
    caption(figure, f"environment steps{unit_name}", f"point: median over seeds until they {kept}; line: 95% interval")
    legend_above(figure, panels)
    save_figure(figure, out)


def draw(axis: Axes, mine: list[Wait], algorithms: list[str], colours: dict[str, Any], end: float, unit: float) -> None:
    """Draw the rows of one task, whose training takes `end` of the unit, the levels of an algorithm one above the other."""
    levels = list(dict.fromkeys(where["level"] for where, _ in mine))
    shapes = {level: SHAPES[i % len(SHAPES)] for i, level in enumerate(levels)}
    for level, where in {where["level"]: where for where, _ in mine}.items():
        axis.plot([], [], shapes[level], color="0.35", markersize=5, label=level_name(where))
    for where, steps in mine:
        place = algorithms.index(where["algorithm"]) + 0.6 * ((levels.index(where["level"]) + 0.5) / len(levels) - 0.5)
        point, low, high = (min(value / unit, NEVER * end) for value in steps)
        colour = colours[where["algorithm"]]
        axis.plot((low, high), (place, place), "-", color=colour, linewidth=1.5, alpha=0.45)
        axis.plot(point, place, shapes[where["level"]], color=colour, markersize=5)
    gap = (NEVER - 1) / 2
    axis.axvspan((NEVER - gap) * end, (NEVER + gap) * end, color="0.5", alpha=0.12, linewidth=0)
    ticks = [tick for tick in axis.get_xticks() if 0 <= tick <= end]
    axis.set_xticks([*ticks, NEVER * end], [*(f"{tick:g}" for tick in ticks), "never"])
    axis.set_xlim(0.0, (NEVER + gap) * end)
    axis.set_yticks(range(len(algorithms)), [drawn(name) for name in algorithms])
    axis.set_ylim(len(algorithms) - 0.5, -0.5)  # the first at the top
    axis.grid(axis="y", visible=False)


def level_name(where: dict[str, Any]) -> str:
    """Name a level of return, by its share of the paper's CUP where it is one."""
    share = where.get("share_of_paper")
    return f"{share:.0%} of the paper's CUP" if share else f"a return of {where['level']:g}"
