"""The loop: signals, what stops a run, and what is told of it."""

import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from cuprl.core.spec import Constraint
from cuprl.errors import RunStopped
from cuprl.runs.folder import Run, read_checkpoint
from cuprl.training.display import Plain
from cuprl.training.train import resume, train
from probes import PROBE, Probe, constant
from small import QUIET


def start_command(arguments, **kwargs):
    return subprocess.Popen(
        [sys.executable, "-c", "import sys; from cuprl.cli import main; sys.exit(main())", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **kwargs,
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_leaves_a_checkpoint_and_says_how_to_resume(number, tmp_path):
    flags = ["--batch-size", 200, "--hidden", 8, "--minibatch", 50, "--epochs", 2, "--critic-epochs", 2]
    path = tmp_path / "r"
    process = start_command(["train", "hopper-speed", "--steps", 4e7, "--out", path, *flags])
    while not (path / "progress.csv").exists():
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.1)
    process.send_signal(number)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 130 and f"cup resume {path}" in errors and "Traceback" not in errors
    run = Run(path)
    assert run.latest()[0]["counters"][0] == len(run.progress()["steps"])


def bad_after(value, count):
    """A reward or cost that turns bad once `count` steps have been taken."""
    calls = []

    def signal_of(obs, action, t):
        calls.append(1)
        return np.full(len(obs), value if len(calls) > count else 1.0)

    return signal_of


@pytest.mark.parametrize("factor, shown", [(np.inf, "-?inf"), (1e308, r"-?\d.*e\+30\d")])
def test_an_unusable_observation_is_seen_although_normalised_ones_are_clipped(factor, shown, tmp_path):
    probe = Probe("far", constant(1), constant(0), random_obs=True)
    real = probe.vector_env

    def vector_env(num_envs, threads, constraints):
        env = real(num_envs, threads, constraints)
        look, calls = env._look, []

        def looks():
            calls.append(1)
            return look() if len(calls) != 150 else look() * factor

        env._look = looks
        return env

    object.__setattr__(probe, "vector_env", vector_env)
    with pytest.raises(RunStopped, match=r"observation became NaN or infinite .*: obs\[0\] is " + shown) as error:
        train(probe, "ppo", steps=10_000, out=tmp_path / "r", checkpoint_every=1, **PROBE, **QUIET)
    arrays = Run(tmp_path / "r").latest()[0]
    assert str(Run(tmp_path / "r").checkpoints()[0]) in str(error.value)
    assert all(np.isfinite(array).all() for array in arrays.values())


@pytest.mark.parametrize(
    "quantity, probe",
    [
        ("reward", Probe("bad", bad_after(np.nan, 90), constant(0))),
        ("cost 'cost'", Probe("bad", constant(0), bad_after(np.inf, 90))),
    ],
)
def test_not_finite_stops_with_the_name_the_iteration_and_an_intact_checkpoint(quantity, probe, tmp_path):
    with pytest.raises(RunStopped, match=f"{quantity} became NaN or infinite in iteration 5") as error:
        train(probe, "ppo", steps=10_000, out=tmp_path / "r", checkpoint_every=2, **PROBE, **QUIET)
    last = Run(tmp_path / "r").checkpoints()[0]
    assert str(last) in str(error.value)
    assert read_checkpoint(last)["counters"][0] == 4


def test_the_last_good_checkpoint_is_no_damaged_one(tmp_path):
    good = Probe("bad", constant(1), constant(0))
    run = train(good, "ppo", steps=400, out=tmp_path / "r", checkpoint_every=1, **PROBE, **QUIET)
    damaged, last = run.checkpoints()
    damaged.write_bytes(b"damage")
    with pytest.raises(RunStopped, match="reward became NaN or infinite in iteration 2") as error:
        resume(run, task=Probe("bad", constant(np.nan), constant(0)), **QUIET)
    assert str(last) in str(error.value) and str(damaged) not in str(error.value)


def test_not_finite_parameters_stop_the_run(tmp_path):
    probe = Probe("explodes", constant(1), constant(0))
    with pytest.raises(RunStopped, match="the learnt critics"):
        train(probe, "ppo", steps=10_000, out=tmp_path / "r", **{**PROBE, "critic_lr": 1e38}, **QUIET)


def test_a_multiplier_stuck_at_its_bound_is_told(tmp_path, capsys):
    probe = Probe("hopeless", constant(1), constant(1))  # cost 1 a step whatever it does, limit 0.5
    train(probe, steps=200 * 12, out=tmp_path / "r", display=Plain(), **{**PROBE, "multiplier_max": 0.001})
    assert "at its bound 0.001 for 10 iterations" in capsys.readouterr().err


@pytest.mark.parametrize(
    "cost_return, discount, told", [("undiscounted", 0.9, True), ("undiscounted", 1.0, False), ("discounted", 0.9, False)]
)
@pytest.mark.parametrize("given", [{}, {"limits": 7.0}])
def test_a_limit_on_plain_sums_is_told_and_they_are_shown(cost_return, discount, told, given, tmp_path, capsys):
    task = Probe("ten", constant(0), constant(1), length=10, constraints=(Constraint("cost", 8.0, discount),))
    train(task, "ppo", steps=200, out=tmp_path / "r", display=Plain(), cost_return=cost_return, **given, **PROBE)
    out, err = capsys.readouterr()
    said = "the plain sum of costs is held to the limit here; the task's own limit is meant for the discounted sum" in err
    assert said == (told and not given)  # who gives a limit knows what it is for
    plain = told or discount == 1.0
    assert f"cost {10 if plain else 10 * (1 - 0.9**10):.2f} / {given.get('limits', 8.0):g}" in out


def test_steps_that_fill_no_batch_are_told(tmp_path, capsys):
    probe = Probe("ten", constant(0), constant(1), length=10)
    for steps, told in ((700, True), (600, False)):
        run = train(probe, "ppo", steps=steps, out=tmp_path / str(steps), display=Plain(), **PROBE)
        said = "of 700 steps 600 are trained, in whole batches of 200."
        assert (said in capsys.readouterr().err) == told and len(run.recorded()) == 3
