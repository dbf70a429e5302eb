"""The engine of one machine: a worker process a run, as many at once as its cores and memory hold."""

from __future__ import annotations

import contextlib
import math
import os
import subprocess
from pathlib import Path

from cuprl.core.user_modules import python
from cuprl.errors import UserError
from cuprl.experiments.grid.cells import Cell
from cuprl.runs.files import appending

MEMORY = 700 * 2**20  # bytes a run takes, with room to spare


class LocalEngine:
    """Runs each cell in a process of this machine."""

    def __init__(self, workers: int):
        self.workers = workers

    def room(self) -> int:
        return self.workers

    def start(self, cell: Cell, root: Path) -> LocalJob:
        return LocalJob(cell, root)

    def close(self) -> None: ...


class LocalJob:
    """A run in a process of its own."""

    def __init__(self, cell: Cell, root: Path):
        self.cell = cell
        self.process = start_process(cell, root)

    def status(self) -> int | None:
        return self.process.poll()

    def stop(self) -> None:
        self.process.terminate()

    def wait(self) -> None:
        self.process.wait()


def log_of(path: Path) -> Path:
    """Say where what a run printed is kept: beside its folder."""
    return path.with_name(path.name + ".log")


def start_process(cell: Cell, root: Path) -> subprocess.Popen:
    """Start a cell's run, or go on with it, in a process of its own."""
    path = cell.path(root)
    log = log_of(path)
    log.parent.mkdir(parents=True, exist_ok=True)
    words = python("-m", "cuprl.cli.child", str(os.getpid()), *cell.command(root))
    # A group of its own: Ctrl-C reaches the grid, which then asks each run to stop. Not a session of its own: Linux
    # gives each its share of the cores, and a grid under `nice` would take half of them all the same.
    with appending(log) as handle:
        return subprocess.Popen(
            words,
            stdout=handle,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            process_group=0,
        )


def workers_for(asked: int | None, runs: int) -> tuple[int, list[str]]:
    """Choose how many processes, and say what the user should know of it."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if asked is not None and asked < 1:
        raise UserError(f"--workers is {asked}; it must be at least 1.")
    workers = min(asked or cores, max(runs, 1))
    free = free_memory()
    fitting = max(free // MEMORY, 1)
    notes = []
    if asked and workers > cores:
        notes.append(f"{workers} workers share {cores} cores: each run gets slower, and the grid no faster.")
    if fitting < workers:
        room = f"{free / 2**30:.1f} GB of memory are free, enough for {fitting:g} runs of about {MEMORY / 2**30:.1f} GB"
        notes.append(f"{room}; {workers} may not fit." if asked else f"{room}: {fitting:g} workers instead of {workers}.")
    return workers if asked else int(min(workers, fitting)), notes


def free_memory(meminfo: Path = Path("/proc/meminfo"), cgroup: Path = Path("/sys/fs/cgroup")) -> float:
    """Count the bytes that may be taken, the machine's or what is left of the container's share; infinite if unknown."""
    try:
        lines = dict(line.split(":", 1) for line in meminfo.read_text().splitlines())
        free: float = int(lines["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return math.inf
    with contextlib.suppress(OSError, ValueError):  # no container, or one without a limit
        free = min(free, int((cgroup / "memory.max").read_text()) - int((cgroup / "memory.current").read_text()))
    return free
