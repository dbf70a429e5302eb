"""Pictures of experiments, drawn from results of every shape; what an SVG says is read back."""

import re

import pytest

from cuprl.experiments.grid.cells import Block
from cuprl.experiments.report import figures, over_training, paper
from cuprl.experiments.report.drawing import COLOURS, pyplot
from cuprl.experiments.report.figures import KINDS
from experiments.synthetic import groups_of

STEPS = 100_000  # 20 iterations


def drawn(kind, groups, tmp_path):
    """The texts of a picture, which matplotlib leaves as comments beside the shapes, and the whole of it."""
    out = tmp_path / f"{kind}.svg"
    KINDS[kind](groups, out)
    picture = out.read_text()
    return [text.strip() for text in re.findall(r"<!--(.*?)-->", picture, re.DOTALL)], picture


def test_every_constraint_has_its_panels(tmp_path):
    groups = groups_of(Block(("hopper-speed-effort", "hopper-speed"), ("cup",), (0, 1), STEPS))
    for kind, labels in (("curves", {"cost: speed", "cost: effort"}), ("nu", {"cost: speed", "cost: effort", "ν"})):
        assert labels <= set(drawn(kind, groups, tmp_path)[0])
    assert {"hopper-speed-effort: speed", "hopper-speed-effort: effort", "hopper-speed"} <= set(
        drawn("plane", groups, tmp_path)[0]
    )


@pytest.fixture
def figure_of(monkeypatch, tmp_path):
    """A picture as matplotlib has it, laid out."""
    kept = []
    for module in (figures, over_training):
        monkeypatch.setattr(module, "save_figure", lambda figure, out: kept.append(figure))

    def draw(kind, groups):
        KINDS[kind](groups, tmp_path / "unused.png")
        kept[-1].draw_without_rendering()
        return kept[-1]

    yield draw
    for figure in kept:
        pyplot().close(figure)


LONG = Block(("swimmer-speed",), ("cup",), (0,), STEPS, sweep=(("alpha", ("0.1", "0.3")), ("limit", ("10", "20"))))


@pytest.mark.parametrize("kind", ["curves", "plane"])
@pytest.mark.parametrize("tasks", [("swimmer-speed",), ("swimmer-speed", "hopper-speed")])
def test_no_legend_is_clipped(kind, tasks, figure_of):
    figure = figure_of(kind, groups_of(LONG, Block(tasks, ("cup", "ppo-lag", "focops", "cpo", "pcpo"), (0,), STEPS)))
    (legend,) = figure.legends
    extent = legend.get_window_extent()
    assert extent.x0 >= 0 and extent.x1 <= figure.bbox.width and len(legend.get_texts()) == 9


def test_algorithms_of_a_sweep_have_colours_of_their_own(figure_of):
    sweep = (("alpha", ("0.1", "0.3")),)
    figure = figure_of("alpha", groups_of(Block(("swimmer-speed",), ("cup-clip", "cup-omnisafe"), (0,), STEPS, sweep=sweep)))
    assert len({line.get_color() for line in figure.axes[0].lines}) == 2


def dashed(axis):
    """limit -> colour of the dashed lines of a panel, on whichever axis."""
    lines = [line for line in axis.lines if line.get_linestyle() == "--"]
    return {next(v for v in (*line.get_xdata(), *line.get_ydata()) if v not in (0, 1)): line.get_color() for line in lines}


@pytest.mark.parametrize("kind", ["curves", "plane"])
def test_a_limit_has_the_colour_of_the_one_group_that_has_it(kind, figure_of):
    shared = Block(("swimmer-speed",), ("cpo", "focops"), (0,), STEPS, limits=("30",))
    figure = figure_of(kind, groups_of(shared, Block(("swimmer-speed",), ("cup",), (0,), STEPS, limits=("20",))))
    assert dashed(figure.axes[-1]) == {30.0: "black", 20.0: COLOURS[0]}


@pytest.mark.parametrize("limits, shaded", [(("30",), True), (("20",), False)])
def test_only_one_limit_is_shaded(limits, shaded, figure_of):
    blocks = [Block(("swimmer-speed",), (algo,), (0,), STEPS, limits=b) for algo, b in (("cpo", ("30",)), ("cup", limits))]
    figure = figure_of("plane", groups_of(*blocks))
    assert bool(figure.axes[0].patches) == shaded == ("shaded" in figure.get_supxlabel())


def test_the_plane_has_the_papers_points_only_beside_runs_of_its_length(tmp_path):
    for steps, there in ((paper.STEPS, True), (STEPS, False)):
        texts, _ = drawn("plane", groups_of(Block(("hopper-speed",), ("cup", "pcpo"), (0, 1), steps)), tmp_path)
        assert any("hollow: the paper's mean of 10 seeds" in text for text in texts) == there


@pytest.mark.parametrize("kind", ["curves", "nu", "alpha", "plane"])
def test_plain_sums_are_drawn_where_they_are_held_to_the_limit(kind, figure_of):
    sweep = (("alpha", ("0.1", "0.3")),)
    groups = groups_of(Block(("swimmer-speed",), ("cup-omnisafe",), (0,), STEPS, sweep=sweep))
    axis = figure_of(kind, groups).axes[{"curves": 1, "nu": 0, "alpha": 1, "plane": 0}[kind]]
    label, ends = (axis.get_xlabel(), "x") if kind == "plane" else (axis.get_ylabel(), "y")
    assert label == "cost (undiscounted)"
    drawn_most = max(max(getattr(line, f"get_{ends}data")()) for line in axis.lines)
    assert drawn_most == pytest.approx(max(g.cost_curves().max() for g in groups), rel=0.01)
    assert drawn_most > 3 * groups[0].first_limit
