"""Worker processes that end with the process that started them, however that one ended."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time


def end_with_parent(patience: float = 0.0) -> None:
    """End this worker once its parent is gone, after so many seconds in which it may end by itself.

    For a process of `multiprocessing`: a pool's initializer, or what a worker calls first.
    """
    threading.Thread(target=wait_for_parent, args=(patience,), daemon=True).start()


def wait_for_parent(patience: float) -> None:
    """Wait until the parent is gone, then end, whatever the main thread does."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    time.sleep(patience)
    os._exit(1)
