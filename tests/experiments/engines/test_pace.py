"""How far and how fast the runs of a grid are."""

import pytest

from cuprl.experiments.engines.board import row_of
from cuprl.experiments.engines.pace import TAIL, Pace, last_rows
from cuprl.experiments.grid.cells import Cell

HEADER = "iteration,steps,rollout/ep_rew_mean,time/collect,time/update\n"


def written(path, rows, half=""):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(HEADER + "".join(f"{i},{100 * i},5.0,{seconds},0.5\n" for i, seconds in rows) + half)
    return path


def test_the_last_whole_rows_are_read(tmp_path):
    rows = last_rows(written(tmp_path / "progress.csv", [(i, 1.5) for i in range(1, 31)], half="31,3100,5"))
    assert [row["iteration"] for row in rows] == list(range(31 - TAIL, 31))


@pytest.mark.parametrize("content", ["", "\0", HEADER, HEADER + "x,y,z,a,b\n", HEADER + "1,100,5.0,nan,0.5\n", "a,b\n1,2\n"])
def test_what_is_damaged_or_not_there_has_no_rows(content, tmp_path):
    (tmp_path / "progress.csv").write_text(content)
    assert last_rows(tmp_path / "progress.csv") == last_rows(tmp_path / "nothing") == []


def test_a_run_not_begun_is_as_fast_as_those_most_like_it(tmp_path):
    runs = [Cell("hopper-speed", "cup", 0, 1000), Cell("hopper-speed", "cup", 1, 1000), Cell("ant-speed", "cup", 0, 1000)]
    written(runs[0].path(tmp_path) / "progress.csv", [(1, 99.0), (2, 0.5)])  # 100 steps a second, after compiling
    written(runs[2].path(tmp_path) / "progress.csv", [(2, 9.5)])  # 10 steps a second
    pace, states = Pace(tmp_path), {runs[0]: "running", runs[1]: "waiting", runs[2]: "running"}
    assert pace.seconds_left(states, 1) is None  # nothing was looked at yet
    pace.look(states)
    assert pace.rate(runs[0]) == pytest.approx(100.0) and pace.rate(runs[1]) is None and pace.steps(runs[2]) == 200
    assert pace.seconds_left(states, 1) == pytest.approx(800 / 100 + 1000 / 100 + 800 / 10)
    assert pace.seconds_left(states, 2) == pytest.approx(800 / 10)  # no sooner than the longest
    assert pace.seconds_left(dict.fromkeys(runs, "done"), 2) == 0.0


def test_the_first_iteration_which_compiles_says_nothing_of_the_time_left(tmp_path):
    cell, pace = Cell("hopper-speed", "cup", 0, 1000, settings=(("batch_size", "100"),)), Pace(tmp_path)
    written(cell.path(tmp_path) / "progress.csv", [(1, 99.0)])
    pace.look({cell: "running"})
    assert pace.rate(cell) is None and pace.seconds_left({cell: "running"}, 1) is None and pace.steps(cell) == 100
    assert row_of(cell, "running", pace)[0] | {"steps": "10%", "steps/s": ""} == row_of(cell, "running", pace)[0]


def test_what_is_done_is_not_read_again(tmp_path):
    cell, pace = Cell("hopper-speed", "cup", 0, 1000), Pace(tmp_path)
    file = written(cell.path(tmp_path) / "progress.csv", [(2, 0.5)])
    pace.look({cell: "done"})
    file.unlink()
    pace.look({cell: "done"})
    assert pace.steps(cell) == 200
    pace.look({cell: "running"})
    assert pace.steps(cell) == 0
