"""Every algorithm on probe environments with known answers, and continued exactly after a stop."""

import numpy as np
import pytest

from cuprl.core.spec import Constraint
from cuprl.runs.config import RunConfig
from cuprl.training.training import Training
from probes import Probe, constant
from small import same_arrays

FIRST_ORDER = {"minibatch": 50, "critic_epochs": 5, "policy_lr": 3e-3}
SECOND_ORDER = {"critic_epochs": 10}
# Plain ascent swings, on some seeds to where no batch has the costly action any more.
LAGRANGIAN = {"multiplier": "pid", "multiplier_lr": 0.03, "multiplier_max": 2.0}
METHODS = {
    "ppo": FIRST_ORDER,
    "ppo-lag": {**FIRST_ORDER, **LAGRANGIAN},
    "focops": {**FIRST_ORDER, **LAGRANGIAN},
    "trpo": SECOND_ORDER,
    "trpo-lag": {**SECOND_ORDER, **LAGRANGIAN},
    "cpo": SECOND_ORDER,
    "pcpo": SECOND_ORDER,
    "pcpo-l2": SECOND_ORDER,
}
UNCONSTRAINED = ("ppo", "trpo")
# Those that learn as another one does, where there is nothing to hold: `make test-slow` has them.
ALIKE = ("ppo-lag", "trpo", "pcpo", "pcpo-l2")
FIVE_STEPS = 1 + 0.9 + 0.9**2 + 0.9**3 + 0.9**4  # discounted

TARGET = Probe("target", lambda obs, a, t: -((a - obs) ** 2), constant(0), random_obs=True)
# Action 1 pays 1 and costs 1, in episodes of five steps: the tighter limit allows it three times in ten.
TRADE = Probe(
    "trade",
    lambda obs, a, t: a,
    lambda obs, a, t: a,
    length=5,
    discrete=2,
    constraints=(Constraint("loose", 0.6 * FIVE_STEPS, 0.9), Constraint("tight", 0.3 * FIVE_STEPS, 0.9)),
)


def training_on(probe, name):
    common = {"batch_size": 200, "num_envs": 10, "hidden": (8,), "anneal": False, "critic_lr": 3e-3, "critic_l2": 0.0}
    return Training(RunConfig(probe.name, name, steps=10**6, settings={**common, **METHODS[name]}), probe)


def dare(row):
    """How often action 1 was taken, by the discounted cost of the latest 100 episodes."""
    assert row["rollout/ep_cost_mean/loose"] == row["rollout/ep_cost_mean/tight"]
    return row["rollout/ep_cost_mean/tight"] / FIVE_STEPS


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name in ALIKE)) for name in METHODS])
def test_learns_the_action_its_observation_asks_for(name):
    """The cost is always 0: a constraint without a gradient must not be in the way."""
    training = training_on(TARGET, name)
    for _ in range(50):
        row = training.iterate()
    obs = np.array([[-1.0], [1.0]])
    learner = training.learner
    action = learner.policy.act(learner.numpy_policy(), learner.normaliser.apply(obs), None, np)
    np.testing.assert_allclose(action, obs, atol=0.25)
    assert row["rollout/ep_rew_mean"] > -0.5


@pytest.mark.parametrize("name", METHODS)
def test_takes_what_the_tighter_of_two_limits_allows(name):
    """They hold the limit at every iteration, up to the noise of 40 episodes; the loose limit gets no multiplier."""
    training = training_on(TRADE, name)
    rows = [training.iterate() for _ in range(140)]
    if name in UNCONSTRAINED:
        assert dare(rows[-1]) > 0.9
        return
    assert np.mean([dare(row) for row in rows[60:]]) == pytest.approx(0.3, abs=0.06)
    assert max(dare(row) for row in rows[60:]) < 0.42
    if name in ("cpo", "pcpo", "pcpo-l2"):
        assert {row["train/case"] for row in rows} >= ({1, 2} if name == "cpo" else {0, 1})
    else:
        assert np.mean([row["train/multiplier/tight"] for row in rows[60:]]) > 0.1
        assert np.mean([row["train/multiplier/loose"] for row in rows[60:]]) < 0.05


@pytest.mark.parametrize("name", METHODS)
def test_continued_equals_uninterrupted(name):
    """Six iterations, or three, a checkpoint's arrays, and three more: the same bits."""
    whole, first, second = (training_on(TRADE, name) for _ in range(3))
    for _ in range(6):
        whole.iterate()
    for _ in range(3):
        first.iterate()
    second.restore({key: array.copy() for key, array in first.arrays().items()})
    for _ in range(3):
        second.iterate()
    same_arrays(whole.arrays(), second.arrays())
    assert not np.array_equal(first.learner.state.key, whole.learner.state.key)
