"""The engine of a Ray cluster: each run is one task, on whichever node has a core free.

The run folders must be on storage that all nodes see: a run whose node dies goes on elsewhere from its newest checkpoint.
"""

from __future__ import annotations

import logging
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from cuprl.core.extras import need
from cuprl.core.user_modules import python
from cuprl.errors import UserError
from cuprl.experiments.engines.local import MEMORY, log_of, start_process
from cuprl.experiments.grid.cells import Cell
from cuprl.runs.files import appending

QUICK = 5.0  # seconds to open a connection
PATIENCE = 30.0  # seconds to join a cluster; Ray itself would try for minutes
PROBE = "import sys, ray; ray.init(address=sys.argv[1], log_to_driver=False, logging_level=40)"


class RayEngine:
    """Runs each cell as a task of a cluster."""

    def __init__(self, address: str, workers: int | None = None):
        if workers is not None and workers < 1:
            raise UserError(f"--workers is {workers}; it must be at least 1.")
        self.ray = connect(address)
        self.workers = workers
        # The grid tries again what fails, a lost node too: it knows whether the run got further.
        self.task = self.ray.remote(num_cpus=1, memory=MEMORY, max_retries=0)(run_here)
        if not self.room():
            raise UserError(f"the cluster at {address} has no core with {MEMORY / 2**30:.1f} GB for a run; add a node.")

    def room(self) -> int:
        """Count the free places; asked again and again, for nodes come and go."""
        have = self.ray.cluster_resources()
        return min(int(have.get("CPU", 0)), int(have.get("memory", 0) // MEMORY), self.workers or sys.maxsize)

    def start(self, cell: Cell, root: Path) -> RayJob:
        root = root.resolve()
        log = log_of(cell.path(root))
        log.parent.mkdir(parents=True, exist_ok=True)
        log.touch()
        return RayJob(self.ray, cell, log, self.task.remote(cell, root))

    def close(self) -> None:
        self.ray.shutdown()


class RayJob:
    """A run as a task of the cluster."""

    def __init__(self, ray: Any, cell: Cell, log: Path, reference: Any):
        self.ray, self.cell, self.log, self.reference = ray, cell, log, reference
        self.ended: int | None = None

    def status(self) -> int | None:
        if self.ended is None and self.ray.wait([self.reference], timeout=0)[0]:
            try:
                self.ended = self.ray.get(self.reference)
            except self.ray.exceptions.RayError as error:
                self.ended = 1
                with appending(self.log) as handle:
                    handle.write(f"{type(error).__name__}: {str(error).strip()}\n")
        return self.ended

    def stop(self) -> None:
        self.ray.cancel(self.reference)

    def wait(self) -> None:
        self.ray.wait([self.reference], timeout=PATIENCE)


def run_here(cell: Cell, root: Path) -> int:
    """Run a cell's process on a node, until it ends or the task is cancelled."""
    log = log_of(cell.path(root))
    if not log.exists():
        raise FileNotFoundError(f"the node {socket.gethostname()} does not see {root}; give a --root that all nodes share")
    with appending(log) as handle:
        handle.write(f"on {socket.gethostname()}, Ray node {node_id()}\n")
    # Ray cancels a task as Ctrl-C would; a node started in the background has been told to ignore that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    process = start_process(cell, root)
    try:
        while process.poll() is None:
            time.sleep(0.2)  # short: a cancelled task is interrupted between two of these
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait()
    return process.returncode


def node_id() -> str:
    """Ask Ray which node this is."""
    import ray

    return ray.get_runtime_context().get_node_id()


def connect(address: str) -> Any:
    """Join a running cluster and give Ray; an address that does not answer is refused within seconds."""
    ray = need("ray", "--engine ray needs Ray", "ray")
    mend = "start one with `ray start --head`, or give its --address"
    if address != "auto":
        knock(address, mend)
    try:  # in a process of its own, which can be given up
        probe = subprocess.run(python("-c", PROBE, address), capture_output=True, text=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        raise UserError(f"{address} answers, but not as a Ray cluster in {PATIENCE:g} seconds; {mend}.") from None
    if probe.returncode:
        reason = (probe.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise UserError(f"cannot join a Ray cluster at {address} ({reason}); {mend}.")
    ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    return ray


def knock(address: str, mend: str) -> None:
    """Open a connection, no more."""
    try:
        parts = urlsplit(address if "://" in address else f"//{address}")
        host, port = parts.hostname, parts.port or (10001 if parts.scheme == "ray" else None)
    except ValueError:
        host = port = None
    if not host or not port:
        raise UserError(f"--address is {address}; give HOST:PORT, ray://HOST:PORT or auto.")
    try:
        socket.create_connection((host, port), timeout=QUICK).close()
    except OSError as error:
        raise UserError(f"no Ray cluster answers at {address} ({error.strerror or error}); {mend}.") from None
