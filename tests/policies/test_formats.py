"""Every format acts as training does, also without cuprl around it."""

import json

import numpy as np
import pytest

import cuprl
from cuprl.core.spec_json import spec_from_json
from cuprl.policies.export import SUFFIXES, export_policy
from policies.arms import SPECS, agent_with


@pytest.mark.parametrize("kind", SPECS)
@pytest.mark.parametrize("hidden, normalise", [((16, 16), True), ((), False)])
def test_every_format_acts_as_training_does(kind, hidden, normalise, tmp_path):
    agent, obs = agent_with(SPECS[kind], hidden, normalise)
    learner = agent.learner
    params, normalised = learner.numpy_policy(), learner.normaliser.apply(obs)
    rng = np.random.default_rng(5)
    size = (200, SPECS[kind].action.outputs)
    noise = rng.standard_normal(size, np.float32) if kind == "gaussian" else rng.gumbel(size=size)
    deviation = learner.policy.deviation(params, np.float32(noise), np)
    mode, sample = (learner.policy.act(params, normalised, z, np) for z in (None, deviation))
    original = agent.policy()
    np.testing.assert_array_equal(original.predict(obs), mode)
    for to, suffix in SUFFIXES.items():
        policy = cuprl.load(export_policy(original, to, tmp_path / f"policy{suffix}"), trust=to == "jax")
        np.testing.assert_allclose(policy.predict(obs), mode, rtol=1e-6, atol=1e-6, err_msg=to)
        policy.seed(5)
        np.testing.assert_allclose(policy.predict(obs, deterministic=False), sample, rtol=1e-6, atol=1e-6, err_msg=to)
        one = policy.predict(obs[3])
        assert np.shape(one) == SPECS[kind].action.shape
        np.testing.assert_allclose(one, mode[3], rtol=1e-6, atol=1e-6)
        assert policy.info["spec"] == original.info["spec"] and spec_from_json(policy.info["spec"]) == SPECS[kind]


def test_jax_export_under_jit_vmap_and_scan(tmp_path):
    import jax

    agent, obs = agent_with(SPECS["categorical"])
    policy = cuprl.load(export_policy(agent.policy(), "jax", tmp_path / "p.jax"), trust=True)
    obs = obs.astype(np.float32)
    mode = policy.predict(obs)
    for action in (
        jax.jit(policy.call)(obs)[0],
        jax.jit(jax.vmap(policy.call))(obs)[0],
        jax.lax.scan(lambda carry, o: (carry, policy.call(o)[0]), 0, obs)[1],
    ):
        np.testing.assert_array_equal(action, mode)


def test_onnx_alone_gives_the_action(run, tmp_path):
    """As a program in another language would use it: the model's own output `action`, and its metadata."""
    import onnx
    import onnxruntime

    file = export_policy(run, "onnx")
    assert file == run.path / "policy.onnx"
    onnx.checker.check_model(onnx.load(file), full_check=True)
    session = onnxruntime.InferenceSession(file)
    obs = np.random.default_rng(0).normal(size=(6, 11))
    (action,) = session.run(["action"], {"obs": obs})
    np.testing.assert_allclose(action, cuprl.load(run).predict(obs), rtol=1e-6, atol=1e-6)
    assert json.loads(session.get_modelmeta().custom_metadata_map["cuprl"])["task"] == "hopper-speed"
