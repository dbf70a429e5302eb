"""What a person sees of a grid, and the time left."""

from dataclasses import replace

import pytest

from cuprl.experiments.engines.board import LiveBoard
from cuprl.experiments.engines.pace import Pace
from cuprl.experiments.grid.cells import Experiment
from cuprl.experiments.grid.expand import expand
from cuprl.training.train import train
from experiments.tiny import BLOCK, SMALL
from small import QUIET


def test_the_live_board_shows_each_run_and_the_time_left(tmp_path):
    cells = expand(Experiment("tiny", "", (replace(BLOCK, steps=1000, sweep=(("alpha", ("0.2",)),)),)))
    run = train("hopper-speed", steps=1000, out=cells[0].path(tmp_path), **dict(SMALL), **QUIET)
    lines = (run.path / "progress.csv").read_text().splitlines(keepends=True)
    (run.path / "progress.csv").write_text("".join(lines[:4]) + lines[4][:30])  # 3 of 5 rows, one half written
    states, pace = {cells[0]: "running", cells[1]: "waiting"}, Pace(tmp_path)
    pace.look(states)
    rows = {name: column[1:3] for name, column in run.progress().items()}  # without the one that compiles
    seconds = sum(rows["time/collect"] + rows["time/update"]) / 2
    assert pace.seconds_left(states, 1) == pytest.approx((2 + 5) * seconds)
    assert pace.seconds_left(states, 2) == pytest.approx(5 * seconds)
    board = LiveBoard()
    for width, speed in ((80, True), (66, False)):
        board.console.width, board.console.height = width, 20
        with board.console.capture() as capture:
            board.show(states, pace, 61.0)
            board.console.print(board.live.renderable)
        shown = capture.get()
        assert "0 of 2 runs done, about 1:01 left" in shown and "60%" in shown and "waiting" in shown
        assert "82.748" in shown and "alpha=0.2" in shown and ("steps/s" in shown) == speed
