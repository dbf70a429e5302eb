"""What a person sees of a grid, and the time left."""

from dataclasses import replace

import pytest

from cuprl.experiments.engines.board import LiveBoard, row_of
from cuprl.experiments.engines.pace import Pace
from cuprl.experiments.grid.cells import Block, Experiment
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


@pytest.mark.parametrize(
    "algo, task, costs, shown",
    [
        ("cup", "hopper-speed", {"": (90.0, 800.0)}, ("90.00 / 300", "green")),
        ("cup-omnisafe", "hopper-speed", {"": (90.0, 800.0)}, ("800.00 / 300", "red")),
        (
            "cup-omnisafe",
            "hopper-speed-effort",
            {"/speed": (90.0, 200.0), "/effort": (9.0, 70.0)},
            ("200.00 / 300", "green"),
        ),
        ("cup-omnisafe", "hopper-speed-effort", {"/speed": (90.0, 200.0), "/effort": (9.0, 700.0)}, ("700.00 / 300", "red")),
    ],
)
def test_the_board_shows_the_cost_that_is_held_to_the_limit(algo, task, costs, shown, tmp_path):
    (cell,) = expand(Experiment("one", "", (Block((task,), (algo,), (0,), 100_000),)))
    row = {"iteration": 2, "steps": 10_000, "rollout/ep_rew_mean": 1.0, "time/collect": 1.0, "time/update": 1.0}
    for end, (discounted, plain) in costs.items():
        row |= {f"rollout/ep_cost_mean{end}": discounted, f"rollout/ep_cost_undiscounted_mean{end}": plain}
        row[f"rollout/cost_limit{end}"] = 300.0
    cell.path(tmp_path).mkdir(parents=True)
    (cell.path(tmp_path) / "progress.csv").write_text(f"{','.join(row)}\n{','.join(map(str, row.values()))}\n")
    pace = Pace(tmp_path)
    pace.look({cell: "running"})
    found, colour = row_of(cell, "running", pace)
    assert (found["cost / limit"], colour) == shown
