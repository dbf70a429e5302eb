"""Training and resuming: exact continuation, independence of threads, what is refused, and what the folder tells."""

import json
from dataclasses import replace

import pytest

from cuprl import from_gymnasium
from cuprl.envs import TASKS
from cuprl.errors import UserError
from cuprl.policies.load import load
from cuprl.runs.config import RunConfig
from cuprl.runs.folder import Run, read_checkpoint
from cuprl.training.display import Plain
from cuprl.training.train import resume, train
from cuprl.training.training import Training
from envs.broken import Sound
from small import QUIET, SMALL, same_arrays, same_progress


def marked(task):
    """A velocity task is a robot of a speed task with another cost: one of them is resumed with every change."""
    often = not task.endswith("-velocity") or task == "hopper-velocity"
    return task if often else pytest.param(task, marks=pytest.mark.slow)


@pytest.mark.parametrize("task", map(marked, TASKS))
def test_resumed_equals_uninterrupted(task, tmp_path):
    """Four iterations of 40 steps: every stop is in the middle of episodes. One side runs on two threads.

    What an algorithm keeps is the same for every robot: Hopper's tasks have it of `cup`, the others learn by PPO, which
    compiles in half the time.
    """
    algo = "cup" if task.startswith("hopper-") else "ppo"
    whole = train(task, algo, steps=800, out=tmp_path / "whole", checkpoint_every=1, **SMALL, **QUIET)
    assert len(whole.checkpoints()) == 3
    config = replace(RunConfig.from_json(whole.config), threads=2)
    stopped, first = Run.create(tmp_path / "stopped", config), Training(config)
    for _ in range(2):
        stopped.append(first.iterate())
    stopped.save(2, first.arrays())
    stopped.append(first.iterate())  # a row past the checkpoint: forgotten and written again
    resumed = resume(stopped.path, **QUIET)
    same_progress(whole, resumed)
    same_arrays(whole.latest()[0], resumed.latest()[0])


def test_a_resumed_finished_run_changes_nothing(tmp_path):
    run = train("hopper-speed", steps=400, out=tmp_path / "r", **SMALL, **QUIET)
    before = (run.path / "progress.csv").read_bytes()
    resume(run.path, **QUIET)
    assert (run.path / "progress.csv").read_bytes() == before


def test_a_run_is_trained_by_one_process_at_a_time(tmp_path):
    run = train("hopper-speed", steps=200, out=tmp_path / "r", **SMALL, **QUIET)
    with run.locked(), pytest.raises(UserError, match="another process"):
        resume(run.path, **QUIET)


def test_resume_says_when_versions_changed(tmp_path, capsys):
    run = train("hopper-speed", steps=200, out=tmp_path / "r", **SMALL, **QUIET)
    config = json.loads((run.path / "config.json").read_text())
    config["versions"]["mujoco"] = "1.0"
    del config["tensorboard"]  # as a run from before there was such an option
    (run.path / "config.json").write_text(json.dumps(config))
    resume(run.path, display=Plain())
    assert "mujoco changed since this run began" in capsys.readouterr().err


def test_other_seeds_give_other_runs(tmp_path):
    a, b = (train("hopper-speed", seed=s, steps=200, out=tmp_path / str(s), **SMALL, **QUIET) for s in (0, 1))
    assert a.progress()["rollout/ep_rew_mean"] != b.progress()["rollout/ep_rew_mean"]


def test_a_damaged_checkpoint_is_refused_and_the_one_before_it_used(tmp_path, capsys):
    run = train("hopper-speed", steps=800, out=tmp_path / "r", checkpoint_every=1, **SMALL, **QUIET)
    newest, before, _ = run.checkpoints()
    good = run.latest()[0]
    newest.write_bytes(newest.read_bytes()[:-10])  # truncated
    content = bytearray(before.read_bytes())
    content[-20] ^= 1  # one bit altered
    before.write_bytes(content)
    for path in (newest, before):
        with pytest.raises(UserError, match=path.name):
            read_checkpoint(path)
    resumed = resume(run.path, display=Plain())
    assert newest.name in capsys.readouterr().err
    same_arrays(good, resumed.latest()[0])


def test_no_intact_checkpoint_is_said(tmp_path):
    run = train("hopper-speed", steps=200, out=tmp_path / "r", **SMALL, **QUIET)
    for path in run.checkpoints():
        path.write_bytes(b"")
    with pytest.raises(UserError, match="no intact checkpoint"):
        load(run.path)


def test_run_folder_tells_everything(tmp_path):
    run = train("hopper-speed", seed=3, steps=400, out=tmp_path / "r", limits=50.0, **SMALL, **QUIET)
    config = json.loads((run.path / "config.json").read_text())
    assert (config["task"], config["algo"], config["seed"], config["limits"]) == ("hopper-speed", "cup", 3, {"speed": 50.0})
    assert config["settings"]["alpha"] == 0.2 and config["settings"]["batch_size"] == 200
    assert {"cuprl", "jax", "mujoco", "numpy", "python"} <= config["versions"].keys() and "command" in config
    progress = run.progress()
    for name in (
        "rollout/ep_rew_mean",
        "rollout/ep_cost_mean",
        "rollout/cost_limit",
        "train/multiplier",
        "train/approx_kl",
        "train/kl_improvement",
        "train/kl_projection",
        "time/fps",
    ):
        assert len(progress[name]) == 2
    with pytest.raises(UserError, match="not empty"):
        train("hopper-speed", steps=400, out=run.path, **SMALL, **QUIET)


LINE = from_gymnasium(Sound, limits=5.0)


@pytest.mark.parametrize(
    "task, name, change",
    [
        ("hopper-speed", "obs", lambda array: array[:1]),
        ("hopper-speed", "position", lambda array: array[None]),
        ("hopper-speed", "generators", lambda array: array[:2]),
        ("hopper-speed", "generators", lambda array: array * 0 + 2**63),
        ("tabular:queue", "state", lambda array: array[:0]),
        (LINE, "actions", lambda array: array[:, None]),
        (LINE, "obs", lambda array: array[:1]),
        (replace(LINE, backend="async"), "obs", lambda array: array[:1]),
    ],
)
def test_a_checkpoint_of_other_environments_is_refused(task, name, change, tmp_path):
    run = train(task, "ppo", steps=200, out=tmp_path / "r", **SMALL, **QUIET)
    arrays, _ = run.latest()
    run.checkpoints()[0].unlink()
    run.save(1, arrays | {f"env/{name}": change(arrays[f"env/{name}"])})
    with pytest.raises(UserError, match="does not fit the run's settings"):
        resume(run, task=None if isinstance(task, str) else task, **QUIET)
