"""The loop that the user drives: the same algorithm as `train`, and what it says to wrong calls."""

import dataclasses

import numpy as np
import pytest

import cuprl
from cuprl.errors import UserError
from cuprl.training.train import train
from cuprl.training.training import env_seed
from small import QUIET, SMALL, same_progress
from training.driven import ARM, TINY, drive


@pytest.mark.parametrize("task, algo", [("hopper-speed", "cup"), ("hopper-speed-effort", "cpo"), ("tabular:queue", "cup")])
def test_driven_by_hand_equals_train_to_the_last_bit(task, algo, tmp_path):
    settings = {name: value for name, value in SMALL.items() if algo == "cup" or name != "epochs"}
    trained = train(task, algo, seed=3, steps=600, out=tmp_path / "train", **settings, **QUIET)
    agent = cuprl.Agent(task, algo, seed=3, steps=600, **settings)
    env = cuprl.make(task, num_envs=5)
    drive(agent, env, env.reset(env_seed(3)))
    driven = agent.save(tmp_path / "agent")
    same_progress(trained, driven)
    ours, theirs = (run.latest()[0] for run in (driven, trained))
    for name in theirs:
        if not name.startswith("env/"):
            np.testing.assert_array_equal(ours[name], theirs[name], err_msg=name)
    obs = np.random.default_rng(0).normal(size=(7, env.spec.obs_dim))
    np.testing.assert_array_equal(cuprl.load(driven).predict(obs), cuprl.load(trained).predict(obs))


def test_one_robot_with_costs_in_each_form(tmp_path):
    weaker = dataclasses.replace(ARM, constraints=(*ARM.constraints[:1], cuprl.Constraint("force", 9.0)))
    agent = cuprl.Agent(weaker, limits={"force": 2.5}, **TINY)
    for k, cost in enumerate(([0.5, 0.25], {"force": 0.25, "heat": 0.5}, np.array([[0.5, 0.25]])) * 7):
        if agent.ready:
            break
        action = agent.act(np.full(3, 0.1 * k))
        assert action.shape == (2,)
        agent.observe([0.1, 0.2, 0.3], 1.0, cost, False, k % 5 == 4)
    row = agent.update()
    assert row["rollout/ep_rew_mean"] == 5.0 and row["rollout/episodes"] == 4 and row["steps"] == 20
    assert row["rollout/ep_cost_undiscounted_mean/heat"] == 2.5 and row["rollout/ep_cost_undiscounted_mean/force"] == 1.25
    run = agent.save(tmp_path / "arm")
    assert run.config["limits"] == {"heat": 5.0, "force": 2.5} and run.config["task"] == "arm"
    assert cuprl.load(run).predict(np.zeros((4, 3))).shape == (4, 2)
    np.testing.assert_array_equal(agent.policy().predict(np.ones(3)), cuprl.load(run).predict(np.ones(3)))


def test_several_choices_at_once(tmp_path):
    spec = cuprl.Spec("switches", 2, cuprl.MultiDiscrete((2, 3)), (cuprl.Constraint("wear", 1.0),), 10)
    agent = cuprl.Agent(spec, **TINY)
    while not agent.ready:
        chosen = agent.act([0.0, 1.0])
        assert chosen.shape == (2,) and (chosen >= 0).all() and (chosen < (2, 3)).all()
        agent.observe([1.0, 0.0], float(chosen.sum()), 0.1, True, False)
    agent.update()
    assert cuprl.Agent.load(agent.save(tmp_path / "s").path).spec == spec


def acted():
    agent = cuprl.Agent(ARM, **TINY)
    agent.act(np.zeros(3))
    return agent


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: cuprl.Agent(ARM, **TINY).observe(np.zeros(3), 0.0, [0, 0], False, False), "call agent.act"),
        (lambda: acted().act(np.zeros(3)), "call agent.observe"),
        (lambda: acted().update(), "0 of 20 steps"),
        (lambda: cuprl.Agent(ARM, **TINY).act(np.zeros(4)), r"obs has the shape \[4\]; give numbers of the shape \[3\]"),
        (lambda: cuprl.Agent(ARM, num_envs=2, **TINY).act(np.zeros(3)), r"give numbers of the shape \[2, 3\]"),
        (lambda: cuprl.Agent(ARM, **TINY).act([0.0, np.nan, 0.0]), "obs has NaN"),
        (lambda: cuprl.Agent(ARM, **TINY).act("hello"), "obs is 'hello'"),
        (lambda: acted().observe(np.zeros(3), np.inf, [0, 0], False, False), "reward has NaN or infinite"),
        (lambda: acted().observe(np.zeros(3), 0.0, [0, -1e39], False, False), r"cost is -1e\+39: nothing was recorded"),
        (
            lambda: acted().observe([0, 1e308, 0], 1.0, [0, 0], False, False),
            r"next_obs\[1\] is 1e\+308: nothing was recorded",
        ),
        (
            lambda: acted().observe(np.zeros(3), [1.0, 2.0], [0, 0], False, False),
            r"reward has the shape \[2\]; give a number",
        ),
        (lambda: acted().observe(np.zeros(3), 0.0, 0.0, False, False), r"cost has the shape \[\]; .* of the shape \[2\]"),
        (lambda: acted().observe(np.zeros(3), 0.0, {"heat": 0.0, "fource": 0.0}, False, False), "did you mean force"),
        (lambda: acted().observe(np.zeros(3), 0.0, {"heat": 0.0}, False, False), "cost 'force' is missing"),
        (lambda: acted().observe(np.zeros(3), 0.0, [0, 0], None, False), "terminated has NaN"),
        (lambda: acted().observe(np.zeros(3), 0.0, [0, 0], 2, False), "terminated is 2: nothing was recorded; give True or"),
        (lambda: acted().observe(np.zeros(3), 0.0, [0, 0], False, -1), "truncated is -1: nothing was recorded"),
        (lambda: cuprl.Agent(ARM, "cap"), "did you mean cup"),
        (lambda: cuprl.Agent(ARM, limits={"heet": 1.0}), "did you mean heat"),
        (lambda: cuprl.Agent(3), "spec is 3; give a cuprl.Spec"),
        (lambda: cuprl.Agent(ARM, steps="many"), "steps is 'many'; give a whole number"),
        (lambda: cuprl.Agent(ARM, limits=5.0), "there are heat, force; name it, as heat=5.0"),
        (lambda: cuprl.Agent(dataclasses.replace(ARM, constraints=()), limits=5.0), "there is no constraint; leave it away"),
        (lambda: cuprl.Agent(ARM, limits={"heat": None}), "the limit of cost 'heat' is None; give a number"),
        (lambda: cuprl.Agent("hoper-speed"), "did you mean hopper-speed"),
        (lambda: cuprl.Agent(ARM, batch_size=20, steps=10), "give at least 20"),
        (lambda: cuprl.Agent(ARM, alpa=1), "did you mean alpha"),
        (lambda: cuprl.Agent.load("nowhere"), "not a run"),
    ],
)
def test_a_wrong_call_gets_one_sentence(call, words):
    with pytest.raises(UserError, match=words):
        call()


def test_a_refused_observation_changes_nothing():
    agent, careful = acted(), acted()
    with pytest.raises(UserError, match="cost"):
        agent.observe(np.ones(3), 1.0, [np.nan, 0.0], False, False)
    for a in (agent, careful):
        a.observe(np.ones(3), 1.0, [0.5, 0.0], False, False)
    np.testing.assert_array_equal(agent.act(np.ones(3)), careful.act(np.ones(3)))
    np.testing.assert_array_equal(agent.batch.rollout.signal[0], careful.batch.rollout.signal[0])


def test_order_at_the_end_of_a_batch_and_of_the_training():
    agent = cuprl.Agent(ARM, **{**TINY, "steps": 20})
    for _ in range(20):
        agent.act(np.zeros(3))
        agent.observe(np.zeros(3), 1.0, [0, 0], True, False)
    with pytest.raises(UserError, match=r"call agent\.update"):
        agent.act(np.zeros(3))
    agent.update()
    assert agent.done and not agent.ready
    with pytest.raises(UserError, match="all its 20 steps"):
        agent.act(np.zeros(3))


def test_a_cut_ends_the_running_episode():
    """Ten steps, cut after seven of the second; the batch of 20 ends within the fourth."""
    agent = cuprl.Agent(ARM, **TINY)
    for step in range(20):
        agent.act(np.zeros(3))
        agent.observe(np.zeros(3), 1.0, [0.0, 0.0], False, step == 9)
        if step == 16:
            agent.cut()
    assert agent.batch.rollout.truncated[:, 0].nonzero()[0].tolist() == [9, 16]
    assert agent.update()["rollout/ep_len_mean"] == 8.5
    agent.cut()  # between batches: the three steps that were left are an episode too
    for _ in range(20):
        agent.act(np.zeros(3))
        agent.observe(np.zeros(3), 1.0, [0.0, 0.0], False, True)
    agent.update()
    assert agent.learner.episodes.length.tolist() == [10, 7, 3] + 20 * [1]
    agent.cut()
    assert agent.learner.episodes.length.tolist() == [10, 7, 3] + 20 * [1]
