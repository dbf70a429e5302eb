"""The picture of how long one waits, on curves drawn by hand."""

from dataclasses import replace

import numpy as np
import pytest

from cuprl.cli import main
from cuprl.errors import UserError
from cuprl.experiments.grid.cells import Block, Experiment
from cuprl.experiments.grid.expand import expand
from cuprl.experiments.report import waits
from cuprl.experiments.report.drawing import pyplot
from cuprl.experiments.store.results import store
from experiments.report.test_figures import drawn as texts_of
from experiments.report.test_time_to_safe import SAFE, N, drawn, from_iteration
from experiments.synthetic import made_up

MILLIONS = 5000 / 1e6  # of steps, an iteration
END = N * MILLIONS


@pytest.fixture
def panel_of(monkeypatch, tmp_path):
    """The first panel of a picture, as matplotlib has it."""
    kept = []
    monkeypatch.setattr(waits, "save_figure", lambda figure, out: kept.append(figure))

    def draw(groups, levels):
        waits.waits(groups, tmp_path / "unused.png", levels)
        return kept[-1].axes[0]

    yield draw
    for figure in kept:
        pyplot().close(figure)


def places(panel):
    """Where the points stand, each with its row: those of the legend have no place."""
    points = [line for line in panel.lines if line.get_linestyle() == "None" and len(line.get_xdata())]
    return [(line.get_xdata()[0], round(float(line.get_ydata()[0]))) for line in points]


def test_a_point_stands_where_half_of_the_seeds_are_there(panel_of):
    quick = drawn([from_iteration(k) for k in (10, 20, 30)], [SAFE] * 3)
    slow = replace(drawn([from_iteration(40)], [SAFE]), algo="cpo")
    panel = panel_of([quick, slow], [50.0, 200.0])
    never = waits.NEVER * END
    assert np.array(places(panel)) == pytest.approx(
        np.array([(20 * MILLIONS, 0), (never, 0), (40 * MILLIONS, 1), (never, 1)])
    )
    assert [label.get_text() for label in panel.get_yticklabels()] == ["cup", "cpo"] and panel.yaxis_inverted()
    assert panel.get_xticklabels()[-1].get_text() == "never" and panel.get_xlim()[1] > never
    interval = next(line for line in panel.lines if line.get_linestyle() == "-")
    assert list(interval.get_xdata()) == pytest.approx([10 * MILLIONS, 30 * MILLIONS])


def test_levels_are_named_by_the_paper_or_by_themselves(tmp_path):
    words, _ = texts_of("waits", [drawn([from_iteration(10)], [SAFE])], tmp_path)
    assert {"50% of the paper's CUP", "100% of the paper's CUP", "never", "environment steps (millions)"} <= set(words)
    with pytest.raises(UserError, match=r"no return to reach for these tasks and limits; give levels, as --levels"):
        texts_of("waits", [drawn([from_iteration(10)], [SAFE], task="hopper-velocity")], tmp_path)


def test_the_command(tmp_path, capsys):
    for cell in expand(Experiment("mine", "for tests", (Block(("hopper-velocity",), ("cup",), (0, 1), N * 5000),))):
        store(made_up(cell), tmp_path / "mine")
    out = tmp_path / "waits.svg"
    where = ["--results", str(tmp_path), "--out", str(out), "--levels", "50,60"]
    assert main(["figure", "waits", "mine", *where]) == 0 and "a return of 60" in out.read_text()
    assert main(["figure", "curves", "mine", *where]) == 2
    assert "--levels goes with the figure waits; leave it away." in capsys.readouterr().err
