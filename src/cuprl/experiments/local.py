"""A grid over worker processes of this machine: finished runs are skipped, begun ones resumed, dead ones tried again."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from cuprl.experiments.grid import Cell

TRIES = 3


@dataclass
class Worker:
    cell: Cell
    process: subprocess.Popen
    log: Path


def run_cells(
    cells: list[Cell],
    root: Path,
    workers: int,
    tell: Callable[[str], None],
) -> dict[Cell, str]:
    """Run what is not finished; returns the last lines of each run that failed for good."""
    waiting = [cell for cell in cells if cell.fraction(root) < 1.0]
    tell(f"{len(cells) - len(waiting)} of {len(cells)} runs are finished; {len(waiting)} to do on {workers} workers")
    tries = dict.fromkeys(waiting, 0)
    failed: dict[Cell, str] = {}
    active: list[Worker] = []
    begun, done = time.monotonic(), 0
    try:
        while waiting or active:
            while waiting and len(active) < workers:
                active.append(start(waiting.pop(0), root))
            time.sleep(0.2)
            for worker in [w for w in active if w.process.poll() is not None]:
                active.remove(worker)
                cell = worker.cell
                tries[cell] += 1
                if worker.process.returncode == 0:
                    done += 1
                    left = (time.monotonic() - begun) / done * (len(waiting) + len(active))
                    tell(f"done {cell.task} {cell.algo} seed {cell.seed}; {len(waiting) + len(active)} left, "
                         f"about {left / 60:.0f} min")  # fmt: skip
                elif tries[cell] < TRIES and worker.process.returncode != 2:  # 2: wrong settings, no use in trying again
                    tell(f"{cell.task} {cell.algo} seed {cell.seed} ended with status {worker.process.returncode}; again")
                    waiting.append(cell)
                else:
                    failed[cell] = "".join(worker.log.read_text().splitlines(keepends=True)[-5:])
    finally:  # interrupted: each run leaves a checkpoint
        for worker in active:
            worker.process.terminate()
        for worker in active:
            worker.process.wait()
    return failed


def start(cell: Cell, root: Path) -> Worker:
    log = cell.path(root).with_suffix(".log")
    log.parent.mkdir(parents=True, exist_ok=True)
    # A process group of its own: Ctrl-C reaches the grid, which then asks each run to stop.
    with log.open("a") as handle:
        process = subprocess.Popen(
            [sys.executable, "-m", "cuprl", *cell.command(root)],
            stdout=handle, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
            env={**os.environ, "OMP_NUM_THREADS": "1"}, start_new_session=True,
        )  # fmt: skip
    return Worker(cell, process, log)
