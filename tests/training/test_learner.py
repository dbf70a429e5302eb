"""What learns, given rollouts by hand: what it says of them, what it refuses, and which episodes J^C is of."""

from dataclasses import replace
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from cuprl.algorithms import cup
from cuprl.core.actions import Box
from cuprl.core.spec import Constraint, Spec
from cuprl.errors import RunStopped, UserError
from cuprl.runs.config import RunConfig
from cuprl.training.collect import Collected
from cuprl.training.learner import Learner, usual_step
from small import SMALL, same_arrays

SPEC = Spec("arm", 3, Box(2, (-1.0, -1.0), (1.0, 1.0)), (Constraint("heat", 5.0, 1.0), Constraint("force", 2.5, 0.5)), 20)
STEPS, NUM_ENVS = SMALL["batch_size"] // SMALL["num_envs"], SMALL["num_envs"]


def learner_for(**settings):
    return Learner(RunConfig("arm", "cup-paper", steps=600, settings={**SMALL, **settings}).plan(), SPEC)


def collected(length=20, cost=1.0, seed=0):
    """Episodes of `length` steps, cost 1 a step for heat and 2 for force."""
    batch, rng = Collected.empty(SPEC, STEPS, NUM_ENVS), np.random.default_rng(seed)
    r = batch.rollout
    batch.raw_obs[:], r.action[:] = rng.normal(size=r.obs.shape), rng.normal(size=r.action.shape)
    r.obs[:] = r.next_obs[:] = batch.raw_obs
    r.signal[:] = (1.0, cost, 2.0 * cost)
    r.terminated[:] = 0.0
    r.truncated[:] = (np.arange(STEPS) % length == length - 1)[:, None]
    return batch


def test_a_row_has_a_number_for_each_metric_and_constraint():
    learner = learner_for()
    row = learner.learn_from(collected())
    assert all(type(value) in (int, float) for value in row.values())
    assert not [name for name in row if "finite" in name] and not learner.done
    assert (row["iteration"], row["steps"], row["rollout/episodes"], row["rollout/ep_len_mean"]) == (1, 200, 10, 20.0)
    assert row["rollout/ep_cost_mean/heat"] == 20.0 == row["train/cost_return/heat"]
    assert row["rollout/ep_cost_mean/force"] == pytest.approx(4.0, rel=1e-5) == row["train/cost_return/force"]
    assert row["rollout/ep_cost_undiscounted_mean/force"] == 40.0
    for _ in range(2):
        learner.learn_from(collected())
    assert learner.done


def test_means_are_unknown_before_an_episode_ended_but_the_cost_is_estimated():
    row = learner_for().learn_from(collected(length=1000))
    assert np.isnan([row["rollout/ep_rew_mean"], row["rollout/ep_cost_mean/heat"], row["rollout/ep_len_mean"]]).all()
    assert row["rollout/episodes"] == 0 and row["train/cost_return/heat"] == pytest.approx(40.0, abs=3.0)  # 40 steps so far


@pytest.mark.parametrize("window, expected", [(0, 60.0), (12, (2 * 20 + 10 * 60) / 12)])
def test_the_cost_is_that_of_this_batch_or_of_a_window_of_episodes(window, expected):
    learner = learner_for(cost_window=window)
    learner.learn_from(collected(cost=1.0))
    row = learner.learn_from(collected(cost=3.0))
    assert row["train/cost_return/heat"] == pytest.approx(expected)


def spoilt(part, value):
    batch = collected()
    if part == "fault":
        return batch._replace(fault=value)
    batch.rollout.signal[3, 1, part] = value
    return batch


@pytest.mark.parametrize(
    "batch, words",
    [
        (spoilt("fault", "obs[2] is nan"), r"an observation became NaN or infinite .* in iteration 1: obs\[2\] is nan"),
        (spoilt(0, np.inf), "the reward became NaN or infinite in iteration 1"),
        (spoilt(2, np.nan), "the cost 'force' became NaN or infinite in iteration 1"),
    ],
)
def test_what_cannot_be_learnt_from_stops_the_run_and_changes_nothing(batch, words):
    learner = learner_for()
    before = {name: array.copy() for name, array in learner.arrays().items()}
    with pytest.raises(RunStopped, match=words):
        learner.learn_from(batch)
    same_arrays(before, learner.arrays())


def test_a_learner_that_explodes_stops_the_run_and_is_as_it_was():
    """Whoever drives an agent may still save it."""
    learner = learner_for(critic_lr=1e38, critic_unit="step")
    before = learner.arrays()
    with pytest.raises(RunStopped, match="the learnt critics became NaN or infinite in iteration 1"):
        learner.learn_from(collected())
    same_arrays(before, learner.arrays())


@pytest.mark.parametrize("part", ["multiplier", "belief"])
def test_a_price_that_is_no_number_stops_the_run(part, monkeypatch):
    """NaN > 0 is False: nothing would be projected any more, and policy and critics stay finite."""
    learner = learner_for(cost_memory=10.0)

    class Broken(NamedTuple):
        def update(self, state, batch, config, spec):
            state, metrics = cup.update(state, batch, config, spec)
            floats = jax.tree.map(lambda x: x * jnp.nan if x.dtype == jnp.float32 else x, getattr(state, part))
            return replace(state, **{part: floats}), metrics

    before = learner.arrays()
    monkeypatch.setattr(learner, "module", Broken())
    with pytest.raises(RunStopped, match=f"the learnt {part} became NaN or infinite in iteration 1"):
        learner.learn_from(collected())
    same_arrays(before, learner.arrays())
    broken = {name: x * np.nan if f"/{part}/" in name and x.dtype == np.float32 else x for name, x in before.items()}
    with pytest.raises(UserError, match=f"the checkpoint's state/{part}/.* is NaN or infinite"):
        learner.restore({name: x.astype(before[name].dtype) for name, x in broken.items()})


def test_noise_is_the_same_however_often_it_is_asked_for():
    learner = learner_for()
    first = learner.deviation()
    assert first.shape == (STEPS, NUM_ENVS, 2)
    np.testing.assert_array_equal(first, learner.deviation())
    learner.learn_from(collected())
    assert not np.array_equal(first, learner.deviation())


def test_critics_that_count_in_steps_know_the_usual_step_and_keep_it():
    learner, again = learner_for(critic_unit="step"), learner_for(critic_unit="step")
    learner.learn_from(collected())
    np.testing.assert_allclose(usual_step(learner.signals, 2), [1.0, 1.0, 2.0], rtol=1e-6)
    again.restore(learner.arrays())
    for one in (learner, again):
        one.learn_from(collected(cost=3.0, seed=1))
    np.testing.assert_allclose(usual_step(learner.signals, 2), [1.0, 5.0**0.5, 20.0**0.5], rtol=1e-6)
    same_arrays(learner.arrays(), again.arrays())


def test_critics_that_count_in_the_same_unit_bring_it_with_them():
    one, other = learner_for(critic_unit="step"), learner_for(critic_unit="step")
    other.learn_from(collected(cost=3.0))
    one.begin_from(other.arrays(), critics=True)
    np.testing.assert_array_equal(usual_step(one.signals, 2), usual_step(other.signals, 2))
