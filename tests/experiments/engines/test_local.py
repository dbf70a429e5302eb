"""How many runs at once a machine holds, and the processes they are."""

import os

import pytest

from cuprl.errors import UserError
from cuprl.experiments.engines.local import LocalJob, free_memory, workers_for
from cuprl.experiments.grid.expand import expand
from experiments.tiny import TINY


def test_workers_fit_the_machine(tmp_path):
    cores = len(os.sched_getaffinity(0))
    assert workers_for(None, 1) == (1, [])
    count, notes = workers_for(cores + 1, 100)
    assert count == cores + 1 and f"share {cores} cores" in notes[0]
    with pytest.raises(UserError, match="at least 1"):
        workers_for(0, 100)
    (tmp_path / "meminfo").write_text("MemTotal:  9000000 kB\nMemAvailable:    2000000 kB\n")
    assert free_memory(tmp_path / "meminfo", tmp_path) == 2_048_000_000
    (tmp_path / "memory.max").write_text("1000000000\n")
    (tmp_path / "memory.current").write_text("400000000\n")
    assert free_memory(tmp_path / "meminfo", tmp_path) == 600_000_000
    assert free_memory(tmp_path / "nothing") == float("inf")


def test_a_worker_is_spared_ctrl_c_and_shares_what_nice_does_to_the_grid(tmp_path):
    job = LocalJob(expand(TINY)[0], tmp_path)
    try:
        pid = job.process.pid
        assert os.getpgid(pid) != os.getpgid(0)  # where a terminal sends its signals
        assert os.getsid(pid) == os.getsid(0)  # by which Linux shares out the cores
    finally:
        job.process.kill()
        job.wait()
