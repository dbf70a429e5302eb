"""Environments that hang: in a step or a reset, in Python or in C, as the run is stopped, and after its parent was killed.

No test here waits long unless something hangs for good.
"""

import ctypes
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
from cuprl.envs import find, make
from cuprl.errors import RunStopped, UserError
from cuprl.runs.files import held
from cuprl.runs.folder import Run
from envs.broken import Sound
from small import QUIET, SMALL

FOR_EVER = 600


def sleep_in_c():
    """With Python's lock held: no other thread of the process runs."""
    ctypes.PyDLL(None).sleep(FOR_EVER)


def hanging(after=5, sleep=lambda: time.sleep(FOR_EVER), mark=None, method="step"):
    """An environment whose step or reset hangs from the given call on; the file `mark` is made as it does."""
    calls = iter(range(10**6))

    def hang(self, *arguments, **options):
        if next(calls) >= after:
            if mark:
                Path(mark).write_text(str(os.getpid()))
            sleep()
        return getattr(Sound, method)(self, *arguments, **options)

    return type("Hanging", (Sound,), {method: hang})


def wait_for(condition, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.parametrize("backend, sleep", [("sync", lambda: time.sleep(FOR_EVER)), ("async", sleep_in_c)])
@pytest.mark.parametrize("method", ["step", "reset"])
def test_a_call_that_does_not_return_stops_the_run(backend, sleep, method):
    task = cuprl.from_gymnasium(hanging(2, sleep, method=method), limits=5.0, horizon=3, backend=backend, env_timeout=0.5)
    env = make(task)  # one step and two resets
    with pytest.raises(RunStopped, match=r"Hanging has not returned from a step or reset for 0.5 seconds; .*--env-timeout"):
        for _ in range(9):
            env.step(np.zeros(1, int))
    env.close()


def test_a_first_reset_that_hangs_is_told_as_well():
    task = cuprl.from_gymnasium(hanging(0, method="reset"), limits=5.0, env_timeout=0.5)
    with pytest.raises(RunStopped, match="has not returned"):
        make(task)


def test_no_limit_hits_what_is_only_many_calls():
    """A replay of many steps is one step to the run, but not to the environment."""
    slow = type("Slow", (Sound,), {"step": lambda self, action: (time.sleep(0.1), Sound.step(self, action))[1]})
    task = cuprl.from_gymnasium(slow, limits=5.0, env_timeout=0.6)
    env, again = make(task), make(task)
    for _ in range(12):
        env.step(np.zeros(1, int))
    again.set_state(env.get_state())
    again.step(np.zeros(1, int))
    again.close()
    env.close()


@pytest.mark.parametrize("backend", ["sync", "async"])
def test_the_first_interrupt_ends_a_run_that_hangs(backend, tmp_path):
    mark = tmp_path / "hangs"
    settings = {**SMALL, "num_envs": 1, "batch_size": 100}
    task = cuprl.from_gymnasium(hanging(250, mark=mark), limits=5.0, backend=backend, env_timeout=0)

    def interrupt():
        wait_for(mark.exists)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(RunStopped, match=r"for 5 seconds, so the run is stopped.*last good checkpoint is .*00000002-"):
        cuprl.train(task, "ppo", steps=1000, out=tmp_path / "r", checkpoint_every=1, **settings, **QUIET)
    thread.join()
    assert Run(tmp_path / "r").recorded() == {1, 2}


REGISTER = """
import gymnasium
from envs.gymnasium.test_watch import hanging, sleep_in_c
gymnasium.register("Hanging-v0", hanging(3, sleep_in_c, {mark!r}))
"""


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks for processes in /proc")
def test_nothing_that_hangs_outlives_a_killed_grid(tmp_path):
    """A worker hangs in C, its run waits for it, and the grid that started the run is killed outright."""
    mark, run = tmp_path / "hangs", tmp_path / "r"
    (tmp_path / "hanging_env.py").write_text(REGISTER.format(mark=str(mark)))
    words = [
        "train",
        "gym:Hanging-v0",
        "--import",
        "hanging_env",
        "--limit",
        "5",
        "--backend",
        "async",
        "--env-timeout",
        "0",
        "--algo",
        "ppo",
        "--num-envs",
        "1",
        "--out",
        str(run),
    ]
    grid = (
        "import os, subprocess, sys, time\n"
        "words = [sys.executable, '-m', 'cuprl.cli.child', str(os.getpid()), *sys.argv[1:]]\n"
        "print(subprocess.Popen(words, start_new_session=True, stdout=sys.stderr).pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    path = os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")])
    process = subprocess.Popen(
        [sys.executable, "-c", grid, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
    )
    child = int(process.stdout.readline())
    wait_for(mark.exists)
    wait_for(lambda: held(run))
    process.kill()
    process.communicate()
    wait_for(lambda: not held(run), seconds=60)
    for ended in (child, int(mark.read_text())):
        wait_for(lambda ended=ended: not alive(ended), seconds=60)


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks for processes in /proc")
def test_a_worker_that_hangs_ends_after_its_parent(tmp_path):
    mark = tmp_path / "hangs"
    task = f"cuprl.from_gymnasium(hanging(0, mark={str(mark)!r}), limits=5.0, backend='async')"
    script = f"import sys; from envs.gymnasium.test_watch import *\nmake({task})\n"
    path = os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")])
    process = subprocess.Popen([sys.executable, "-c", script], env={**os.environ, "PYTHONPATH": path})
    wait_for(lambda: mark.exists() and mark.read_text())
    process.kill()
    process.wait()
    wait_for(lambda: not alive(int(mark.read_text())), seconds=60)


def test_the_timeout_is_part_of_the_name():
    task = cuprl.from_gymnasium("CartPole-v1", limits=1.0, env_timeout=2.5)
    assert task.name.endswith("+timeout=2.5") and find(task.name).env_timeout == 2.5
    assert cuprl.from_gymnasium(Sound, limits=1.0, backend="async").env_timeout == 60.0
    assert cuprl.from_gymnasium(Sound, limits=1.0).env_timeout == 0.0
    for wrong in (-1.0, float("nan"), "long"):
        with pytest.raises(UserError, match="env_timeout is"):
            cuprl.from_gymnasium(Sound, limits=1.0, env_timeout=wrong)
