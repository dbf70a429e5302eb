"""Checkpoints: the names of their arrays, old names, and what does not fit."""

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

import cuprl
from cuprl.algorithms import as_now
from cuprl.errors import UserError
from cuprl.runs.checkpoint import (
    KEEP,
    from_arrays,
    iteration_of,
    list_checkpoints,
    prune,
    read_checkpoint,
    to_arrays,
    today,
    under,
    within,
    write_checkpoint,
)
from cuprl.runs.folder import Run
from small import same_arrays

OLD = Path(__file__).parents[1] / "data" / "old_run"
ARM = cuprl.Spec("arm", 3, cuprl.Box(2, (-1.0, -1.0), (1.0, 1.0)), (cuprl.Constraint("heat", 5.0),), 50)
TINY = {"batch_size": 20, "hidden": (8,), "minibatch": 10, "epochs": 2, "critic_epochs": 2, "steps": 60}


def a_learner(**settings):
    """One that has learnt from a batch."""
    agent = cuprl.Agent(ARM, **{**TINY, **settings})
    for k in range(20):
        agent.act(np.full(3, 0.1 * k))
        agent.observe(np.full(3, 0.1 * k + 0.1), 1.0, 0.5, False, k % 6 == 5)
    agent.update()
    return agent.learner


def test_the_names_are_a_file_format():
    """A change here makes the checkpoints of today unreadable: translate them where the old names are."""
    network = ["weight0", "bias0", "weight1", "bias1"]
    adam = ["count", "mu", "nu"]
    belief = ["level", "drift", "change", "kept", "evidence", "count"]
    episodes = ["total", "discounted", "length"]
    groups = {
        "policy": [*network, "log_std"],
        "critic0": network,
        "critic1": network,
        "optimiser/policy": adam,
        "optimiser/critics": adam,
        "state": ["key"],
        "state/multiplier": ["value", "first", "second", "count"],
        "state/belief": belief,
        "normaliser": ["count", "mean", "var"],
        "signals": ["count", "mean", "var"],
        "running": episodes,
        "episodes": episodes,
    }
    found = a_learner().arrays()
    assert found.keys() == {"counters", *(f"{group}/{name}" for group, names in groups.items() for name in names)}
    assert found["policy/weight1"].shape == (8, 2) and found["critic1/bias0"].shape == (8,)


@pytest.mark.parametrize("settings", [{}, {"normalise": False}])
def test_a_written_learner_is_restored_to_the_last_bit(settings, tmp_path):
    before = a_learner(**settings)
    after = cuprl.Agent(ARM, seed=1, **{**TINY, **settings}).learner
    after.restore(read_checkpoint(write_checkpoint(tmp_path, 1, before.arrays())))
    same_arrays(after.arrays(), before.arrays())
    obs = np.linspace(-3.0, 3.0, 3)
    np.testing.assert_array_equal(after.normaliser.apply(obs), before.normaliser.apply(obs))


@pytest.mark.parametrize("algo", ["cup", "cup-paper"])
def test_an_old_checkpoint_has_todays_names(algo):
    run = Run(OLD / algo)
    path = run.checkpoints()[0]
    old, new = load_file(path), read_checkpoint(path)
    assert len(old) == len(new) and not any(set("[].") & set(name) for name in new)
    for name, before in (
        ("policy/weight0", "learner['state'].policy['layers'][0][0]"),
        ("policy/log_std", "learner['state'].policy['log_std']"),
        ("critic1/bias2", "learner['state'].critics[1][2][1]"),
        ("optimiser/critics/mu", "learner['state'].critic_opt.mu"),
        ("normaliser/var", "learner['normaliser']['var']"),
        ("running/length", "learner['running']['length']"),
        ("state/multiplier/value", "learner['state'].multiplier.value"),
        ("env/physics", "env.physics"),
    ):
        np.testing.assert_array_equal(new[name], old[before])
    settings = as_now(run.config)["settings"]
    learner = cuprl.Agent("hopper-speed", algo, steps=run.config["steps"], **settings).learner
    learner.restore(new)
    same_arrays(learner.arrays(), {name: array for name, array in new.items() if not name.startswith("env/")})


def test_only_an_old_file_is_translated():
    """An environment names its own arrays as it likes."""
    arrays = {name: np.zeros(1) for name in ("env/my.state", "env/[0].x", "counters")}
    assert today(arrays) is arrays
    old = {name: np.zeros(1) for name in ("learner['normaliser']['mean']", "env.my.state", "batch.raw_obs", "counters")}
    assert list(today(old)) == ["normaliser/mean", "env/my.state", "batch/raw_obs", "counters"]


def test_a_group_is_put_in_and_taken_out():
    env = {"obs": np.zeros(2), "a/b": np.ones(1)}
    assert within("env", under("env", env) | {"environment/x": np.ones(3)}).keys() == env.keys()


def test_what_does_not_fit_the_template_is_told():
    template = {"running": {"length": np.zeros(3, np.int64)}}
    arrays = to_arrays(template)
    assert list(arrays) == ["running/length"]
    with pytest.raises(KeyError, match="running/length"):
        from_arrays(template, {})
    for wrong, words in ((np.zeros(3), r"float64 \[3\]"), (np.zeros(2, np.int64), r"int64 \[2\]")):
        with pytest.raises(ValueError, match=rf"running/length is {words}, expected int64 \[3\]"):
            from_arrays(template, {"running/length": wrong})


def test_the_newest_are_kept_and_damage_is_refused(tmp_path):
    for iteration in range(1, KEEP + 3):
        prune(write_checkpoint(tmp_path, iteration, {"x": np.arange(iteration)}))
    (tmp_path / "00000009.safetensors").touch()  # not one of ours
    paths = list_checkpoints(tmp_path)
    assert [iteration_of(path) for path in paths] == [5, 4, 3]
    content = bytearray(paths[0].read_bytes())
    content[-1] ^= 1
    paths[0].write_bytes(content)
    with pytest.raises(UserError, match=f"{paths[0].name} is damaged"):
        read_checkpoint(paths[0])
    assert read_checkpoint(paths[1])["x"].tolist() == [0, 1, 2, 3]


def test_what_a_run_writes_after_it_has_gone_back_is_kept(tmp_path):
    """The later ones are left as they are, until each is replaced by the one of its iteration."""

    def write(iteration, value, spared=None):
        written = write_checkpoint(tmp_path, iteration, {"x": np.array([value])})
        prune(written, spared)
        return read_checkpoint(written)["x"].item()

    for iteration in (20, 40, 50, 60):
        write(iteration, 0, spared=20)
    for iteration in (30, 33, 40, 50):
        assert write(iteration, 1, spared=20) == 1
    kept = {iteration_of(path): read_checkpoint(path)["x"].item() for path in list_checkpoints(tmp_path)}
    assert kept == {60: 0, 50: 1, 40: 1, 33: 1, 20: 0}
    assert len(list_checkpoints(tmp_path)) == len(kept)
