"""A system that trains in a process of its own and takes turns with the others."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

DRIVERS = Path(__file__).parent / "drivers"


class PlayerError(Exception):
    """Why a system could not go on, one line."""


@dataclass(frozen=True)
class System:
    """One row of the table."""

    name: str  # of its environment and driver
    label: str
    algo: str  # as it calls it
    ours: str  # the algorithm of cuprl it is compared with
    setting: str
    task: str


@dataclass
class Player:
    """A system, its process while it lives, and what it has shown."""

    system: System
    failure: str = ""
    about: dict[str, Any] = field(default_factory=dict)
    rounds: dict[int, dict[str, float]] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None
    log: Path | None = None

    def start(self, python: Path, scratch: Path, seconds: float, *words: str) -> None:
        """Start the driver, with further words for it, and wait until it is ready."""
        system = self.system
        folder = scratch / "-".join((system.name, system.algo, system.task, system.setting))
        folder.mkdir()
        self.log = folder / "log.txt"
        hidden = ("PYTHONPATH", "VIRTUAL_ENV", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "XLA_FLAGS")
        environment = {name: value for name, value in os.environ.items() if name not in hidden}
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [python, DRIVERS / f"{system.name}_driver.py", system.algo, system.task, system.setting, *words],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                bufsize=0,
                cwd=folder,
                env=environment,
                start_new_session=True,
            )
        self.about = self._answer(seconds)

    def turn(self, at_least: float, seconds: float) -> dict[str, float]:
        """Iterations until `at_least` seconds are measured; totals over them, and the largest memory."""
        total = {"steps": 0.0, "seconds": 0.0, "collect": 0.0, "update": 0.0, "own_mb": 0.0, "workers_mb": 0.0}
        while not total["steps"] or total["seconds"] < at_least:
            for name, value in self.iteration(seconds).items():
                total[name] = max(total[name], value) if name.endswith("_mb") else total[name] + value
        return total

    def iteration(self, seconds: float) -> dict[str, float]:
        """One iteration, and what it took."""
        with contextlib.suppress(BrokenPipeError):  # a dead process shows when it gives no answer
            self.process.stdin.write(b"go\n")
        return self._answer(seconds)

    def stop(self) -> None:
        """Ends the process and its workers."""
        if self.process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
        self.process = None

    def _answer(self, seconds: float) -> dict[str, Any]:
        deadline = time.monotonic() + seconds
        while select.select([self.process.stdout], [], [], max(0.0, deadline - time.monotonic()))[0]:
            line = self.process.stdout.readline()
            if not line:
                raise PlayerError(self._last_words())
            if line.startswith(b"{"):  # anything else was printed by the rival before the driver could stop it
                return json.loads(line)
        raise PlayerError(f"no answer in {seconds:g} s")

    def _last_words(self) -> str:
        lines = [line.strip() for line in self.log.read_text(errors="replace").splitlines() if line.strip()]
        return lines[-1] if lines else f"ended without a word, exit code {self.process.wait()}"
