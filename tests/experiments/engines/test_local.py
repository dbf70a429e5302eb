"""How many runs at once a machine holds, and the processes they are."""

import os
from dataclasses import replace

import pytest

from cuprl.errors import UserError
from cuprl.experiments.engines.local import LocalJob, free_memory, workers_for
from cuprl.experiments.grid.expand import expand
from experiments.tiny import BLOCK, TINY, run_cells


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


def test_a_run_takes_the_modules_that_are_named_and_no_other_file_of_the_folder(own_module, tmp_path):
    own_module("own_cost", "def far(obs, action, next_obs, info):\n    return abs(float(next_obs[0]))\n")
    own_module("own_ppo", "from cuprl.algorithms.ppo import Config, init, update\n")
    for library in ("jax", "rich"):
        (tmp_path / f"{library}.py").write_text("from pathlib import Path\nPath('ran').touch()\n")
    block = replace(BLOCK, tasks=("gym:CartPole-v1+cost=x=own_cost:far+limit=3",), algos=("python:own_ppo",), seeds=(0,))
    assert run_cells(expand(replace(TINY, blocks=(block,))), tmp_path) == {}
    assert not (tmp_path / "ran").exists()
