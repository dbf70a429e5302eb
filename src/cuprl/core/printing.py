"""Printing that does not stop the work: `cup train … | head -1` trains to its end."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from typing import Any


class Stream:
    """A stream that falls silent when the reader of its pipe has gone.

    Here alone is a BrokenPipeError known to be that of a reader; anywhere else it may be that of a worker process.
    """

    def __init__(self, stream: Any):
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write, unless the reader has left."""
        with self._to_whom_it_may_reach():
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Write what is held back, unless the reader has left."""
        with self._to_whom_it_may_reach():
            self._stream.flush()

    @contextmanager
    def _to_whom_it_may_reach(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            self._fall_silent()
        except OSError:  # a full disk is told, once
            self._fall_silent()
            raise

    def _fall_silent(self) -> None:
        """What is still in the stream, and all that follows, goes nowhere."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._stream.fileno())
        os.close(nowhere)


@contextmanager
def readers_may_leave() -> Iterator[None]:
    """Let nothing fail while inside because nobody reads what is printed any more."""
    with ExitStack() as stack:
        if sys.stdout is not None:  # it is None where the process was started without
            stack.enter_context(redirect_stdout(Stream(sys.stdout)))
            stack.callback(sys.stdout.flush)
        if sys.stderr is not None:
            stack.enter_context(redirect_stderr(Stream(sys.stderr)))
            stack.callback(sys.stderr.flush)
        yield
