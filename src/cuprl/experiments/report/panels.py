"""What the pictures of an experiment share: a stack of axes a task, colours, legends, limits."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from cuprl.experiments.report.groups import Group
from cuprl.experiments.report.plot import COLOURS, draw_limits, drawn, pyplot, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH = 8.0  # inches: about 1000 pixels
Panels = dict[str, list[Any]]  # task -> its axes, top to bottom
# An algorithm has the same colour in every picture.
KNOWN = dict(zip(("cup", "focops", "ppo-lag", "trpo-lag", "cpo", "pcpo", "ppo", "trpo"), COLOURS))


def panels_of(names: list[str], rows: int, height: float = 1.9) -> tuple[Any, Panels]:
    """A figure with a stack of `rows` axes for each name, at most three stacks abreast."""
    columns = {1: 1, 2: 2, 4: 2}.get(len(names), 3)
    bands = -(-len(names) // columns)
    size = (WIDTH if columns > 1 else 0.7 * WIDTH, height * rows * bands + 0.7)
    figure, axes = pyplot().subplots(rows * bands, columns, figsize=size, layout="constrained", squeeze=False)
    panels = {}
    for k, name in enumerate(names):
        top = k // columns * rows
        panels[name] = list(axes[top : top + rows, k % columns])
        panels[name][0].set_title(drawn(name), fontsize=10)
    for axis in axes.flat:
        style(axis)
        axis.tick_params(labelsize=8)
        axis.locator_params(axis="x", nbins=5)
        axis.set_visible(any(axis in stack for stack in panels.values()))
    return figure, panels


def finish_cost(axis: Axes, groups: list[Group], constraint: int, colours: dict[str, Any]) -> None:
    """Limits on a panel of costs; the constraint's name where a task has several, nothing where it has fewer."""
    names = list(groups[0].limits)
    if constraint >= len(names):
        axis.set_visible(False)
        return
    draw_limits(axis, limit_colours(groups, constraint, colours), "{:.4g}", beside=True)
    if len(names) > 1:
        axis.set_ylabel(f"cost: {drawn(names[constraint])}", fontsize=9)


def limit_colours(groups: list[Group], constraint: int, colours: dict[str, Any]) -> dict[float, Any]:
    """limit -> colour: black where it is the only one or several groups have it, else its group's."""
    bounds = [list(g.limits.values())[constraint] for g in groups]
    own = {bound: colours.get(g.label, "black") for g, bound in zip(groups, bounds) if bounds.count(bound) == 1}
    return {bound: own.get(bound, "black") if len(set(bounds)) > 1 else "black" for bound in bounds}


def label_rows(figure: Any, panels: Panels, names: list[str]) -> None:
    """Names of the rows beside the leftmost axis of each that shows something and has no name of its own."""
    labelled = set()
    for stack in panels.values():
        for axis, name in zip(stack, names):
            row = axis.get_subplotspec().rowspan.start
            if axis.get_visible() and row not in labelled:
                labelled.add(row)
                axis.set_ylabel(axis.get_ylabel() or name, fontsize=9)
    figure.align_ylabels()


def caption(figure: Any, axis: str, text: str) -> None:
    """What lies along the bottom and, below it, how to read the picture, in as many lines as that takes."""
    text = textwrap.fill(text, int(15 * figure.get_figwidth()))
    figure.supxlabel(f"{axis}\n{text}".strip(), fontsize=9)


def legend_above(figure: Any, panels: Panels) -> None:
    """One legend for all panels, outside them."""
    entries = {}
    for stack in panels.values():
        handles, labels = stack[0].get_legend_handles_labels()
        entries.update(dict(zip(labels, handles)))
    columns = columns_for(list(entries), int(14 * figure.get_figwidth()))
    figure.legend(entries.values(), list(map(drawn, entries)), loc="outside upper center", ncols=columns, frameon=False,
                  fontsize=9, handlelength=1.5, columnspacing=1.2)  # fmt: skip


def columns_for(labels: list[str], room: int, most: int = 8) -> int:
    """The most columns a legend of these labels can have in a room of so many letters; a line and its gaps take 6."""
    for columns in range(min(len(labels), most), 1, -1):
        split = np.array_split([len(label) for label in labels], columns)  # as matplotlib fills them
        if sum(6 + column.max() for column in split) <= room:
            return columns
    return 1


def legend_on(figure: Any, axis: Axes, labels: list[str]) -> None:
    """A legend of one stack's own, between its title and its first panel."""
    abreast = axis.get_subplotspec().get_gridspec().ncols  # type: ignore[union-attr]
    columns = columns_for(labels, int(15 * figure.get_figwidth() / abreast), most=5)
    axis.set_title(axis.get_title(), fontsize=10, pad=8 + 12 * -(-len(labels) // columns))
    axis.legend(axis.get_legend_handles_labels()[0], list(map(drawn, labels)), loc="lower center",
                bbox_to_anchor=(0.5, 1.0), ncols=columns, fontsize=8, frameon=False,
                handlelength=1.2, columnspacing=0.9, handletextpad=0.4)  # fmt: skip


def colours_of(groups: list[Group]) -> dict[str, Any]:
    """label -> colour: an algorithm's own, a scale over a sweep, and what is left for others."""
    labels = list(dict.fromkeys(g.label for g in groups))
    if all(g.variant for g in groups):
        scale = pyplot().get_cmap("viridis")
        return {label: scale(0.9 * i / max(len(labels) - 1, 1)) for i, label in enumerate(labels)}
    return {**KNOWN, **palette(labels)}


def palette(labels: list[str]) -> dict[str, str]:
    """label -> one of COLOURS: an algorithm's own, and for others what these leave, again from the first where that ends."""
    others = [label for label in labels if label not in KNOWN]
    spare = [colour for name, colour in KNOWN.items() if name not in labels] or list(COLOURS)
    return {label: KNOWN[label] if label in KNOWN else spare[others.index(label) % len(spare)] for label in labels}
