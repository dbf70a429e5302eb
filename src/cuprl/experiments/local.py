"""A grid over worker processes of this machine: finished runs are skipped, begun ones resumed, dead ones tried again."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from cuprl.experiments.board import PlainBoard
from cuprl.experiments.grid import Cell

TRIES = 3
WRONG_INPUT = 2  # the exit status of a command that no second try can help


@dataclass
class Worker:
    cell: Cell
    process: subprocess.Popen
    log: Path


def run_cells(cells: list[Cell], root: Path, workers: int, board: PlainBoard) -> dict[Cell, str]:
    """Run what is not finished; returns the last lines of each run that failed for good."""
    waiting = [cell for cell in cells if cell.fraction(root) < 1.0]
    board.say(f"{len(cells) - len(waiting)} of {len(cells)} runs are finished; {len(waiting)} to do on {workers} workers")
    states = {cell: "waiting" if cell in waiting else "done" for cell in cells}
    tries = dict.fromkeys(waiting, 0)
    failed: dict[Cell, str] = {}
    active: list[Worker] = []
    begun, done, look_again = time.monotonic(), 0, 0.0
    try:
        while waiting or active:
            while waiting and len(active) < workers:
                active.append(start(waiting.pop(0), root))
                states[active[-1].cell] = "running"
            time.sleep(0.2)
            if time.monotonic() < look_again and all(w.process.poll() is None for w in active):
                continue
            look_again = time.monotonic() + 1.0
            left = (time.monotonic() - begun) / done * (len(waiting) + len(active)) if done else None
            board.show(states, root, left)
            for worker in [w for w in active if w.process.poll() is not None]:
                active.remove(worker)
                cell, status = worker.cell, worker.process.returncode
                tries[cell] += 1
                if status == 0:
                    done, states[cell] = done + 1, "done"
                    board.say(f"done {cell.task} {cell.algo} seed {cell.seed}; {len(waiting) + len(active)} left")
                elif tries[cell] < TRIES and status != WRONG_INPUT:
                    board.say(f"{cell.task} {cell.algo} seed {cell.seed} ended with status {status}; trying again")
                    waiting.append(cell)
                else:
                    states[cell] = "failed"
                    failed[cell] = "".join(worker.log.read_text().splitlines(keepends=True)[-5:])
        board.show(states, root, None)
    finally:  # interrupted: each run leaves a checkpoint
        for worker in active:
            worker.process.terminate()
        for worker in active:
            worker.process.wait()
    return failed


def start(cell: Cell, root: Path) -> Worker:
    log = cell.path(root).with_suffix(".log")
    log.parent.mkdir(parents=True, exist_ok=True)
    # A session of its own: Ctrl-C reaches the grid, which then asks each run to stop.
    with log.open("a") as handle:
        process = subprocess.Popen(
            [sys.executable, "-m", "cuprl", *cell.command(root)],
            stdout=handle, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
            env={**os.environ, "OMP_NUM_THREADS": "1"}, start_new_session=True,
        )  # fmt: skip
    return Worker(cell, process, log)
