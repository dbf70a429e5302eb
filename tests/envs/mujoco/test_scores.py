"""Rewards and costs computed for many steps at once are those computed step by step, to the last bit."""

from dataclasses import replace
from itertools import count

import numpy as np
import pytest

import cuprl
from cuprl.envs import TASKS, make
from cuprl.envs.mujoco.env import MujocoTask
from cuprl.errors import UserError
from cuprl.runs.config import RunConfig
from cuprl.training.training import Training
from small import SMALL, same_arrays

ROBOTS = {name: task for name, task in TASKS.items() if isinstance(task, MujocoTask)}
HOPPER = TASKS["hopper-speed"]
CALLS = count()


@pytest.mark.parametrize("name", ROBOTS)
def test_scores_are_those_of_each_step(name):
    """With falls, time limits, and a second rollout that goes on where the first one stopped."""
    task = replace(ROBOTS[name], horizon=17)
    early, late = make(task, 3, seed=5), make(task, 3, seed=5)
    rng = np.random.default_rng(0)
    for rollout in rng.normal(size=(2, 40, 3, early.spec.action.dim)).astype(np.float32):
        steps = [early.step(action) for action in rollout]
        scores = late.late_scores()
        for action, step in zip(rollout, steps):
            moved = scores.step(action)
            for part in ("next_obs", "terminated", "truncated", "obs"):
                np.testing.assert_array_equal(getattr(moved, part), getattr(step, part))
        reward, cost = scores.scores()
        np.testing.assert_array_equal(reward, [step.reward for step in steps])
        np.testing.assert_array_equal(cost, [step.cost for step in steps])
        same_arrays(early.get_state(), late.get_state())
    assert any(step.truncated.any() for step in steps)


def test_functions_that_do_not_say_what_they_read_are_called_at_every_step():
    """They may remember: here the cost counts the calls."""
    calls = []

    def costs(physics, motion):
        calls.append(len(motion.action))
        return np.full((len(motion.action), 1), float(len(calls)))

    training = Training(RunConfig("own", "ppo", steps=400, settings=SMALL), replace(HOPPER, costs=costs))
    calls.clear()
    training.iterate()
    assert set(calls) == {SMALL["num_envs"]}
    cost = training.collector.buffers.rollout.signal[:, 0, 1]
    np.testing.assert_array_equal(cost, 1.0 + np.arange(len(cost)))


@pytest.mark.parametrize(
    ("costs", "words"),
    [
        (cuprl.reads("qvle")(lambda physics, motion: motion.velocity), r"@reads of hopper-speed names 'qvle'; name arrays"),
        (cuprl.reads()(lambda physics, motion: physics.qvel[:, :1]), "costs of hopper-speed raised AttributeError.*'qvel'"),
        (cuprl.reads()(lambda physics, motion: motion.velocity - motion.velocity.mean()), "costs .* than for each"),
        (cuprl.reads()(lambda physics, motion: motion.velocity * 0 + next(CALLS)), "take @reads off it"),
    ],
)
def test_a_function_that_does_not_do_as_it_says_is_told_so(costs, words):
    with pytest.raises(UserError, match=words):
        make(replace(HOPPER, costs=costs), 2)
