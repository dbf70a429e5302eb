"""Densities, divergences and entropies of choices against plain sums."""

import jax
import jax.numpy as jnp
import numpy as np
from scipy import stats

from cuprl.core.actions import Discrete, MultiDiscrete
from cuprl.learn.categorical import Categorical, Logits, MultiCategorical
from cuprl.learn.natural import information
from cuprl.learn.networks import Network

CATEGORICAL = Categorical(obs_dim=4, action=Discrete(5), network=Network((8, 8)))
MULTI = MultiCategorical(obs_dim=4, action=MultiDiscrete((2, 3)), network=Network((8, 8)))


def two_softmaxes(seed=0, rows=6):
    rng = np.random.default_rng(seed)
    return [Logits(np.log(rng.dirichlet(np.ones(5), rows))) for _ in range(2)]


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

    six = Categorical(obs_dim=4, action=Discrete(6), network=Network((8, 8)))
    np.testing.assert_allclose(jnp.exp(product(p).log_p).sum(axis=1), 1.0, rtol=1e-5)
    first, second = np.array([0, 1, 0, 1, 0, 1]), np.array([0, 1, 2, 2, 1, 0])
    action, number = jnp.array(np.stack((first, second), axis=1)), jnp.array(3 * first + second)
    np.testing.assert_allclose(MULTI.log_prob(p, action), six.log_prob(product(p), number), rtol=1e-5)
    np.testing.assert_allclose(MULTI.kl(p, q), six.kl(product(p), product(q)), rtol=1e-4)
    np.testing.assert_allclose(MULTI.entropy(p), six.entropy(product(p)), rtol=1e-5)
    pairs = ((p, tangent), (product(p), product(tangent)))
    parts, whole = ((information(d, t).log_p * t.log_p).sum(axis=1) for d, t in pairs)
    np.testing.assert_allclose(parts, whole, rtol=1e-4)


def test_a_softmax_has_no_noise_to_keep():
    before, after = {"layers": "as they were"}, {"layers": "as they are"}
    assert CATEGORICAL.keep_noise(after, before, 0.3) is after
