"""How a driver takes turns: an iteration a line on standard input, a JSON line about it on standard output.

Standard library only, Python 3.10: it runs inside every rival's environment. What a rival itself prints goes to standard
error. The end of the input ends the process.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

BATCH, MINIBATCH, EPOCHS, HIDDEN = 5000, 64, 10, 64  # the same work for all
FOREVER = 10**9  # environment steps: the runner decides when it is enough

ANSWERS = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # from here on nothing a rival prints looks like an answer


class Turns:
    """Call `begin` before an iteration collects and `collected` after; the next `begin` ends the iteration."""

    def __init__(self, environments: int, threads: int, packages: tuple[str, ...]):
        self.started: float | None = None
        self.middle, self.steps = 0.0, 0
        self.measured: dict[str, float] = {}
        versions = {"python": platform.python_version(), **{name: version(name) for name in packages}}
        answer({"environments": environments, "threads": threads, "versions": versions})

    def begin(self) -> None:
        now = time.perf_counter()
        if self.started is not None:
            own, workers = megabytes()
            answer(
                {
                    "steps": self.steps,
                    "seconds": now - self.started,
                    "collect": self.middle - self.started,
                    "update": now - self.middle,
                    "own_mb": own,
                    "workers_mb": workers,
                    **self.measured,
                }
            )
        if not sys.stdin.readline():
            os._exit(0)  # from the depth of a training loop: whatever the rival still holds goes with the process
        self.started = time.perf_counter()

    def collected(self, steps: int = BATCH) -> None:
        self.middle, self.steps = time.perf_counter(), steps

    def learnt(self, **numbers: float) -> None:
        """Say more of the iteration than what it took."""
        self.measured = numbers


def answer(content: dict[str, Any]) -> None:
    print(json.dumps(content), file=ANSWERS, flush=True)


def megabytes() -> tuple[float, float]:
    """This process's largest resident memory, and what its worker processes hold now (shared pages counted once)."""
    try:
        own = kilobytes(Path("/proc/self/status"), "VmHWM:")
    except OSError:
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak / (2**20 if sys.platform == "darwin" else 2**10), 0.0
    return own / 1024, sum(map(proportional_kilobytes, workers())) / 1024


def workers() -> list[int]:
    """The other processes of this process group."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and int(entry.name) != os.getpid() and os.getpgid(int(entry.name)) == os.getpgrp():
                found.append(int(entry.name))
        except OSError:  # it has just ended
            continue
    return found


def proportional_kilobytes(process: int) -> int:
    try:
        return kilobytes(Path(f"/proc/{process}/smaps_rollup"), "Pss:")
    except OSError:
        return 0


def kilobytes(file: Path, label: str) -> int:
    return next((int(line.split()[1]) for line in file.read_text().splitlines() if line.startswith(label)), 0)
