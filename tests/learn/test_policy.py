"""Every kind of policy: acting in NumPy and in JAX, samples and their density, and which is chosen."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from cuprl.core.actions import Box, Discrete, MultiDiscrete
from cuprl.core.spec import Constraint, Spec
from cuprl.errors import UserError
from cuprl.learn.categorical import Categorical, MultiCategorical
from cuprl.learn.gaussian import Gaussian, Squashed
from cuprl.learn.networks import Network, mlp
from cuprl.learn.policy import policy_for
from cuprl.learn.settings import Common

GAUSSIAN = Gaussian(obs_dim=4, act_dim=3, network=Network((8, 8)), init_log_std=-0.5)
CATEGORICAL = Categorical(obs_dim=4, action=Discrete(5), network=Network((8, 8)))
BOX = Box(3, (-1.0, 0.5, -2.0), (1.0, 0.7, 5.0))
SQUASHED = Squashed(obs_dim=4, act_dim=3, network=Network((8, 8), "relu"), init_log_std=-0.5, box=BOX)
MULTI = MultiCategorical(obs_dim=4, action=MultiDiscrete((2, 3)), network=Network((8, 8)))


@pytest.mark.parametrize("policy", [GAUSSIAN, SQUASHED, CATEGORICAL, MULTI])
def test_acting_in_numpy_equals_acting_in_jax(policy):
    params = policy.init(jax.random.PRNGKey(3))
    obs = np.random.default_rng(0).normal(size=(7, 4)).astype(np.float32)
    noise = policy.noise(jax.random.PRNGKey(4), (7,))
    host = jax.tree.map(np.asarray, params)
    on_host, in_jax = policy.deviation(host, np.asarray(noise), np), policy.deviation(params, noise)
    drawn, in_jax = policy.act(host, obs, on_host, np), policy.act(params, obs, in_jax)
    np.testing.assert_allclose(drawn, in_jax, rtol=1e-5)
    np.testing.assert_allclose(policy.command(drawn, np), policy.command(in_jax), rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(policy.act(host, obs, None, np), policy.act(params, obs), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("policy", [GAUSSIAN, CATEGORICAL, MULTI])
def test_samples_follow_the_density(policy):
    params = policy.init(jax.random.PRNGKey(3))
    obs = jnp.ones((40_000, 4))
    dist = policy.dist(params, obs[:1])
    action = policy.act(params, obs, policy.deviation(params, policy.noise(jax.random.PRNGKey(5), (40_000,))))
    if policy is GAUSSIAN:
        np.testing.assert_allclose(action.mean(axis=0), dist.mean[0], atol=0.02)
        np.testing.assert_allclose(action.std(axis=0), np.exp(dist.log_std[0]), rtol=0.02)
    else:
        columns = [action] if policy is CATEGORICAL else [action[:, 0], action[:, 1] + 2]
        counts = sum(np.bincount(column, minlength=5) for column in columns)
        np.testing.assert_allclose(counts / 40_000, np.exp(dist.log_p[0]), atol=0.01)


def test_mlp_is_the_plain_formula():
    rng = np.random.default_rng(0)
    layers = [(rng.normal(size=(4, 8)), rng.normal(size=8)), (rng.normal(size=(8, 2)), rng.normal(size=2))]
    x = rng.normal(size=(3, 4))
    np.testing.assert_allclose(mlp(layers, x, np), np.tanh(x @ layers[0][0] + layers[0][1]) @ layers[1][0] + layers[1][1])


@pytest.mark.parametrize(
    "action, sentence",
    [
        (Box(2, (-1.0, -np.inf), (1.0, 0.5)), "action 1 has the bounds -inf to 0.5 of arm; give finite bounds, or"),
        (Box(1, (1.0,), (1.0,)), "action 0 has the bounds 1 to 1"),
        (Discrete(3), "the actions of arm are choices; leave it at gaussian"),
    ],
)
def test_only_real_actions_with_bounds_are_squashed(action, sentence):
    spec = Spec("arm", 4, action, (Constraint("cost", 1.0),), 10)
    with pytest.raises(UserError, match=sentence):
        policy_for(spec, Common(policy="squashed"))


@pytest.mark.parametrize("name", ["relu", "elu", "swish"])
def test_the_activation_is_that_of_the_settings(name):
    spec = Spec("arm", 4, Box(2, (-1.0, -1.0), (1.0, 1.0)), (Constraint("cost", 1.0),), 10)
    policy = policy_for(spec, Common(hidden=(8, 8), activation=name))
    params = policy.init(jax.random.PRNGKey(0))
    obs = np.random.default_rng(0).normal(size=(5, 4)).astype(np.float32)
    x = obs
    for weight, bias in params["layers"][:-1]:
        x = getattr(jax.nn, name)(x @ weight + bias)
    weight, bias = params["layers"][-1]
    np.testing.assert_allclose(policy.dist(params, obs).mean, x @ weight + bias, rtol=1e-5, atol=1e-7)
