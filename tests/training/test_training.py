"""A training in memory: probes with known answers, and environments that are started once; and what is made of a run."""

from dataclasses import replace

import numpy as np
import pytest

from cuprl import envs
from cuprl.core.spec import Constraint
from cuprl.envs import TASKS
from cuprl.errors import UserError
from cuprl.runs.config import RunConfig
from cuprl.training.learner import usual_step
from cuprl.training.training import Training, env_seed
from probes import PROBE, Probe, ProbeEnv, constant
from small import SMALL


def learnt(probe, iterations, **settings):
    training = Training(RunConfig(probe.name, settings={**PROBE, **settings}), probe)
    for _ in range(iterations):
        row = training.iterate()
    return training, row


def critic_values(training, obs):
    from cuprl.learn.critics import values
    from cuprl.learn.estimate import cost_discounts, critic_units

    learner = training.learner
    normalised = learner.normaliser.apply(np.array(obs, np.float64).reshape(-1, 1))
    gamma = np.append(learner.config.gamma, cost_discounts(learner.spec, learner.config))
    unit = critic_units(usual_step(learner.signals, 1), gamma, learner.config, learner.spec)
    return np.asarray(unit * values(learner.state.critics, normalised, learner.config))


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
    probe = Probe(
        "for-ever", constant(1), constant(1), length=5, truncates=True, constraints=(Constraint("cost", 9.0, 0.5),)
    )
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


# --- before the first step ---------------------------------------------------------------------------------------


def test_environments_are_started_once():
    """Beside one robot that the task's functions are tried with, each is reset once, with the run's own seeds."""
    hopper, starts = TASKS["hopper-speed"], []

    def reset(qpos, qvel, rng):
        starts.append(rng.bit_generator.state["state"]["inc"])
        return hopper.reset(qpos, qvel, rng)

    training = Training(RunConfig("own", steps=200, settings=SMALL), replace(hopper, reset=reset))
    assert len(starts) == 1 + SMALL["num_envs"] and len(set(starts)) == len(starts)
    np.testing.assert_array_equal(training.collector.obs, training.collector.env.reset(env_seed(0)))


class Held(ProbeEnv):
    """Environments that hold something until they are closed."""

    open = 0

    def __init__(self, *parts):
        super().__init__(*parts)
        Held.open += 1

    def reset(self, seed):
        raise UserError("it cannot be reset")

    def close(self):
        Held.open -= 1


@pytest.mark.parametrize(
    "settings, words", [({"policy": "squashed"}, "the actions of held are choices"), ({}, "it cannot be reset")]
)
def test_environments_are_closed_where_no_training_is_made_of_them(settings, words, monkeypatch):
    probe = Probe("held", constant(0.0), constant(0.0), discrete=2)
    monkeypatch.setattr(Probe, "vector_env", lambda self, num_envs, threads, constraints: Held(self, num_envs, constraints))
    for make in (lambda: Training(RunConfig("held", settings={**PROBE, **settings}), probe), lambda: envs.make(probe)):
        with pytest.raises(UserError):
            make()
        assert Held.open == 0
    with pytest.raises(UserError, match=words):
        Training(RunConfig("held", settings={**PROBE, **settings}), probe)


# --- evaluation --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change, words",
    [
        ({"name": "near"}, "the run is of far, and the task given is near; give that of the run"),
        ({"length": 7}, "far is not what it was when the run began: its horizon was 1 and is 7; give the task as it was"),
        ({"discrete": 2}, r"its action was Box\(dim=1, low=\(-1.0,\), high=\(1.0,\)\) and is Discrete\(n=2\)"),
        ({"constraints": (Constraint("cost", 0.5, 1.0),)}, "its discount of cost was 0.99 and is 1.0"),
        ({"constraints": (Constraint("cost", 0.5, 0.9900001),)}, "its discount of cost was 0.99 and is 0.9900001"),
        ({"step_seconds": 0.02}, "its step_seconds was 0.01 and is 0.02"),
    ],
)
def test_no_run_goes_on_in_another_task(change, words):
    task = Probe("far", constant(1), constant(2), step_seconds=0.01)
    config = Training(RunConfig(task.name, settings=PROBE), task).config
    with pytest.raises(UserError, match=words):
        Training(config, replace(task, **change))
    same = replace(task.constraints[0], limit=9.0, discount=0.99 + 1e-15, step_bound=3.0)  # the limit is the run's
    assert Training(config, replace(task, name="far+timeout=5", constraints=(same,))).config.limits == {"cost": 0.5}
    old = {name: value for name, value in config.spec.items() if name != "step_seconds"}
    assert Training(replace(config, spec=old), task).config.limits == {"cost": 0.5}
