"""A policy that acts: on one observation or many, within bounds, and not on what is no observation."""

import numpy as np
import pytest

import cuprl
from cuprl.errors import UserError
from cuprl.policies.export import SUFFIXES, export_policy
from policies.arms import SPECS, agent_with


def test_bounds_are_told_and_applied_on_request(tmp_path):
    agent, _ = agent_with(SPECS["gaussian"])
    policy = cuprl.load(export_policy(agent.policy(), out=tmp_path / "p.npz"))
    assert policy.info["spec"]["action"]["low"] == [-1.0, None] and "not applied" in policy.info["bounds"]
    np.testing.assert_array_equal(policy.clip(np.array([[3.0, -7.0], [-3.0, 7.0]])), [[1.0, -7.0], [-1.0, 0.5]])


def test_predict_takes_one_observation_or_many(run):
    saved = cuprl.load(run)
    obs = np.random.default_rng(0).normal(size=(6, 11))
    many = saved.predict(obs)
    assert many.shape == (6, 3)
    np.testing.assert_allclose(saved.predict(obs[2]), many[2], rtol=1e-5)
    assert (saved.predict(obs, deterministic=False) != many).all()


def test_a_wrong_observation_is_told(run):
    with pytest.raises(UserError, match=r"shape \[10\]; this policy takes \[11\] or \[N, 11\]"):
        cuprl.load(run).predict(np.zeros(10))


@pytest.mark.parametrize("to", [None, *SUFFIXES])
def test_an_observation_that_is_none_gets_no_action(to, tmp_path):
    agent, obs = agent_with(SPECS["gaussian"])
    policy = agent.policy()
    policy = policy if to is None else cuprl.load(export_policy(policy, to, tmp_path / f"p{SUFFIXES[to]}"), trust=True)
    for value, shown in ((np.nan, "nan"), (-np.inf, "-inf"), (1e308, r"1e\+308")):
        broken = obs.copy()
        broken[7, 3] = value
        for seen in (broken, broken[7]):
            with pytest.raises(UserError, match=rf"obs\[3\] is {shown}: the policy has no action"):
                policy.predict(seen)
    with pytest.raises(UserError, match="the action is NaN in entry 1; send none"):
        policy.clip(np.array([[0.5, 0.5], [0.5, np.nan]]))
    assert np.isfinite(policy.predict(obs * 1e10)).all()


@pytest.mark.parametrize("obs", ["x", ["a"] * 11, {}, [[1.0] * 11, [1.0]], 10**400, [1j] * 11, None])
def test_what_is_no_observation_is_told(obs, run):
    with pytest.raises(UserError, match=r"the observation (is no array of real numbers|has the shape)"):
        cuprl.load(run).predict(obs)


@pytest.mark.parametrize("action", ["x", None, float("nan"), [1.0, 2.0], [1j] * 3, [[1.0] * 4]])
def test_what_is_no_action_is_not_clipped(action, run):
    with pytest.raises(UserError, match=r"the action (is no array of real numbers|has the shape)"):
        cuprl.load(run).clip(action)


def test_clipping_keeps_the_precision(run):
    policy = cuprl.load(run)
    assert policy.clip(np.full(3, 9.0, np.float32)).dtype == np.float32
    np.testing.assert_array_equal(policy.clip([[9, -9, 0]]), [[1.0, -1.0, 0.0]])
