"""Pictures of runs: return above, cost below, the limit as a line."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cuprl.core.text import printable
from cuprl.errors import UserError
from cuprl.runs.columns import column
from cuprl.runs.files import write_atomically
from cuprl.runs.folder import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours: told apart also by those who see few colours.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8A8A8A")


def pyplot() -> Any:
    """matplotlib.pyplot, imported when first drawn with, and without a screen."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    return plt


def style(axis: Axes) -> None:
    axis.spines[["top", "right"]].set_visible(False)
    axis.grid(alpha=0.25)


def draw_limits(axis: Axes, limits: dict[float, str], label: str = "limit {:g}", beside: bool = False) -> None:
    """A dashed line in its colour for each limit of a cost axis, with room above the highest and down to 0.

    Its label stands on the line, or beside the axis.
    """
    for limit, colour in sorted(limits.items()):
        axis.axhline(limit, color=colour, linestyle="--", linewidth=1)
        x, ha, va = (1.01, "left", "center") if beside else (0.995, "right", "bottom")
        where = axis.get_yaxis_transform()
        axis.text(x, limit, label.format(limit), transform=where, ha=ha, va=va, fontsize=8, color=colour)
    low, high = axis.get_ylim()
    axis.set_ylim(min(low, 0.0), max(high, 1.1 * max(limits)))


def plot_runs(paths: Sequence[str | Path], out: str | Path | None = None) -> Path:
    """Learning curves of one or more runs in one picture; returns its path (in the first run's folder by default)."""
    plt = pyplot()
    runs = [Run(path) for path in paths]
    if not runs:
        raise UserError("give at least one run folder to plot.")
    limits: dict[str, set[float]] = {}
    for run in runs:
        for name, limit in run.config["limits"].items():
            limits.setdefault(name, set()).add(limit)
    rows = 1 + len(limits)
    size = {"figsize": (7, 2.6 * rows), "constrained_layout": True}
    figure, grid = plt.subplots(rows, 1, sharex=True, squeeze=False, **size)
    axes = grid[:, 0]
    labels = [_label(run, runs) for run in runs]
    for i, run in enumerate(runs):
        progress = run.measured()
        steps = progress["steps"] / 1e6
        colour = COLOURS[i % len(COLOURS)]
        axes[0].plot(steps, progress["rollout/ep_rew_mean"], color=colour, label=labels[i], linewidth=1.4)
        for axis, name in zip(axes[1:], limits):
            if name in run.config["limits"]:
                cost = progress[column("rollout/ep_cost_mean", name, run.config["limits"])]
                axis.plot(steps, cost, color=colour, linewidth=1.4)
    axes[0].set_ylabel("return")
    for axis, (name, values) in zip(axes[1:], limits.items()):
        axis.set_ylabel(f"{drawn(name)} (discounted cost)")
        draw_limits(axis, dict.fromkeys(values, "black"))
    axes[-1].set_xlabel("environment steps (millions)")
    axes[0].legend(fontsize=8, frameon=False, ncols=2 if len(runs) > 3 else 1)
    axes[0].set_title(", ".join(dict.fromkeys(drawn(run.config["task"]) for run in runs)), fontsize=10)
    for axis in axes:
        style(axis)
    out = Path(out) if out else runs[0].path / "curve.png"
    save_figure(figure, out)
    return out


def save_figure(figure: Figure, out: Path) -> None:
    picture = io.BytesIO()
    try:
        figure.savefig(picture, dpi=130, format=out.suffix.removeprefix(".").lower() or "none")
    except ValueError:
        raise UserError(f"{out} is no kind of picture; let its name end in .png, .svg or .pdf.") from None
    finally:
        pyplot().close(figure)
    out.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(out, picture.getvalue())


def _label(run: Run, runs: Sequence[Run]) -> str:
    """As short as tells the runs apart."""
    config = run.config
    tasks = {r.config["task"] for r in runs}
    parts = [config["task"]] if len(tasks) > 1 else []
    return drawn(" ".join([*parts, config["algo"], f"seed {config['seed']}"]))


def drawn(text: str) -> str:
    """A name as matplotlib draws it letter by letter: between dollars it would read formulas."""
    return printable(text).replace("$", r"\$")
