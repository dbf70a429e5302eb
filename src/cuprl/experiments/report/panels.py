"""What the pictures of an experiment share: a stack of axes a task, colours, legends, limits."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from cuprl.experiments.report.drawing import COLOURS, LINES, SHAPES, draw_limits, drawn, pyplot, style
from cuprl.experiments.report.groups import Group
from cuprl.experiments.report.sweeps import swept_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH = 8.0  # inches: about 1000 pixels
LINE = 0.17  # inches: a line of a legend
LETTERS = 11  # of a title, to an inch
HANDLE = 7  # letters: what a legend's sample of a line and the gaps about it take
SOLID = 5  # lines that need no other marks than their colours
Panels = dict[str, list[Any]]  # task -> its axes, top to bottom
# An algorithm has the same colour in every picture.
KNOWN = dict(zip(("cup", "focops", "ppo-lag", "trpo-lag", "cpo", "pcpo", "cup-paper", "ppo", "trpo"), COLOURS))


def panels_of(names: list[str], rows: int, height: float = 1.9) -> tuple[Any, Panels]:
    """Make a figure with a stack of `rows` axes for each name, at most three stacks abreast."""
    columns = {1: 1, 2: 2, 4: 2}.get(len(names), 3)
    bands = -(-len(names) // columns)
    width = WIDTH if columns > 1 else 0.7 * WIDTH
    titles = {name: broken(name, int(LETTERS * width / columns)) for name in names}
    size = (width, height * rows * bands + 0.7 + LINE * bands * (max(map(len, titles.values())) - 1))
    figure, axes = pyplot().subplots(rows * bands, columns, figsize=size, layout="constrained", squeeze=False)
    panels = {}
    for k, name in enumerate(names):
        top = k // columns * rows
        panels[name] = list(axes[top : top + rows, k % columns])
        panels[name][0].set_title("\n".join(map(drawn, titles[name])), fontsize=10)
    for axis in axes.flat:
        style(axis)
        axis.tick_params(labelsize=8)
        axis.locator_params(axis="x", nbins=5)
        axis.set_visible(any(axis in stack for stack in panels.values()))
    return figure, panels


def finish_cost(axis: Axes, groups: list[Group], constraint: int, colours: dict[str, Any]) -> None:
    """Draw the limits on a panel of costs and name its axis; hide it where the task has fewer constraints."""
    if constraint >= len(groups[0].limits):
        axis.set_visible(False)
        return
    draw_limits(axis, limit_colours(groups, constraint, colours), "{:.4g}", beside=True)
    axis.set_ylabel(cost_label(groups, constraint, "\n" if len(groups[0].limits) > 1 else " "), fontsize=9)


def cost_label(groups: list[Group], constraint: int, gap: str) -> str:
    """Name a cost, by its constraint where a task has several, and say how it is discounted where that is known."""
    names = list(groups[0].limits)
    name = "\n".join(map(drawn, broken(names[constraint], LETTERS * 2)))  # about as high as a panel
    what = f"cost: {name}" if len(names) > 1 else "cost"
    how = "\nor ".join(how_discounted(groups, names[constraint]))  # in a line it would be longer than a panel is high
    return f"{what}{gap}({how})" if how else what


def how_discounted(groups: list[Group], constraint: str) -> list[str]:
    """Say in words how a cost is discounted as these groups hold it to its limit; nothing where it is not known of all."""
    discounts = dict.fromkeys(g.held[constraint] for g in groups if constraint in g.limits)
    return [] if None in discounts else ["undiscounted" if d == 1 else f"discount {d:g}" for d in discounts]


def limit_colours(groups: list[Group], constraint: int, colours: dict[str, Any]) -> dict[float, Any]:
    """Give each limit a colour: black where it is the only one or several groups have it, else its group's."""
    bounds = [list(g.limits.values())[constraint] for g in groups]
    own = {bound: colours.get(g.label, "black") for g, bound in zip(groups, bounds) if bounds.count(bound) == 1}
    return {bound: own.get(bound, "black") if len(set(bounds)) > 1 else "black" for bound in bounds}


def label_rows(figure: Any, panels: Panels, names: list[str]) -> None:
    """Name each row beside its leftmost axis that shows something; the others keep what differs from that."""
    said: dict[int, str] = {}
    for stack in panels.values():
        for axis, name in zip(stack, names):
            if axis.get_visible():
                row = axis.get_subplotspec().rowspan.start
                own = axis.get_ylabel() or name
                axis.set_ylabel("" if own == said.get(row) else own, fontsize=9)
                said.setdefault(row, own)
    figure.align_ylabels()


def caption(figure: Any, axis: str, text: str) -> None:
    """Write what lies along the bottom and, below it, how to read the picture, in as many lines as that takes."""
    text = textwrap.fill(text, int(15 * figure.get_figwidth()))
    figure.supxlabel(f"{axis}\n{text}".strip(), fontsize=9)


def legend_above(figure: Any, panels: Panels) -> None:
    """Draw one legend for all panels, outside them; the figure grows by what a long one takes."""
    entries = {}
    for stack in panels.values():
        handles, labels = stack[0].get_legend_handles_labels()
        entries.update(dict(zip(labels, handles)))
    labels, columns, lines = arranged(list(entries), int(14 * figure.get_figwidth()))
    figure.set_figheight(figure.get_figheight() + LINE * max(lines - 2, 0))
    figure.legend(
        entries.values(),
        labels,
        loc="outside upper center",
        ncols=columns,
        frameon=False,
        fontsize=9,
        handlelength=1.8,
        columnspacing=1.2,
    )


def arranged(labels: list[str], room: int, most: int = 8) -> tuple[list[str], int, int]:
    """Break labels that are longer than the room; give them, the columns of their legend, and how many lines it takes."""
    columns = columns_for(labels, room, most)
    letters = room - HANDLE
    parts = [broken(text, letters) for text in labels]
    texts = ["\n".join(map(drawn, lines)) for lines in parts]
    return texts, columns, -(-len(labels) // columns) if columns > 1 else sum(map(len, parts))


def broken(text: str, letters: int) -> list[str]:
    """Break a name that is longer than so many letters into lines, where its words end or anywhere."""
    return [text] if len(text) <= letters else textwrap.wrap(text.replace("+", "+ "), letters)


def columns_for(labels: list[str], room: int, most: int = 8) -> int:
    """Find the columns of the lowest legend of these labels in a room of so many letters, evenly filled."""
    lines = {1: len(labels)}
    for columns in range(2, min(len(labels), most) + 1):
        split = np.array_split([len(label) for label in labels], columns)  # as matplotlib fills them
        if sum(HANDLE + column.max() for column in split) <= room:
            lines[columns] = -(-len(labels) // columns)
    return min(lines, key=lambda columns: (lines[columns], columns))


def legend_on(figure: Any, axis: Axes, labels: list[str]) -> int:
    """Draw a legend of one stack's own, between its title and its first panel; give its number of lines."""
    abreast = axis.get_subplotspec().get_gridspec().ncols  # type: ignore[union-attr]
    texts, columns, lines = arranged(labels, int(14 * figure.get_figwidth() / abreast), most=5)
    axis.set_title(axis.get_title(), fontsize=10, pad=8 + 12 * lines)
    axis.legend(
        axis.get_legend_handles_labels()[0],
        texts,
        loc="lower center",
        bbox_to_anchor=(0.5, 1.0),
        ncols=columns,
        fontsize=8,
        frameon=False,
        handlelength=1.8,
        columnspacing=0.9,
        handletextpad=0.4,
    )
    return lines


def colours_of(groups: list[Group]) -> dict[str, Any]:
    """Give each label a colour: an algorithm's own, a scale over a swept number, and what is left for others."""
    labels = list(dict.fromkeys(g.label for g in groups))
    if all(g.variant for g in groups) and swept_name(groups):
        scale = pyplot().get_cmap("viridis")
        return {label: scale(0.9 * i / max(len(labels) - 1, 1)) for i, label in enumerate(labels)}
    return {**KNOWN, **palette(labels)}


def palette(labels: list[str]) -> dict[str, str]:
    """Give each label one of COLOURS: an algorithm's own, and for others what these leave, again from the first."""
    others = [label for label in labels if label not in KNOWN]
    taken = {KNOWN[label] for label in labels if label in KNOWN}
    spare = [colour for colour in COLOURS if colour not in taken]
    return {label: KNOWN[label] if label in KNOWN else spare[others.index(label) % len(spare)] for label in labels}


def lines_of(groups: list[Group]) -> dict[str, Any]:
    """Give each label a kind of line: solid where there are few."""
    return in_turn(groups, LINES)


def shapes_of(groups: list[Group]) -> dict[str, Any]:
    """Give each label a shape of its points: round where there are few."""
    return in_turn(groups, SHAPES)


def in_turn(groups: list[Group], kinds: tuple[Any, ...]) -> dict[str, Any]:
    """Give each label one of the kinds: the first where there are few, else an algorithm's own, and others' in turn."""
    labels = list(dict.fromkeys(g.label for g in groups))
    used = kinds if len(labels) > SOLID else kinds[:1]
    others = [label for label in labels if label not in KNOWN]
    # Where colours and kinds would come round together, the kinds go one further.
    again = math.lcm(max(len(COLOURS) - (len(labels) - len(others)), 1), len(kinds))
    places = {label: i for i, label in enumerate(KNOWN)} | {label: i + i // again for i, label in enumerate(others)}
    return {label: used[places[label] % len(used)] for label in labels}
