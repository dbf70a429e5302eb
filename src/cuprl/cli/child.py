"""A run as the child of a grid: `python -m cuprl.cli.child PARENT train …`, which is `cup train …`.

It ends, with a checkpoint, when its parent is gone: a grid killed outright leaves nothing running behind, not even a run
that hangs, which the next grid would wait for.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

from cuprl.cli import main

PATIENCE = 60.0  # seconds for the iteration under way; beyond that it is done again from the newest checkpoint


def end_with(parent: int) -> None:
    """End this process, by SIGTERM first, once its parent is another than the one given."""
    while os.getppid() == parent:
        time.sleep(0.2)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(PATIENCE)
    os._exit(1)


if __name__ == "__main__":
    threading.Thread(target=end_with, args=(int(sys.argv[1]),), daemon=True).start()
    sys.argv = ["cup", *sys.argv[2:]]  # what config.json records as the command
    sys.exit(main())
