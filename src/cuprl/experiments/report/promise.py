"""The picture of what updates promise: the cost they predict of their policy against the cost it then had."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from cuprl.errors import UserError
from cuprl.experiments.report.drawing import save_figure
from cuprl.experiments.report.groups import Group
from cuprl.experiments.report.panels import caption, colours_of, label_rows, legend_above, panels_of
from cuprl.runs.columns import column

PREDICTED, FOUND = "train/predicted_cost", "train/cost_return"
BINS = 12
SHOWN = (0.5, 99.5)  # percentiles between which the points are shown


def promise(groups: list[Group], out: Path) -> None:
    """Draw J^C that an update predicts against J^C of the batch its policy collects; promises kept lie on the diagonal."""
    groups = [g for g in groups if g.limits and all(has_promises(g, name) for name in g.limits)]
    if not groups:
        raise UserError(f"no run of this experiment has recorded {PREDICTED}; run it again, or draw its `curves`.")
    groups = [g for g in groups if len(g.results[0].metrics["steps"]) > 1]
    if not groups:
        raise UserError("these runs have one iteration each, and no batch after it to compare; draw their `curves`.")
    wanted = {g.task if len(g.limits) == 1 else f"{g.task}: {name}": (g.task, name) for g in groups for name in g.limits}
    from matplotlib.patheffects import withStroke

    figure, panels = panels_of(list(wanted), 1, height=2.8)
    colours = colours_of(groups)
    for title, (axis,) in panels.items():
        task, name = wanted[title]
        mine = {g.label: promises(g, name) for g in groups if g.task == task}
        for label, (predicted, found) in mine.items():
            axis.plot(predicted, found, ".", color=colours[label], markersize=4, alpha=0.25, markeredgewidth=0)
        low, high = np.percentile(np.concatenate([np.concatenate(pair) for pair in mine.values()]), SHOWN)
        axis.plot((low, high), (low, high), color="black", linestyle="--", linewidth=1)
        for label, (predicted, found) in mine.items():  # above all points, which have its colour
            outlined = withStroke(linewidth=4, foreground="white")
            axis.plot(*binned(predicted, found), color=colours[label], linewidth=2, label=label, path_effects=[outlined])
        axis.set(xlim=(low, high), ylim=(low, high))
        axis.set_xlabel("cost predicted", fontsize=9)
    label_rows(figure, panels, ["cost of the next batch"])
    caption(figure, "", "cost after each update, from a tenth of the training on; lines: means; dashed: promises kept")
    legend_above(figure, panels)
    save_figure(figure, out)


def has_promises(g: Group, name: str) -> bool:
    """Tell whether all runs of a group have recorded what their updates predicted."""
    return bool(g.results) and all(column(PREDICTED, name, g.limits) in result.metrics for result in g.results)


def promises(g: Group, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Pair what was predicted and what was found after it, of all seeds, from a tenth of the training on."""
    predicted, found = (g.curves(column(key, name, g.limits)) for key in (PREDICTED, FOUND))  # [seeds, iterations]
    begin = predicted.shape[1] // 10
    return predicted[:, begin:-1].ravel(), found[:, begin + 1 :].ravel()


def binned(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Take means of x and y in bins with as many points each."""
    order = np.array_split(np.argsort(x), min(BINS, len(x)))
    return np.array([x[part].mean() for part in order]), np.array([y[part].mean() for part in order])
