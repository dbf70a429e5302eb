"""Readers that leave: what is printed is dropped, what is done goes on; and no other broken pipe is taken for theirs."""

import os
import signal
import subprocess
import sys

import pytest

import cuprl
from cuprl.cli import main
from cuprl.runs.folder import Run
from cuprl.training.train import train
from small import FLAGS, QUIET, SMALL


def command(*words, **kwargs):
    return subprocess.Popen([sys.executable, "-m", "cuprl", *map(str, words)], stderr=subprocess.PIPE, text=True, **kwargs)


def test_a_training_whose_reader_has_gone_is_finished(tmp_path):
    ours, theirs = os.pipe()
    os.close(ours)  # as `| head -1` once it has its line, here before the first one
    process = command("train", "hopper-speed", "--steps", 600, "--out", tmp_path / "r", *FLAGS, stdout=theirs)
    os.close(theirs)
    assert process.communicate(timeout=300)[1] == "" and process.returncode == 0
    assert Run(tmp_path / "r").latest()[0]["counters"][0] == 3 == len(Run(tmp_path / "r").recorded())


def test_other_commands_fall_silent_as_well():
    ours, theirs = os.pipe()
    os.close(ours)
    for words in (["tasks"], ["train", "--help"]):
        process = command(*words, stdout=theirs)
        assert process.communicate(timeout=120)[1] == "" and process.returncode == 0
    os.close(theirs)


def test_an_older_policy_is_not_passed_off_as_the_newest(tmp_path):
    run = train("hopper-speed", steps=400, out=tmp_path / "r", checkpoint_every=1, **SMALL, **QUIET)
    newest = run.checkpoints()[0]
    newest.write_bytes(newest.read_bytes()[:-1])
    with pytest.warns(UserWarning, match=rf"{newest.name} is damaged.* The policy is taken from the one before it"):
        assert cuprl.load(run).info["iteration"] == 1
    process = command("eval", run.path, "--episodes", 1, stdout=subprocess.PIPE)
    errors = process.communicate(timeout=300)[1]
    assert errors.startswith("note: the checkpoint ") and errors.count("\n") == 1 and process.returncode == 0


def test_an_interrupt_is_not_lost_in_what_c_calls_back():
    """As JAX's callback of the garbage collector, where Python ignores whatever is raised."""
    lines = (
        "import gc, os, signal, sys",
        "from cuprl.cli import main",
        "sys.argv = ['cup', 'tasks']",
        "gc.callbacks.append(lambda phase, info: os.kill(os.getpid(), signal.SIGINT))",
        "sys.exit(main())",
    )
    done = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 130 and done.stderr.endswith("\ncup: interrupted\n") and not done.stdout


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a disk that is always full")
def test_a_full_disk_is_one_sentence():
    with open("/dev/full", "w") as full:
        process = command("tasks", stdout=full)
        errors = process.communicate(timeout=120)[1]
    assert errors.startswith("cup: No space left on device; ") and errors.count("\n") == 1 and process.returncode == 2


KILLS = """
import os
import signal
from pathlib import Path

import gymnasium
from envs.broken import Sound


class Known(Sound):
    def info(self):
        Path(f"worker{os.getpid()}").touch()
        return super().info()


gymnasium.register("Known-v0", Known)
"""


def test_a_worker_killed_during_the_update_stops_the_run_with_a_sentence(tmp_path, capsys, monkeypatch):
    (tmp_path / "kills.py").write_text(KILLS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)

    from cuprl.training.training import Training

    iterate = Training.iterate

    def iterate_and_kill(self):  # the workers wait for the next step meanwhile
        row = iterate(self)
        if self.learner.iteration == 3:
            for file in tmp_path.glob("worker*"):
                os.kill(int(file.name.removeprefix("worker")), signal.SIGKILL)
            for process in self.collector.env.processes:
                process.join()
        return row

    monkeypatch.setattr(Training, "iterate", iterate_and_kill)
    words = ["train", "gym:Known-v0", "--import", "kills", "--limit", "5", "--backend", "async", "--threads", "2"]
    flags = [*FLAGS, "--num-envs", "2", "--steps", "2000", "--checkpoint-every", "2", "--out", "r"]
    assert main([*words, *flags]) == 1
    errors = capsys.readouterr().err
    newest = Run("r").checkpoints()[0]
    assert "worker process 1 of 2 of the environments was killed (SIGKILL)" in errors and str(newest) in errors
    assert Run("r").latest()[0]["counters"][0] == 2
