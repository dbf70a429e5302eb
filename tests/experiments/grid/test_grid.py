"""Grids: expansion, files, resuming, killed grids and workers, failing runs; all with real processes and real runs."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from cuprl.cli import main
from cuprl.errors import UserError
from cuprl.experiments.engines.board import LiveBoard, PlainBoard
from cuprl.experiments.engines.engine import Grid, held
from cuprl.experiments.engines.local import LocalEngine, free_memory, workers_for
from cuprl.experiments.engines.pace import Pace
from cuprl.experiments.grid.cells import Block, Cell, Experiment, expand
from cuprl.experiments.grid.shipped import EXPERIMENTS, FOUR_LIMITS, find
from cuprl.experiments.store.results import store, stored
from cuprl.runs.folder import Run
from cuprl.training.loop import train
from small import QUIET, same_arrays, same_progress

SMALL = tuple({"batch_size": "200", "num_envs": "5", "hidden": "8", "minibatch": "50", "epochs": "2",
               "critic_epochs": "2"}.items())  # fmt: skip
BLOCK = Block(("hopper-speed",), ("cup",), (0, 1), 600, SMALL)
TINY = Experiment("tiny", "for tests", (BLOCK,))
FILE = """
tasks = ["hopper-speed"]
algos = "cup"
seeds = "0..1"
steps = 20_000
settings = { batch_size = 200, num-envs = 5, hidden = [8], minibatch = 50, epochs = 2, critic_epochs = 2 }
"""


def run_cells(cells, folder, workers=2):
    return Grid(cells, folder / "runs", folder / "results" / "tiny", PlainBoard()).run(LocalEngine(workers))


# --- experiments as data ------------------------------------------------------------------------------------------------


def test_what_is_shipped():
    cells = {name: expand(experiment) for name, experiment in EXPERIMENTS.items()}
    assert {name: len(grid) for name, grid in cells.items()} == {
        "quick": 8, "paper-table": 350, "paper-extra": 210, "paper-nu": 50, "paper-alpha": 125, "paper-limit": 100,
        "cup-variants": 125, "first-slice": 48, "cup-ablation": 108, "baselines": 36, "two-limits": 24, "spine": 6,
    }  # fmt: skip
    plain = [cell.resolved() for cell in cells["paper-table"]]
    for part in ("paper-nu", "first-slice"):  # runs done once count everywhere
        assert all(cell.resolved() in plain for cell in cells[part])
    swimmer = [cell for cell in cells["paper-limit"] if cell.task == "swimmer-speed" and cell.seed == 0]
    assert [cell.resolved()["limits"] for cell in swimmer] == [{"speed": limit} for limit in (10, 15, 20, 25)]
    assert [cell.variant for cell in swimmer] == ["limit=10", "limit=15", "limit=20", "limit=25"]
    for task, limits in FOUR_LIMITS.items():  # around the task's own
        (own,) = Cell(task, "cup", 0, 5000).resolved()["limits"].values()
        assert [round(float(limit) / own, 1) for limit in limits] == [0.4, 0.6, 0.8, 1.0], task


def test_a_part_of_a_grid():
    baselines, alpha = find("baselines"), find("paper-alpha")
    assert len(expand(baselines, "task=hopper-speed,algo=cup")) == 2
    assert {cell.algo for cell in expand(baselines, "algo=cup,algo=cpo")} == {"cup", "cpo"}
    (one,) = expand(alpha, "task=ant-speed,variant=alpha=0.15,seed=3")
    assert one.path(Path("r")) == Path("r/ant-speed/cup/alpha=0.15/seed3") and ("alpha", "0.15") in one.settings
    assert len(expand(alpha, "task=ant-speed,seed=1..3")) == 15
    for only, words in (("algo=cap", "did you mean cup"), ("speed=1", "give task="), ("seed=9", "unknown seed"),
                        ("task=ant-speed,algo=cpo", "no run of first-slice is all of")):  # fmt: skip
        with pytest.raises(UserError, match=words):
            expand(find("first-slice"), only)


@pytest.mark.parametrize("change, words", [
    ({"tasks": ("hoper-speed",)}, "did you mean hopper-speed"), ({"algos": ("cap",)}, "did you mean cup"),
    ({"settings": (("alhpa", "1"),)}, "did you mean alpha"), ({"settings": (("alpha", "much"),)}, "give a number"),
    ({"limits": ("much",)}, "give a number"), ({"limits": ("force=3",)}, "unknown constraint"),
    ({"limits": ("nan",)}, "finite"), ({"steps": 100}, "less than one batch"), ({"seeds": (-1,)}, "whole number from 0"),
    ({"seeds": (1, 1)}, "seed 1 twice"), ({"sweep": (("alpha", ("0.1", "0.1")),)}, "alpha=0.1 seed 0 twice"),
    ({"sweep": (("alpha", ("0.1", "1e-1")),)}, "alpha=0.1 seed 0 and .* alpha=1e-1 seed 0 are the same run"),
    ({"algos": ("cup", "cpo"), "sweep": (("alpha", ("0.1",)),)}, "unknown setting of cpo"),
])  # fmt: skip
def test_every_cell_is_checked_before_anything_runs(change, words):
    with pytest.raises(UserError, match=words):
        expand(replace(TINY, blocks=(replace(BLOCK, **change),)))


def test_an_experiment_of_ones_own(tmp_path):
    (tmp_path / "mine.toml").write_text(FILE + """
        [[block]]
        sweep = { alpha = [0.1, 0.3], limit = [40, 50.5] }
        [[block]]
        tasks = ["swimmer-speed"]
        seeds = [3, 5]
        steps = 2.5e4
        limits = ["speed=20"]
    """)  # fmt: skip
    cells = expand(find(str(tmp_path / "mine.toml")))
    assert [str(cell) for cell in cells if cell.task == "hopper-speed" and cell.seed == 1] == [
        f"hopper-speed cup alpha={alpha}+limit={limit} seed 1" for alpha in ("0.1", "0.3") for limit in ("40", "50.5")
    ]
    swimmers = [cell for cell in cells if cell.task == "swimmer-speed"]
    assert [(cell.seed, cell.steps, cell.limits, cell.variant) for cell in swimmers] == [
        (seed, 25_000, ("speed=20",), "") for seed in (3, 5)
    ]
    assert swimmers[0].resolved()["settings"]["hidden"] == [8]


def test_the_file_in_the_docs(tmp_path):
    page = (Path(__file__).parents[3] / "docs" / "experiments.md").read_text()
    (tmp_path / "mine.toml").write_text(page.split("```toml\n")[1].split("```")[0])
    assert len(expand(find(str(tmp_path / "mine.toml")))) == 5 * (2 * 2 + 1 * 4 + 2 * 2)
    assert all(f"| `{name}` | " in page and f"| {len(expand(find(name)))} |" in page for name in EXPERIMENTS)


@pytest.mark.parametrize("text, words", [
    ("tasks = [", "is not TOML"), ("", "tasks is missing"), (FILE + "speed = 1", "unknown field 'speed'"),
    (FILE + "name = 'quick'", "comes with cuprl"), (FILE + "name = 'a/b'", "becomes a folder's"),
    (FILE + "block = 3", "[[block]]"), (FILE + "sweep = { alpha = 3 }", "list of its values"),
    (FILE + "sweep = { alpha = [] }", "list of its values"), (FILE + "sweep = 3", "give a table"),
    (FILE + "limits = { speed = 3 }", "a word or a number"), (FILE.replace("20_000", "'many'"), "steps is 'many'"),
    (FILE.replace("0..1", "1..0"), "in order"), (FILE.replace('["hopper-speed"]', "[]"), "tasks is empty"),
    (FILE.replace("hopper", "hoper"), "did you mean hopper-speed"), (FILE.replace("[8]", "[-8]"), "give 1 to 1e5"),
])  # fmt: skip
def test_a_wrong_file_is_one_sentence(text, words, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text(text)
    assert main(["bench", "mine.toml"]) == 2
    shown = capsys.readouterr().err
    assert words in shown and shown.count("\n") == 1 and os.listdir() == ["mine.toml"]


# --- running ------------------------------------------------------------------------------------------------------------


def test_runs_are_stored_and_skipped(tmp_path, capsys):
    cells = expand(TINY)
    begun = cells[0].path(tmp_path / "runs")  # a run killed before its first file was there
    (begun / "checkpoints").mkdir(parents=True)
    (begun / "config.json.part").write_text("{")
    assert run_cells(cells, tmp_path) == {}
    assert "0 of 2 runs are finished" in capsys.readouterr().out
    assert run_cells(cells, tmp_path) == {}
    assert capsys.readouterr().out == "2 of 2 runs are finished; 0 to do\n"
    # The store alone is enough, and so are the run folders alone.
    (tmp_path / "runs").rename(tmp_path / "away")
    run_cells(cells, tmp_path)
    assert "2 of 2 runs are finished" in capsys.readouterr().out and not (tmp_path / "runs").exists()
    (tmp_path / "away").rename(tmp_path / "runs")
    (tmp_path / "results").rename(tmp_path / "gone")
    run_cells(cells, tmp_path)
    assert "2 of 2 runs are finished" in capsys.readouterr().out
    assert len(list((tmp_path / "results" / "tiny").iterdir())) == 2


def children(pid):
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def wait_until(condition, process, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None and time.monotonic() < end, process.args
        time.sleep(0.02)


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds the workers in /proc")
def test_a_killed_grid_and_a_killed_worker_lose_nothing(tmp_path):
    """SIGKILL for the grid, then for a worker of the next one; the result is that of a run never interrupted."""
    (tmp_path / "mine.toml").write_text(FILE.replace("0..1", "0"))
    (cell,) = expand(find(str(tmp_path / "mine.toml")))
    path = cell.path(tmp_path / "runs" / "mine")

    def bench(*more):
        words = ["bench", tmp_path / "mine.toml", "--root", tmp_path / "runs", "--results", tmp_path / "results", *more]
        return subprocess.Popen([sys.executable, "-m", "cuprl", *words], stdout=subprocess.PIPE, text=True)

    def checkpointed():
        return round(cell.fraction(tmp_path / "runs" / "mine") * 100)

    first = bench()
    wait_until(lambda: checkpointed() >= 10, first)
    first.kill()
    first.communicate()
    # Its worker may still be at its last iteration and hold the run: the next grid waits for it.
    second = bench()
    wait_until(lambda: checkpointed() >= 30 and children(second.pid), second)
    (worker,) = children(second.pid)
    os.kill(worker, signal.SIGKILL)
    shown = second.communicate()[0]
    assert second.returncode == 0 and "ended with status -9" in shown and "trying again" in shown
    log = path.with_name("seed0.log").read_text()
    assert "stopping after this iteration" in log and "stopped after iteration" in log  # the first grid's worker
    whole = train("hopper-speed", steps=20_000, out=tmp_path / "whole", **dict(cell.settings), **QUIET)
    same_progress(whole, Run(path))
    same_arrays(whole.latest()[0], Run(path).latest()[0])


def test_a_run_held_by_another_process_is_waited_for(tmp_path, capsys):
    cell = expand(TINY)[0]
    path = cell.path(tmp_path / "runs")
    assert not held(path)
    train("hopper-speed", steps=600, out=path, **dict(SMALL), **QUIET)
    for checkpoint in Run(path).checkpoints():
        checkpoint.unlink()
    (path / "progress.csv").write_text("")  # killed as it wrote its first line
    lock = f"with Run({str(path)!r}).locked(): print(flush=True); time.sleep(2)"
    hold = f"import time; from cuprl.runs.folder import Run\n{lock}"
    holder = subprocess.Popen([sys.executable, "-c", hold], stdout=subprocess.PIPE)
    holder.stdout.readline()
    assert held(path)
    assert run_cells([cell], tmp_path) == {}
    shown = capsys.readouterr().out
    assert "being trained by another process; waiting" in shown and "trying again" not in shown
    assert holder.wait() == 0


def test_a_run_that_cannot_work_is_reported_and_written_down(tmp_path, monkeypatch):
    monkeypatch.setattr("cuprl.experiments.engines.engine.TRIES", 2)
    bad = expand(TINY)[0]
    path = bad.path(tmp_path / "runs")
    train("hopper-speed", steps=600, out=path, checkpoint_every=1, **dict(SMALL), **QUIET)
    for checkpoint in Run(path).checkpoints():
        checkpoint.write_bytes(b"damage")
    Run(path).checkpoints()[0].unlink()
    failed = run_cells([bad], tmp_path)
    assert "no intact checkpoint" in failed[bad]
    assert "no intact checkpoint" in path.with_name("seed0.failed").read_text()


def test_a_damaged_run_or_result_is_left_out_and_the_others_go_on(tmp_path, capsys):
    """Of one finished run a row is lost for good, the folder of another is damaged, a third has a damaged result."""
    lost, broken, again = cells = expand(replace(TINY, blocks=(replace(BLOCK, seeds=(0, 1, 2)),)))
    root, results = tmp_path / "runs", tmp_path / "results"
    path = lost.path(root)
    train("hopper-speed", steps=600, out=path, **dict(SMALL), **QUIET)
    lines = (path / "progress.csv").read_text().splitlines(keepends=True)
    (path / "progress.csv").write_text("".join(lines[:1] + lines[2:]))
    broken.path(root).mkdir(parents=True)
    (broken.path(root) / "config.json").write_text("{")
    train("hopper-speed", steps=600, seed=2, out=again.path(root), **dict(SMALL), **QUIET)
    damaged = store(Run(again.path(root)), results / "tiny")
    damaged.write_bytes(b"damage")
    failed = run_cells(cells, tmp_path)
    assert failed.keys() == {lost, broken} and "iteration 1" in failed[lost] and "not readable JSON" in failed[broken]
    assert "not readable JSON" in broken.path(root).with_name("seed1.failed").read_text()
    assert f"1 damaged result left out: the result {damaged} is damaged" in capsys.readouterr().out
    assert stored(cells, results).keys() == {again}  # stored again from its folder


def test_a_run_with_other_settings_does_not_pass_for_this_one(tmp_path):
    cell = expand(TINY)[0]
    train("hopper-speed", steps=600, out=cell.path(tmp_path), **dict(SMALL), **QUIET)
    assert cell.fraction(tmp_path) == 1.0
    for change, words in (
        ({"steps": 800}, "steps 600, not 800"),
        ({"settings": (*SMALL, ("alpha", "0.9"))}, "alpha 0.2, not 0.9"),
        ({"limits": ("3",)}, "speed 82.748, not 3"),
    ):
        with pytest.raises(UserError, match=words):
            replace(cell, **change).fraction(tmp_path)


# --- what a person sees -------------------------------------------------------------------------------------------------


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


def test_workers_fit_the_machine(tmp_path):
    cores = len(os.sched_getaffinity(0))
    assert workers_for(None, 1) == (1, [])
    count, notes = workers_for(cores + 1, 100)
    assert count == cores + 1 and f"share {cores} cores" in notes[0]
    with pytest.raises(UserError, match="at least 1"):
        workers_for(0, 100)
    (tmp_path / "meminfo").write_text("MemTotal:  9000000 kB\nMemAvailable:    2000000 kB\n")
    assert free_memory(tmp_path / "meminfo", tmp_path) == 2_048_000_000
    (tmp_path / "memory.max").write_text("1000000000\n")
    (tmp_path / "memory.current").write_text("400000000\n")
    assert free_memory(tmp_path / "meminfo", tmp_path) == 600_000_000
    assert free_memory(tmp_path / "nothing") == float("inf")
