"""The loop: probes with known answers, exact resume, independence of threads, and what stops a run."""

import json
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest

from cuprl.core.spec import Constraint
from cuprl.envs import TASKS
from cuprl.errors import RunStopped, UserError
from cuprl.policies.evaluate import evaluate, load
from cuprl.runs.folder import Run, read_checkpoint
from cuprl.training.loop import resume, train
from cuprl.training.training import Training, env_seed
from probes import Probe, constant
from small import QUIET, SMALL, same_arrays, same_progress

PROBE = {
    "batch_size": 200, "num_envs": 10, "hidden": (16,), "minibatch": 50, "anneal": False,
    "critic_lr": 3e-3, "policy_lr": 3e-3, "critic_l2": 0.0,
}  # fmt: skip


def config_for(task, **settings):
    return {"task": task, "algo": "cup", "seed": 0, "steps": 10**6, "threads": 1, "limits": None, "settings": settings}


def learnt(probe, iterations, **settings):
    training = Training(config_for(probe.name, **{**PROBE, **settings}), probe)
    for _ in range(iterations):
        row = training.iterate()
    return training, row


def critic_values(training, obs):
    from cuprl.learn.critics import values

    learner = training.learner
    normalised = learner.normaliser.apply(np.array(obs, np.float64).reshape(-1, 1))
    return np.asarray(values(learner.state.critics, normalised))


# --- probes: reward and cost -------------------------------------------------------------------------------------


def test_probe_one_step_values():
    """One step, reward 1, cost 2: V = 1 and V^C = 2 exactly."""
    training, row = learnt(Probe("one-step", constant(1), constant(2)), 60)
    np.testing.assert_allclose(critic_values(training, [0.0]), [[1.0, 2.0]], atol=0.05)
    assert row["rollout/ep_rew_mean"] == 1.0 and row["rollout/ep_cost_mean"] == 2.0


def test_probe_values_depend_on_the_observation():
    probe = Probe("observation", lambda obs, a, t: obs, lambda obs, a, t: -2 * obs, random_obs=True)
    training, _ = learnt(probe, 60)
    np.testing.assert_allclose(critic_values(training, [-1.0, 1.0]), [[-1.0, 2.0], [1.0, -2.0]], atol=0.15)


def test_probe_discount_and_time_limit():
    """Two steps, reward and cost 1 at the end: V(s_0) cannot be told from V(s_1), but a time limit must bootstrap.

    With one state, reward 1 a step and every end a time limit, the value is that of going on for ever: 1 / (1 - gamma).
    """
    probe = Probe("for-ever", constant(1), constant(1), length=5, truncates=True,
                  constraints=(Constraint("cost", 9.0, 0.5),))  # fmt: skip
    training, row = learnt(probe, 120, gamma=0.8)
    np.testing.assert_allclose(critic_values(training, [0.0]), [[5.0, 2.0]], rtol=0.06)
    assert row["rollout/ep_cost_mean"] == pytest.approx(1.9375)  # 1 + 1/2 + 1/4 + 1/8 + 1/16
    assert row["rollout/ep_cost_undiscounted_mean"] == 5.0


def test_probe_reward_depends_on_the_action():
    probe = Probe("action", lambda obs, a, t: (a == 2).astype(float), constant(0), discrete=3)
    _, row = learnt(probe, 30)
    assert row["rollout/ep_rew_mean"] > 0.95


def test_probe_reward_depends_on_action_and_observation():
    probe = Probe("both", lambda obs, a, t: -((a - obs) ** 2), constant(0), random_obs=True)
    training, _ = learnt(probe, 60)
    obs = np.array([[-1.0], [1.0]])
    learner = training.learner
    action = learner.policy.act(learner.numpy_policy(), learner.normaliser.apply(obs), None, np)
    np.testing.assert_allclose(action, obs, atol=0.2)


def test_probe_cost_forbids_the_best_action():
    """Action 1 pays 1 but costs 1; the limit 0.3 allows it three times in ten. nu swings, its mean effect must not."""
    dear = (Constraint("cost", 0.3, 1.0),)
    probe = Probe("trade", lambda obs, a, t: a, lambda obs, a, t: a, discrete=2, constraints=dear)
    _, free = learnt(replace(probe, constraints=(Constraint("cost", 9.0, 1.0),)), 40)
    assert free["rollout/ep_cost_mean"] > 0.9
    training, _ = learnt(probe, 40, policy_lr=5e-4, multiplier_lr=0.1)
    costs = [training.iterate()["rollout/ep_cost_mean"] for _ in range(120)]
    assert np.mean(costs) == pytest.approx(0.3, abs=0.1)


# --- exact continuation ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", TASKS)
def test_resumed_equals_uninterrupted(task, tmp_path):
    """Four iterations of 40 steps: every stop is in the middle of episodes. One side runs on two threads."""
    whole = train(task, steps=800, out=tmp_path / "whole", checkpoint_every=1, **SMALL, **QUIET)
    assert len(whole.checkpoints()) == 3
    stopped = Run.create(tmp_path / "stopped", {**whole.config, "threads": 2})
    first = Training(stopped.config)
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
    from cuprl.training.display import Plain

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


def start_command(arguments, **kwargs):
    return subprocess.Popen(
        [sys.executable, "-c", "import sys; from cuprl.cli import main; sys.exit(main())", *map(str, arguments)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **kwargs,
    )  # fmt: skip


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


# --- what stops a run --------------------------------------------------------------------------------------------


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
        train(probe, steps=10_000, out=tmp_path / "r", checkpoint_every=1, **PROBE, **QUIET)
    arrays = Run(tmp_path / "r").latest()[0]
    assert str(Run(tmp_path / "r").checkpoints()[0]) in str(error.value)
    assert all(np.isfinite(array).all() for array in arrays.values())


@pytest.mark.parametrize("quantity, probe", [
    ("reward", Probe("bad", bad_after(np.nan, 90), constant(0))),
    ("cost 'cost'", Probe("bad", constant(0), bad_after(np.inf, 90))),
])  # fmt: skip
def test_not_finite_stops_with_the_name_the_iteration_and_an_intact_checkpoint(quantity, probe, tmp_path):
    with pytest.raises(RunStopped, match=f"{quantity} became NaN or infinite in iteration 5") as error:
        train(probe, steps=10_000, out=tmp_path / "r", checkpoint_every=2, **PROBE, **QUIET)
    last = Run(tmp_path / "r").checkpoints()[0]
    assert str(last) in str(error.value)
    assert read_checkpoint(last)["counters"][0] == 4


def test_not_finite_parameters_stop_the_run(tmp_path):
    probe = Probe("explodes", constant(1), constant(0))
    with pytest.raises(RunStopped, match="loss of the critics"):
        train(probe, steps=10_000, out=tmp_path / "r", **{**PROBE, "critic_lr": 1e38}, **QUIET)


def test_a_damaged_checkpoint_is_refused_and_the_one_before_it_used(tmp_path, capsys):
    from cuprl.training.display import Plain

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


def test_a_multiplier_stuck_at_its_bound_is_told(tmp_path, capsys):
    from cuprl.training.display import Plain

    probe = Probe("hopeless", constant(1), constant(1))  # cost 1 a step whatever it does, limit 0.5
    train(probe, steps=200 * 12, out=tmp_path / "r", display=Plain(), **{**PROBE, "multiplier_max": 0.001})
    assert "at its bound 0.001 for 10 iterations" in capsys.readouterr().err


# --- run folder and evaluation -----------------------------------------------------------------------------------


def test_run_folder_tells_everything(tmp_path):
    run = train("hopper-speed", seed=3, steps=400, out=tmp_path / "r", limits=50.0, **SMALL, **QUIET)
    config = json.loads((run.path / "config.json").read_text())
    assert (config["task"], config["algo"], config["seed"], config["limits"]) == ("hopper-speed", "cup", 3, {"speed": 50.0})
    assert config["settings"]["alpha"] == 0.2 and config["settings"]["batch_size"] == 200
    assert {"cuprl", "jax", "mujoco", "numpy", "python"} <= config["versions"].keys() and "command" in config
    progress = run.progress()
    for name in ("rollout/ep_rew_mean", "rollout/ep_cost_mean", "rollout/cost_limit", "train/multiplier",
                 "train/approx_kl", "train/kl_improvement", "train/kl_projection", "time/fps"):  # fmt: skip
        assert len(progress[name]) == 2
    with pytest.raises(UserError, match="not empty"):
        train("hopper-speed", steps=400, out=run.path, **SMALL, **QUIET)


def test_tensorboard_events_on_request(tmp_path, monkeypatch):
    run = train("hopper-speed", steps=400, out=tmp_path / "r", tensorboard=True, **SMALL, **QUIET)
    (events,) = run.path.glob("events.out.tfevents.*")
    content = events.read_bytes()
    assert b"rollout/ep_cost_mean" in content and b"train/multiplier" in content
    monkeypatch.setitem(sys.modules, "tensorboardX", None)
    with pytest.raises(UserError, match=r"pip install 'cuprl\[tensorboard\]'"):
        train("hopper-speed", steps=400, out=tmp_path / "without", tensorboard=True, **SMALL, **QUIET)
    assert not (tmp_path / "without").exists()


def test_evaluation_is_repeatable_and_leaves_the_normaliser_alone(tmp_path):
    run = train("hopper-speed", steps=600, out=tmp_path / "r", **SMALL, **QUIET)
    saved = load(run.path)
    before = saved.normaliser.mean.copy(), saved.normaliser.var.copy()
    first, second = evaluate(saved, episodes=5), evaluate(run.path, episodes=5)
    first.pop("run"), second.pop("run")
    assert first == second
    np.testing.assert_array_equal(before, (saved.normaliser.mean, saved.normaliser.var))
    assert first["episodes"] == 5 and 0 <= first["violation_rate"] <= 1
    keys = "return_mean return_std cost_mean cost_undiscounted_mean cost_limit violation_rate episodes length_mean"
    assert set(keys.split()) <= first.keys()


def test_evaluation_counts_one_whole_episode_of_each_environment(tmp_path):
    probe = Probe("count", constant(1), constant(2), length=7, constraints=(Constraint("cost", 5.0, 0.5),))
    run = train(probe, steps=200, out=tmp_path / "r", **PROBE, **QUIET)
    result = evaluate(load(run.path, probe), episodes=4)
    assert (result["return_mean"], result["length_mean"], result["cost_undiscounted_mean"]) == (7.0, 7.0, 14.0)
    assert result["cost_mean"] == pytest.approx(2 * (2 - 0.5**6)) and result["violation_rate"] == 0.0


def test_predict_takes_one_observation_or_many(tmp_path):
    run = train("hopper-speed", steps=200, out=tmp_path / "r", **SMALL, **QUIET)
    saved = load(run)
    obs = np.random.default_rng(0).normal(size=(6, 11))
    many = saved.predict(obs)
    assert many.shape == (6, 3)
    np.testing.assert_allclose(saved.predict(obs[2]), many[2], rtol=1e-5)
    assert (saved.predict(obs, deterministic=False) != many).all()


def test_speed_replays_the_same_work():
    from cuprl.measure.speed import measure

    result = measure("hopper-speed", rounds=2, **SMALL)
    assert {"physics_sps", "rollout_sps", "update_s", "train_sps", "ratio"} <= result.keys()


@pytest.mark.parametrize("left", ["", "iteration,st", "iteration,steps\n", "iteration,steps\n1,200\n2,4"])
def test_whatever_a_killed_run_leaves_of_its_metrics_is_continued(left, tmp_path):
    config = {"task": "x", "algo": "y", "seed": 0, "steps": 1, "limits": {}, "settings": {"batch_size": 1}}
    run = Run.create(tmp_path / "run", config)
    (run.path / "progress.csv").write_text(left)
    run.forget_after(1)
    run.append({"iteration": 2, "steps": 400})
    assert run.progress()["steps"].tolist() == ([200.0, 400.0] if "200" in left else [400.0])


def test_environments_are_started_once():
    """Beside one robot that the task's functions are tried with, each is reset once, with the run's own seeds."""
    hopper, starts = TASKS["hopper-speed"], []

    def reset(qpos, qvel, rng):
        starts.append(rng.bit_generator.state["state"]["inc"])
        return hopper.reset(qpos, qvel, rng)

    training = Training(config_for("own", **SMALL), replace(hopper, reset=reset))
    assert len(starts) == 1 + SMALL["num_envs"] and len(set(starts)) == len(starts)
    np.testing.assert_array_equal(training.collector.obs, training.collector.env.reset(env_seed(0)))
