"""What every picture is drawn with: matplotlib without a screen, colours and lines, limits, names, files."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cuprl.core.text import printable
from cuprl.errors import UserError
from cuprl.runs.files import try_writing, write_with_folders

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours, told apart also by those who see few colours, and two of Tol's.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8A8A8A", "#882255", "#999933")
# Of curves: on paper without colours, and past ten of them. None is dashed as limits are.
LINES = ("-", (0, (1, 1)), (0, (6, 1.5, 1, 1.5)), (0, (4, 1, 1, 1, 1, 1)))
SHAPES = ("o", "s", "^", "D")  # of points, likewise


def pyplot() -> Any:
    """Import matplotlib.pyplot when first drawn with, and without a screen."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    return plt


def style(axis: Axes) -> None:
    """Leave two sides of a panel open, and a faint grid in it."""
    axis.spines[["top", "right"]].set_visible(False)
    axis.grid(alpha=0.25)


def draw_limits(axis: Axes, limits: dict[float, str], label: str = "limit {:g}", beside: bool = False) -> None:
    """Draw a dashed line in its colour for each limit of a cost axis, with room above the highest and down to 0.

    Its label stands on the line, or beside the axis.
    """
    for limit, colour in sorted(limits.items()):
        axis.axhline(limit, color=colour, linestyle="--", linewidth=1)
        x, ha, va = (1.01, "left", "center") if beside else (0.995, "right", "bottom")
        where = axis.get_yaxis_transform()
        axis.text(x, limit, label.format(limit), transform=where, ha=ha, va=va, fontsize=8, color=colour)
    low, high = axis.get_ylim()
    axis.set_ylim(min(low, 0.0), max(high, 1.1 * max(limits)))


def check_picture(out: Path) -> None:
    """Refuse, before long work, a file that no picture can be written to."""
    format_of(out)
    try_writing(out)


def format_of(out: Path) -> str:
    """Tell the kind of picture by the end of its name."""
    from matplotlib.backend_bases import FigureCanvasBase

    kind = out.suffix.removeprefix(".").lower()
    if kind not in FigureCanvasBase.get_supported_filetypes():
        raise UserError(f"{out} is no kind of picture; let its name end in .png, .svg or .pdf.")
    return kind


def save_figure(figure: Figure, out: Path) -> None:
    """Write a picture whole, of the kind that its name ends in, and forget it."""
    picture = io.BytesIO()
    try:
        figure.savefig(picture, dpi=130, format=format_of(out))
    finally:
        pyplot().close(figure)
    write_with_folders(out, picture.getvalue())


def drawn(text: str) -> str:
    """Write a name so that matplotlib draws it letter by letter: between dollars it would read formulas."""
    return printable(text).replace("$", r"\$")
