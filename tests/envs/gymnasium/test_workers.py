"""Environments in worker processes: the same numbers, and no process left behind."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import cuprl
from cuprl.envs import make
from cuprl.envs.gymnasium.workers import WorkerVectorEnv
from cuprl.errors import UserError
from envs.broken import Sound, sound_but
from small import same_arrays


def test_worker_processes_change_nothing():
    def task(backend):
        return cuprl.from_gymnasium(Sound, {"right": lambda o, a, n, i: n[0] > 0}, 5.0, backend=backend)

    one, two, again = make(task("sync"), 3, seed=1), make(task("async"), 3, seed=1, threads=2), make(task("sync"), 3)
    rng = np.random.default_rng(0)
    for t in range(50):
        if t == 30:
            same_arrays(one.get_state(), two.get_state())
            again.set_state(two.get_state())
            two.reset(7)
            two.set_state(one.get_state())
        action = rng.integers(0, 3, 3)
        steps = [env.step(action) for env in ((one, two) if t < 30 else (one, two, again))]
        for fields in zip(*steps):
            for other in fields[1:]:
                np.testing.assert_array_equal(fields[0], other)
        for step in steps:
            assert (step.obs is step.next_obs) != (step.terminated | step.truncated).any()


def test_a_fault_in_a_worker_process_is_said_here():
    with pytest.raises(UserError, match="cost 'ten' raised ZeroDivisionError"):
        make(cuprl.from_gymnasium(Sound, {"ten": lambda o, a, n, i: 1 / 0}, 5.0, backend="async"), 1)


def test_a_signal_to_all_processes_leaves_the_workers_to_the_run():
    class Known(Sound):
        def info(self):
            return {"cost": os.getpid()}

    env = make(cuprl.from_gymnasium(Known, limits=5.0, backend="async"), 2, threads=2)
    action = np.zeros(2, int)
    workers = {int(process) for process in env.step(action).cost[:, 0]}
    assert len(workers) == 2 and os.getpid() not in workers
    for process in workers:
        os.kill(process, signal.SIGTERM)
        os.kill(process, signal.SIGINT)
    assert {int(process) for process in env.step(action).cost[:, 0]} == workers
    env.close()
    assert not any(Path(f"/proc/{process}").exists() for process in workers)
    with pytest.raises(UserError, match="are closed"):
        env.step(action)


def test_ctrl_c_while_workers_begin_leaves_them_to_the_run(monkeypatch):
    """It comes before they have imported anything; the first to begin also begins a process of multiprocessing's own."""
    first = WorkerVectorEnv._answers

    def interrupted(env):
        for process in env.processes:
            os.kill(process.pid, signal.SIGINT)
        return first(env)

    monkeypatch.setattr(WorkerVectorEnv, "_answers", interrupted)
    env = make(cuprl.from_gymnasium(Sound, limits=5.0, backend="async"), 2, threads=2)
    assert env.reset(0).shape == (2, 2)
    env.close()


def test_a_worker_that_hangs_is_ended(monkeypatch):
    monkeypatch.setattr("cuprl.envs.gymnasium.workers.PATIENCE", 0.2)
    env = make(cuprl.from_gymnasium(sound_but(close=lambda self: time.sleep(600)), limits=5.0, backend="async"))
    begun = time.monotonic()
    env.close()
    assert time.monotonic() - begun < 60


def test_a_script_that_fails_with_workers_open_ends(tmp_path):
    (tmp_path / "script.py").write_text(
        "import sys, weakref\nweakref.finalize(sys, print)\n"  # before multiprocessing's own function for the exit
        "import cuprl\nfrom cuprl.envs import make\nfrom envs.broken import Sound\n"
        "if __name__ == '__main__':\n"
        "    env = make(cuprl.from_gymnasium(Sound, limits=5.0, backend='async'), 1)\n    raise SystemError('here')\n"
    )
    path = os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, str(tmp_path / "script.py")]
    ended = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 1 and ended.stderr.rstrip().endswith("SystemError: here")


def test_what_cannot_be_sent_to_a_worker_is_said():
    lock = threading.Lock()
    task = cuprl.from_gymnasium(Sound, {"c": lambda o, a, n, i: lock.locked()}, 5.0, backend="async")
    with pytest.raises(UserError, match=r"Sound cannot be sent to worker processes .*lock.*use backend='sync'"):
        make(task)
