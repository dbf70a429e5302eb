"""Densities, divergences and entropies against plain statements; gradients against finite differences."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import integrate, stats

from cuprl.core.spec import Discrete, MultiDiscrete
from cuprl.learn.natural import information
from cuprl.learn.networks import mlp
from cuprl.learn.policy import Categorical, Gaussian, Logits, MultiCategorical, Normal

GAUSSIAN = Gaussian(obs_dim=4, act_dim=3, hidden=(8, 8), init_log_std=-0.5)
CATEGORICAL = Categorical(obs_dim=4, action=Discrete(5), hidden=(8, 8))
MULTI = MultiCategorical(obs_dim=4, action=MultiDiscrete((2, 3)), hidden=(8, 8))


def two_normals(seed=0, rows=6):
    rng = np.random.default_rng(seed)
    return [Normal(rng.normal(size=(rows, 3)), rng.normal(size=(rows, 3)) * 0.5) for _ in range(2)]


def two_softmaxes(seed=0, rows=6):
    rng = np.random.default_rng(seed)
    return [Logits(np.log(rng.dirichlet(np.ones(5), rows))) for _ in range(2)]


def test_gaussian_log_prob_is_the_sum_of_scipys():
    p, _ = two_normals()
    action = np.random.default_rng(1).normal(size=(6, 3))
    expected = stats.norm(p.mean, np.exp(p.log_std)).logpdf(action).sum(axis=1)
    np.testing.assert_allclose(GAUSSIAN.log_prob(p, action), expected, rtol=1e-5)


def test_gaussian_kl_is_the_integral_summed_over_action_dimensions():
    p, q = two_normals()
    for row in range(2):
        expected = 0.0
        for i in range(3):
            a = stats.norm(p.mean[row, i], np.exp(p.log_std[row, i]))
            b = stats.norm(q.mean[row, i], np.exp(q.log_std[row, i]))
            low, high = a.ppf([1e-12, 1 - 1e-12])
            expected += integrate.quad(lambda x, a=a, b=b: a.pdf(x) * (a.logpdf(x) - b.logpdf(x)), low, high)[0]
        np.testing.assert_allclose(GAUSSIAN.kl(p, q)[row], expected, rtol=1e-5)


def test_gaussian_entropy():
    p, _ = two_normals()
    np.testing.assert_allclose(GAUSSIAN.entropy(p), stats.norm(p.mean, np.exp(p.log_std)).entropy().sum(axis=1), rtol=1e-5)


def test_kl_of_a_gaussian_with_itself_is_exactly_zero_in_float32():
    mean = jax.random.normal(jax.random.PRNGKey(0), (1000, 3)) * 100
    p = Normal(mean, mean * 0.01)
    assert (GAUSSIAN.kl(p, p) == 0.0).all()


def test_noise_is_kept_from_falling_below_a_floor_but_never_raised():
    policy = Gaussian(3, 4, (8,), 0.0)
    before = {"log_std": jnp.log(jnp.array([0.5, 0.5, 0.1, 0.1]))}
    after = {"log_std": jnp.log(jnp.array([0.4, 0.2, 0.05, 0.2])), "layers": "as they are"}
    kept = policy.keep_noise(after, before, 0.3)
    # above the floor; pushed below it; below it before, so that only this step is undone; a step that raised it
    np.testing.assert_allclose(jnp.exp(kept["log_std"]), [0.4, 0.3, 0.1, 0.2], rtol=1e-6)
    assert kept["layers"] == "as they are"
    choice = Categorical(3, Discrete(2), (8,))
    assert choice.keep_noise(after, before, 0.3) is after


def test_categorical_against_plain_sums():
    p, q = two_softmaxes()
    action = np.array([0, 1, 2, 3, 4, 0])
    np.testing.assert_allclose(CATEGORICAL.log_prob(p, jnp.array(action)), p.log_p[np.arange(6), action], rtol=1e-6)
    np.testing.assert_allclose(CATEGORICAL.kl(p, q), stats.entropy(np.exp(p.log_p), np.exp(q.log_p), axis=1), rtol=1e-5)
    np.testing.assert_allclose(CATEGORICAL.entropy(p), stats.entropy(np.exp(p.log_p), axis=1), rtol=1e-5)


def test_several_choices_are_one_choice_of_their_product():
    """Two and three options side by side are six in one: the same densities, divergence, entropy and information."""
    obs = jnp.array(np.random.default_rng(0).normal(size=(6, 4)), jnp.float32)
    params, other = (jax.tree.map(lambda x: 3 * x, MULTI.init(jax.random.PRNGKey(k))) for k in (3, 4))
    p, tangent = jax.jvp(lambda x: MULTI.dist(x, obs), (params,), (other,))
    q = MULTI.dist(other, obs)

    def product(dist):
        return Logits((dist.log_p[:, :2, None] + dist.log_p[:, None, 2:]).reshape(6, 6))

    six = Categorical(obs_dim=4, action=Discrete(6), hidden=(8, 8))
    np.testing.assert_allclose(jnp.exp(product(p).log_p).sum(axis=1), 1.0, rtol=1e-5)
    first, second = np.array([0, 1, 0, 1, 0, 1]), np.array([0, 1, 2, 2, 1, 0])
    action, number = jnp.array(np.stack((first, second), axis=1)), jnp.array(3 * first + second)
    np.testing.assert_allclose(MULTI.log_prob(p, action), six.log_prob(product(p), number), rtol=1e-5)
    np.testing.assert_allclose(MULTI.kl(p, q), six.kl(product(p), product(q)), rtol=1e-4)
    np.testing.assert_allclose(MULTI.entropy(p), six.entropy(product(p)), rtol=1e-5)
    pairs = ((p, tangent), (product(p), product(tangent)))
    parts, whole = ((information(d, t).log_p * t.log_p).sum(axis=1) for d, t in pairs)
    np.testing.assert_allclose(parts, whole, rtol=1e-4)


@pytest.mark.parametrize("policy", [GAUSSIAN, CATEGORICAL, MULTI])
def test_acting_in_numpy_equals_acting_in_jax(policy):
    params = policy.init(jax.random.PRNGKey(3))
    obs = np.random.default_rng(0).normal(size=(7, 4)).astype(np.float32)
    noise = policy.noise(jax.random.PRNGKey(4), (7,))
    host = jax.tree.map(np.asarray, params)
    on_host, in_jax = policy.deviation(host, np.asarray(noise), np), policy.deviation(params, noise)
    np.testing.assert_allclose(policy.act(host, obs, on_host, np), policy.act(params, obs, in_jax), rtol=1e-5)
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
