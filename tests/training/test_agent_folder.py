"""An agent's folder: put away and taken up to the last bit, damaged, or another's."""

import json

import numpy as np
import pytest

import cuprl
from cuprl.errors import UserError
from cuprl.runs.folder import Run
from cuprl.training.train import resume, train
from small import QUIET, SMALL, same_progress
from training.driven import ARM, TINY, drive


@pytest.mark.parametrize("stop", [40, 53])  # between two batches, and in the middle of one
def test_saved_and_loaded_it_goes_on_to_the_last_bit(stop, tmp_path):
    def start():
        env = cuprl.make("hopper-speed", num_envs=5)
        return cuprl.Agent("hopper-speed", limits=20.0, steps=600, **SMALL), env, env.reset(7)

    whole, env, obs = start()
    drive(whole, env, obs)
    agent, env, obs = start()
    obs = drive(agent, env, obs, 30)
    agent.save(tmp_path / "a")
    obs = drive(agent, env, obs, stop - 30)
    agent.act(obs)  # an action without an outcome is forgotten
    agent.save(tmp_path / "a")
    agent.save(tmp_path / "b")  # elsewhere, with all its rows
    for folder in ("a", "b"):
        assert len(Run(tmp_path / folder).checkpoints()) == (2 if folder == "a" else 1)
    agent = cuprl.Agent.load(tmp_path / "b")
    drive(agent, env, obs)
    same_progress(whole.save(tmp_path / "whole"), agent.save())


def test_folders_are_kept_apart(tmp_path):
    trained = train("hopper-speed", steps=200, out=tmp_path / "train", **SMALL, **QUIET)
    agent = cuprl.Agent("hopper-speed", **{**SMALL, "steps": 200})
    with pytest.raises(UserError, match="is not empty; give another"):
        agent.save(trained.path)
    with pytest.raises(UserError, match="the folder of the run is ''"):
        agent.save("")
    with pytest.raises(UserError, match="cup resume"):
        cuprl.Agent.load(trained.path)
    with pytest.raises(UserError, match=r"Agent\.load"):
        resume(agent.save(tmp_path / "agent"), **QUIET)


def test_what_has_changed_is_told(tmp_path):
    run = cuprl.Agent(ARM, **TINY).save(tmp_path / "arm")
    older = run.config | {"versions": run.config["versions"] | {"jax": "0.1"}}
    (run.path / "config.json").write_text(json.dumps(older))
    with pytest.warns(UserWarning, match="^jax changed since this run began"):
        cuprl.Agent.load(run.path)


def test_a_damaged_checkpoint_is_told(tmp_path):
    agent = cuprl.Agent(ARM, **TINY)
    agent.save(tmp_path / "arm")
    while not agent.ready:
        agent.act(np.zeros(3))
        agent.observe(np.zeros(3), 0.0, [0, 0], False, False)
    agent.update()
    newest = agent.save().checkpoints()[0]
    newest.write_bytes(newest.read_bytes()[:-4])
    with pytest.warns(UserWarning, match=newest.name):
        assert cuprl.Agent.load(tmp_path / "arm").learner.iteration == 0


@pytest.mark.parametrize(
    "name, change",
    [
        ("batch/obs", lambda array: None),
        ("batch/raw_obs", lambda array: None),
        ("batch/raw_obs", lambda array: array[:1]),
        ("batch/signal", lambda array: array[:, 0, 0]),
        ("batch/action", lambda array: np.concatenate([array] * 9)),
        ("batch/raw_obs", lambda array: array * np.nan),
    ],
)
def test_a_batch_that_does_not_fit_is_told(name, change, tmp_path):
    agent = cuprl.Agent(ARM, **TINY)
    for _ in range(3):
        agent.act(np.zeros(3))
        agent.observe(np.zeros(3), 0.0, [0, 0], False, False)
    run = agent.save(tmp_path / "arm")
    arrays, _ = run.latest()
    changed = arrays | {name: change(arrays[name])}
    (path,) = run.checkpoints()
    path.unlink()
    run.save(0, {key: array for key, array in changed.items() if array is not None})
    with pytest.raises(UserError, match=r"does not fit the run's settings .*batch/"):
        cuprl.Agent.load(run.path)


@pytest.mark.parametrize("odd", [{"gamma": 1.0}, {"cost_window": 20}])
def test_settings_at_odds_are_refused_of_new_trainings_alone(odd, tmp_path, monkeypatch):
    """What was begun with them, before they were refused, still opens."""
    with pytest.raises(UserError, match=r"while time limits are bootstrapped over|but with cost_estimate steps"):
        train("hopper-speed", out=tmp_path / "new", **SMALL, **odd, **QUIET)
    assert not (tmp_path / "new").exists()
    with monkeypatch.context() as before:
        for module in ("agent", "train"):
            before.setattr(f"cuprl.training.{module}.refuse_at_odds", lambda settings: None)
        cuprl.Agent(ARM, **TINY, **odd).save(tmp_path / "agent")
        run = train("hopper-speed", steps=200, out=tmp_path / "run", **SMALL, **odd, **QUIET)
    with pytest.raises(UserError, match=r"leave one out|Give less than 1"):
        cuprl.Agent(ARM, **TINY, **odd)
    assert cuprl.Agent.load(tmp_path / "agent").config.settings.items() >= odd.items()
    assert len(resume(run, steps=400, **QUIET).recorded()) == 2
    assert cuprl.Agent(ARM, **TINY, gamma=1.0, time_limits="terminal").config.settings["gamma"] == 1.0
