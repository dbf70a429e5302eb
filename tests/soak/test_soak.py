"""A few tries of the soak; and the soak itself: what is falsified is noticed, what is not its own is left alone."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from . import __main__ as soak
from .compare import can_go_on, difference, expect_same
from .processes import Failed, Host
from .trial import References

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="finds its processes in /proc")


def test_a_few_tries(capsys):
    """A training killed, a full disk, damaged checkpoints: on one small pair."""
    assert soak.main(["--seed", "17", "--only", "0", "1", "2"]) == 0
    assert re.search(r"^all +3 .* 0$", capsys.readouterr().out, re.MULTILINE)


# --- it can fail ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def reference(tmp_path):
    """A run's folder as far as it is compared."""
    run = tmp_path / "reference"
    (run / "checkpoints").mkdir(parents=True)
    (run / "progress.csv").write_text("iteration,return,time/fps\n1,0.1,5\n2,0.30000000000000004,6\n3,nan,7\n")
    for iteration in (1, 2, 3):
        content = f"weights {iteration}".encode()
        name = f"{iteration:08d}-{hashlib.sha256(content).hexdigest()[:16]}.safetensors"
        (run / "checkpoints" / name).write_bytes(content)
    return run


def edit(name, old, new):
    def falsify(run):
        (path,) = run.glob(name)
        assert old in path.read_bytes()
        path.write_bytes(path.read_bytes().replace(old, new))

    return falsify


FALSIFIED = [
    (edit("progress.csv", b"0.30000000000000004", b"0.3"), "iteration 2 has return 0.3, not 0.30000000000000004"),
    (edit("progress.csv", b"2,0.30000000000000004,6\n", b""), "it has 2 rows of 3"),
    (edit("progress.csv", b"return", b"retvrn"), "has return None"),
    (edit("checkpoints/00000003*", b"weights 3", b"weights 4"), "its last checkpoint is"),
    (lambda run: next(run.glob("checkpoints/00000003*")).unlink(), "its last checkpoint is"),
]


@pytest.mark.parametrize("falsify, words", FALSIFIED)
def test_a_falsified_run_is_noticed(falsify, words, reference, tmp_path):
    run = Path(shutil.copytree(reference, tmp_path / "run"))
    edit("progress.csv", b",5\n", b",99\n")(run)  # the clock's columns may differ
    assert difference(run, reference) == ""
    falsify(run)
    assert words in difference(run, reference)


def test_what_is_left_is_enough_or_not(reference):
    assert can_go_on(reference, every=1)
    edit("progress.csv", b"3,nan,7\n", b"3,n")(reference)
    edit("checkpoints/00000001*", b"1", b"9")(reference)
    assert can_go_on(reference, every=1)  # from the second
    edit("progress.csv", b"1,0.1,5\n", b"")(reference)
    assert not can_go_on(reference, every=1)


def test_a_soak_that_finds_a_fault_says_so_and_keeps_it(reference, monkeypatch, capsys):
    def falsified(trial):
        run = shutil.copytree(trial.reference(), trial.run)
        FALSIFIED[0][0](run)
        expect_same(run, trial.reference())

    monkeypatch.setattr(soak, "ATTACKS", {"falsified": falsified})
    monkeypatch.setattr(References, "of", lambda self, task, algo, seed: reference)
    assert soak.main(["--seed", "3", "--only", "5"]) == 1
    shown = capsys.readouterr().out
    assert "iteration 2 has return 0.3" in shown and "python -m tests.soak --seed 3 --only 5" in shown
    folder = Path(shown.partition("its folder: ")[2].split()[0])
    assert (folder / "run" / "progress.csv").is_file()
    shutil.rmtree(folder.parent)


def test_what_outlives_its_parent_is_found_and_nothing_else_is_killed(tmp_path):
    host = Host(tmp_path)
    sleep = [sys.executable, "-c", "import time; print(flush=True); time.sleep(600)"]
    theirs, ours = (subprocess.Popen(sleep, env=env, stdout=subprocess.PIPE) for env in (None, host.environment))
    for process in (theirs, ours):
        process.stdout.readline()
    with pytest.raises(Failed, match=r"1 processes are left after 0.1 seconds: .*sleep"):
        host.expect_nothing_left(0.1)
    assert ours.wait(60) == -9 and theirs.poll() is None
    host.expect_nothing_left()
    theirs.kill()
    theirs.wait()


def test_a_command_that_says_too_much_is_noticed(tmp_path, monkeypatch):
    command = Host(tmp_path).start("trian").end()
    assert "did you mean train" in command.expect(2).sentence()
    with pytest.raises(Failed, match="status 2, not one of"):
        command.expect(0)
    command.err += "Traceback (most recent call last):\n"
    for look in (lambda: command.expect(2), command.sentence):
        with pytest.raises(Failed, match="Traceback"):
            look()
    assert os.environ.get("CUPRL_SOAK") is None
