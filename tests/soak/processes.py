"""The commands under attack: started, struck, waited for, and looked for afterwards.

All that is started here carries a mark in its environment, which its own children inherit: so nothing is overlooked that
outlives its parent, and nothing is ever killed that was not started here.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

MARK = "CUPRL_SOAK"
SOON = 10.0  # seconds in which a process ends whose parent or worker is gone
HUNG = 120.0  # seconds after which a command that should have ended hangs


class Failed(Exception):  # noqa: N818
    """Something promised did not hold; the message says what."""


class Host:
    """Starts `cup` commands and finds what is left of them."""

    def __init__(self, scratch: Path):
        self.mark = f"{os.getpid()}-{time.time_ns()}"
        # A compile cache of its own: a process killed while it writes there must not leave half a file in its user's.
        self.environment = {**os.environ, MARK: self.mark, "XDG_CACHE_HOME": str(scratch / "cache"), "OMP_NUM_THREADS": "1"}
        self.slowness = 1.0  # seconds that pass for a second of work: more than 1 where the machine is shared
        self.log: Path | None = None  # where what the commands say is kept

    def start(self, *words: str | Path, before: Callable[[], None] | None = None) -> Command:
        """`cup WORDS`; before: called in the new process first."""
        return Command(self, [str(word) for word in words], before)

    def wait(self, condition: Callable[[], bool], seconds: float) -> bool:
        """Whether the condition came true in so many seconds of work."""
        end = time.monotonic() + seconds * self.slowness
        while not condition():
            if time.monotonic() > end:
                return condition()
            time.sleep(0.01)
        return True

    def alive(self) -> dict[int, str]:
        """pid: command line of all that carry the mark and have not ended."""
        found = {}
        for entry in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):  # ended meanwhile, or another user's
                if f"{MARK}={self.mark}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                    line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
                    if line:  # a process that has ended and is not yet waited for has none
                        found[int(entry.name)] = line
        return found

    def expect_nothing_left(self, seconds: float = SOON) -> None:
        if not self.wait(lambda: not self.alive(), seconds):
            left = self.alive()
            self.kill_all()
            raise Failed(f"{len(left)} processes are left after {seconds:g} seconds: {'; '.join(left.values())}")

    def kill_all(self) -> None:
        for pid in self.alive():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def calibrate(self, work: Callable[[], None]) -> float:
        """Do the work and see how much slower the clock makes it than the processor; returns its seconds."""
        began, before = time.monotonic(), processor_seconds()
        work()
        took, spent = time.monotonic() - began, processor_seconds() - before
        self.slowness = max(1.0, took / max(spent, 0.1))
        return took


def processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Command:
    """A `cup` command in a session of its own."""

    def __init__(self, host: Host, words: list[str], before: Callable[[], None] | None):
        self.host, self.words = host, words
        self.status, self.out, self.err = 0, "", ""  # known once it has ended
        self.process = subprocess.Popen(
            [sys.executable, "-m", "cuprl", *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            env=host.environment,
            start_new_session=True,
            preexec_fn=before,
        )

    def __str__(self) -> str:
        return f"`cup {' '.join(self.words)}`"

    def running(self) -> bool:
        return self.process.poll() is None

    def strike(self, number: int, look: Callable[[], int] = lambda: 0, everyone: bool = False) -> int:
        """Send a signal, to its children too if to everyone; returns what `look` sees while the process stands still."""
        with suppress(ProcessLookupError):
            if self.running():
                self.process.send_signal(signal.SIGSTOP)
                self.host.wait(lambda: state_of(self.process.pid) in ("T", "Z", ""), SOON)
        seen = look()
        with suppress(ProcessLookupError):
            (os.killpg if everyone else os.kill)(self.process.pid, number)
            os.kill(self.process.pid, signal.SIGCONT)
        return seen

    def end(self) -> Command:
        """Wait for it. What it says must be no traceback."""
        try:
            self.out, self.err = self.process.communicate(timeout=HUNG * self.host.slowness)
        except subprocess.TimeoutExpired:
            self.host.kill_all()
            self.out, self.err = self.process.communicate()
            self.status = self.process.returncode
            self._log()
            raise Failed(f"{self} has not ended after {HUNG:g} seconds") from None
        self.status = self.process.returncode
        self._log()
        return self

    def _log(self) -> None:
        if self.host.log:
            with self.host.log.open("a") as log:
                log.write(f"{self}\n{self.out}{self.err}(status {self.status})\n\n")

    def expect(self, *statuses: int) -> Command:
        """It has ended with one of these, and what it said is no traceback."""
        if self.status not in statuses:
            raise Failed(f"{self} ended with status {self.status}, not one of {statuses}: {self.err[-300:]}")
        if "Traceback" in self.out + self.err:
            raise Failed(f"{self} ended with a traceback: {self.err[-1500:]}")
        return self

    def sentence(self) -> str:
        """The one that it ended with; notes may stand before it."""
        lines = [line for line in self.err.splitlines() if line.strip() and not line.startswith("note: ")]
        if len(lines) != 1 or not lines[0].startswith("cup: "):
            raise Failed(f"{self} ended with {len(lines)} lines instead of one sentence: {self.err[-1500:]}")
        return lines[0]


def state_of(pid: int) -> str:
    """As in /proc: R, S, T (stopped), Z (ended); nothing where there is no such process."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    return ""


def children_of(pid: int) -> list[int]:
    """The processes that it started."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            if int(entry.read_text().rpartition(")")[2].split()[1]) == pid:
                found.append(int(entry.parent.name))
    return found
