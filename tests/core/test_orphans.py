"""A pool's workers end with the process that made the pool, killed outright in the midst of their work."""

import os
import signal
import subprocess
import sys
import time

PROGRAM = """
import os, time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from cuprl.core.orphans import end_with_parent

if __name__ == "__main__":
    with ProcessPoolExecutor(1, get_context("spawn"), initializer=end_with_parent) as pool:
        print(pool.submit(os.getpid).result(), flush=True)
        pool.submit(time.sleep, 600).result()
"""


def running(pid):
    """Tell whether a process goes on; one that ended and that nobody asked for does not."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_worker_does_not_outlive_its_parent(tmp_path):
    script = tmp_path / "pool_of_one.py"
    script.write_text(PROGRAM)
    parent = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True)
    worker = int(parent.stdout.readline())
    assert running(worker)
    parent.send_signal(signal.SIGKILL)
    parent.communicate()
    for _ in range(600):
        if not running(worker):
            return
        time.sleep(0.1)
    os.kill(worker, signal.SIGKILL)
    raise AssertionError("the worker goes on a minute after its parent was killed")
