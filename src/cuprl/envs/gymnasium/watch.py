"""Environments that hang: a call of theirs that does not return is ended, and the run stops with a sentence.

A thread looks now and then whether the call under way is still the same one. It counts its looks instead of reading a
clock: a process that was stopped for a while (Ctrl-Z), or a machine that slept, is no hang.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Sequence
from typing import Any

from cuprl.errors import UserError

LOOK = 0.25  # seconds between two looks
HURRY = 5.0  # seconds that a call may take once the run has been asked to stop

Calls = Any  # two numbers, a list or shared memory: of the call begun last, and of the last one when all had returned


class Overdue(BaseException):
    """A call took too long. No Exception: an environment that catches those would catch this one too."""


class Watch:
    """Calls `end(w)` once the w-th of those watched has been in the same call for `limit` seconds."""

    def __init__(self, watched: Sequence[Calls], limit: float, end: Callable[[int], None]):
        self.watched, self.limit, self.end = watched, limit, end
        self.hurried = False
        self._closed = threading.Event()
        threading.Thread(target=self._look, daemon=True).start()

    def _look(self) -> None:
        seen, looks = [0] * len(self.watched), [0] * len(self.watched)
        while not self._closed.wait(LOOK):
            for w, (begun, returned) in enumerate(self.watched):
                looks[w] = looks[w] + 1 if begun == seen[w] != returned else 0
                seen[w] = begun
                if looks[w] * LOOK >= self.limit:
                    looks[w] = 0
                    self.end(w)

    def hurry(self) -> None:
        """Wait no longer than seconds for a call that hangs: the run is to stop."""
        self.hurried, self.limit = True, min(self.limit, HURRY)

    def sentence(self, name: str) -> str:
        """Say what became of a call that was ended; name: that of the task."""
        hangs = f"an environment of {name} has not returned from a step or reset for {self.limit:g} seconds"
        if self.hurried:
            return f"{hangs}, so the run is stopped without this iteration"
        return f"{hangs}; mend it, or let it take longer with --env-timeout SECONDS"

    def close(self) -> None:
        """End the watching."""
        self._closed.set()


class WatchHere(Watch):
    """A watch over the calls of this process: raises Overdue in the one that takes too long, in the main thread."""

    def __init__(self, calls: Calls, limit: float):
        def ring(number: int, frame: Any) -> None:
            if calls[0] != calls[1]:  # it may have returned meanwhile
                raise Overdue

        try:
            self._before = signal.signal(signal.SIGALRM, ring)
        except ValueError:
            raise UserError(
                f"env_timeout is {limit:g}, but this is not the main thread, where alone a call can be interrupted; use "
                "backend='async', or env_timeout=0 for no limit."
            ) from None
        main = threading.main_thread().ident or 0
        super().__init__([calls], limit, lambda w: signal.pthread_kill(main, signal.SIGALRM))

    def close(self) -> None:
        """End the watching, and give the alarm back to whoever had it."""
        super().close()
        signal.signal(signal.SIGALRM, self._before)
