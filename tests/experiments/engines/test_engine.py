"""Grids that run: resuming, killed grids and workers, failing runs; all with real processes and real runs."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from cuprl.core import user_modules
from cuprl.errors import RunStopped
from cuprl.experiments.engines.board import PlainBoard
from cuprl.experiments.engines.engine import Grid, held
from cuprl.experiments.grid.expand import expand
from cuprl.experiments.grid.shipped import find
from cuprl.experiments.store.of_run import from_run
from cuprl.experiments.store.results import store
from cuprl.experiments.store.stored import stored
from cuprl.runs.folder import Run
from cuprl.training.train import train
from experiments.tiny import BLOCK, FILE, SMALL, TINY, run_cells
from small import QUIET, same_arrays, same_progress


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
    damaged = store(from_run(Run(again.path(root))), results / "tiny")
    damaged.write_bytes(b"damage")
    failed = run_cells(cells, tmp_path)
    assert failed.keys() == {lost, broken} and "iteration 1" in failed[lost] and "not readable JSON" in failed[broken]
    assert "not readable JSON" in broken.path(root).with_name("seed1.failed").read_text()
    assert f"1 damaged result left out: the result {damaged} is damaged" in capsys.readouterr().out
    assert stored(cells, results).keys() == {again}  # stored again from its folder


HALF = "import cuprl\n\nHALF = cuprl.Encoder(lambda key, n: [], lambda params, obs: obs * 0.5)\n"


def test_a_finished_run_is_evaluated_with_the_encoder_that_its_grid_names(own_module, tmp_path):
    own_module("own_half", HALF)
    settings = (*SMALL, ("encoder", "own_half:HALF"))
    (cell,) = cells = expand(replace(TINY, blocks=(replace(BLOCK, seeds=(0,), settings=settings, evaluate=1),)))
    train("hopper-speed", steps=600, out=cell.path(tmp_path / "runs"), **dict(settings), **QUIET)
    user_modules._named.clear()
    assert not run_cells(cells, tmp_path)
    assert stored(cells, tmp_path / "results")[cell].evaluation["episodes"] == 1


def test_an_evaluation_that_fails_is_that_runs_alone(tmp_path, monkeypatch):
    def stopped(*_, **__):
        raise RunStopped("the environment raised")

    monkeypatch.setattr("cuprl.experiments.store.evaluation.evaluate", stopped)
    evaluated, plain = expand(TINY)
    cells, root = [replace(evaluated, evaluate=1), plain], tmp_path / "runs"
    grid = Grid(cells, root, tmp_path / "results" / "tiny", PlainBoard())
    for cell in cells:
        train("hopper-speed", steps=600, seed=cell.seed, out=cell.path(root), **dict(SMALL), **QUIET)
        grid.settle(cell, 0)
    assert grid.failed == {cells[0]: "the environment raised\n"}
    written = evaluated.path(root).with_name("seed0.failed").read_text()
    assert written == f"{evaluated} cannot be used: the environment raised\n"
    again = Grid(cells, root, tmp_path / "results" / "tiny", PlainBoard())
    assert again.failed == grid.failed and stored(cells, tmp_path / "results").keys() == {plain}


def test_a_finished_run_whose_last_checkpoint_is_damaged_is_mended(tmp_path):
    """Its metrics are all there, but whoever evaluates it later would get another policy than the one that was measured."""
    (cell,) = cells = expand(TINY)[:1]
    path = cell.path(tmp_path / "runs")
    train("hopper-speed", steps=600, out=path, checkpoint_every=1, **dict(SMALL), **QUIET)
    newest = Run(path).checkpoints()[0]
    whole = newest.read_bytes()
    newest.write_bytes(whole[:99])
    assert cell.fraction(tmp_path / "runs") < 1.0
    assert not run_cells(cells, tmp_path) and newest.read_bytes() == whole
    assert stored(cells, tmp_path / "results").keys() == {cell}
