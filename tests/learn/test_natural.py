"""Fisher-vector products against the definition of the Fisher matrix, conjugate gradient against a direct solve."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from cuprl.core.actions import Discrete
from cuprl.learn.categorical import Categorical
from cuprl.learn.gaussian import Gaussian
from cuprl.learn.natural import (
    conjugate_gradient,
    damped,
    fisher_product,
    line_search,
    natural_directions,
    trust_region_length,
)
from cuprl.learn.networks import Network
from cuprl.learn.settings import SecondOrder

POLICIES = {"gaussian": Gaussian(3, 2, Network((4,)), -0.3), "categorical": Categorical(3, Discrete(4), Network((4,)))}


def setting_up(kind):
    policy = POLICIES[kind]
    params = jax.tree.map(lambda x: x + 0.3, policy.init(jax.random.PRNGKey(0)))
    vector, unravel = ravel_pytree(params)
    obs = jax.random.normal(jax.random.PRNGKey(1), (7, 3))
    return policy, vector, unravel, obs


def actions_and_weights(policy, dist):
    """Actions [K, B, ...] with weights [K, B] whose sums are exact expectations of a score times a score.

    A Gaussian score is a quadratic: three Gauss-Hermite nodes in each dimension integrate its square exactly.
    """
    if isinstance(policy, Categorical):
        n = dist.log_p.shape[-1]
        return [(jnp.full(len(dist.log_p), a), jnp.exp(dist.log_p[:, a])) for a in range(n)]
    nodes, weights = np.polynomial.hermite_e.hermegauss(3)
    weights = weights / weights.sum()
    return [
        (dist.mean + jnp.exp(dist.log_std) * nodes[list(ks)], jnp.full(len(dist.mean), np.prod(weights[list(ks)])))
        for ks in itertools.product(range(3), repeat=policy.act_dim)
    ]


def fisher_matrix(policy, vector, unravel, obs):
    """mean over states of E_a[ score score^T ]: the definition, entry by entry."""
    dist = policy.dist(unravel(vector), obs)
    total = np.zeros((len(vector), len(vector)))
    scores = jax.jit(jax.jacrev(lambda v, action: policy.log_prob(policy.dist(unravel(v), obs), action)))
    for action, weight in actions_and_weights(policy, dist):
        score = scores(vector, action)  # [B, n]
        total += np.einsum("b,bi,bj->ij", weight, score, score, dtype=np.float64)
    return total / len(obs)


@pytest.mark.parametrize("kind", POLICIES)
def test_fisher_products_are_columns_of_the_fisher_matrix(kind):
    policy, vector, unravel, obs = setting_up(kind)
    product = fisher_product(policy, unravel, vector, obs)
    columns = jax.jit(jax.vmap(product))(jnp.eye(len(vector)))
    np.testing.assert_allclose(columns, fisher_matrix(policy, vector, unravel, obs), atol=2e-6, rtol=1e-4)
    x = jnp.arange(1.0, 1.0 + len(vector))
    np.testing.assert_allclose(damped(product, 0.1)(x), product(x) + 0.1 * x, rtol=1e-6)


@pytest.mark.parametrize("forward", [True, False])
@pytest.mark.parametrize("kind", POLICIES)
def test_it_is_the_hessian_of_a_kl_that_sums_over_action_dimensions(kind, forward):
    """An average over the two dimensions, a defect of rival packages, would give half of it."""
    policy, vector, unravel, obs = setting_up(kind)
    dist_k = policy.dist(unravel(vector), obs)

    def mean_kl(v):
        dist = policy.dist(unravel(v), obs)
        if kind == "gaussian":
            p, q = (dist_k, dist) if forward else (dist, dist_k)
            s1, s2 = jnp.exp(p.log_std), jnp.exp(q.log_std)
            rows = jnp.log(s2 / s1) + (s1**2 + (p.mean - q.mean) ** 2) / (2 * s2**2) - 0.5
        else:
            p, q = (dist_k.log_p, dist.log_p) if forward else (dist.log_p, dist_k.log_p)
            rows = jnp.exp(p) * (p - q)
        return rows.sum(axis=1).mean()

    x = jax.random.normal(jax.random.PRNGKey(2), vector.shape)
    expected = jax.jit(jax.hessian(mean_kl))(vector) @ x
    np.testing.assert_allclose(fisher_product(policy, unravel, vector, obs)(x), expected, rtol=1e-3, atol=1e-5)


def positive_definite(n, seed, condition=30.0):
    rng = np.random.default_rng(seed)
    basis, _ = np.linalg.qr(rng.normal(size=(n, n)))
    return (basis * np.geomspace(1.0, condition, n)) @ basis.T


@pytest.mark.parametrize("seed", range(5))
def test_conjugate_gradient_solves(seed):
    H = positive_definite(8, seed)
    b = np.random.default_rng(seed).normal(size=8)
    x, ok = conjugate_gradient(lambda v: jnp.asarray(H, jnp.float32) @ v, jnp.asarray(b, jnp.float32), 12)
    assert ok
    np.testing.assert_allclose(x, np.linalg.solve(H, b), rtol=2e-3, atol=2e-4)


def test_conjugate_gradient_stops_at_convergence_and_at_zero():
    """With two eigenvalues two iterations are exact: the other 48 must not divide rounding by rounding."""
    H = jnp.diag(jnp.array([1.0, 1.0, 5.0, 5.0]))
    b = jnp.array([1.0, 2.0, 3.0, 4.0])
    x, ok = conjugate_gradient(lambda v: H @ v, b, 50)
    assert ok
    np.testing.assert_allclose(x, [1.0, 2.0, 0.6, 0.8], rtol=1e-5)
    x, ok = conjugate_gradient(lambda v: H @ v, jnp.zeros(4), 10)
    assert ok and (x == 0).all()


@pytest.mark.parametrize("diagonal", [(1.0, -1.0, 2.0), (-1.0, -1.0, -1.0), (np.nan, 1.0, 1.0), (0.0, 0.0, 0.0)])
def test_conjugate_gradient_notices_a_matrix_that_is_not_positive_definite(diagonal):
    x, ok = conjugate_gradient(lambda v: jnp.array(diagonal) * v, jnp.array([1.0, 2.0, 3.0]), 10)
    assert not ok
    assert np.isfinite(x).all()


def test_gram_matrix_and_the_edge_of_the_trust_region():
    H = positive_definite(6, 1)
    gradients = np.random.default_rng(2).normal(size=(3, 6))
    found = natural_directions(lambda v: jnp.asarray(H, jnp.float32) @ v, jnp.asarray(gradients, jnp.float32), 10)
    np.testing.assert_allclose(found.natural, gradients @ np.linalg.inv(H), rtol=5e-3, atol=5e-4)
    np.testing.assert_allclose(found.gram, gradients @ np.linalg.inv(H) @ gradients.T, rtol=5e-3, atol=5e-4)
    step = trust_region_length(found.gram[0, 0], 0.01) * found.natural[0]
    assert float(step @ H @ step) / 2 == pytest.approx(0.01, rel=1e-3)
    assert trust_region_length(jnp.array(0.0), 0.01) == 0.0


CONFIG = SecondOrder(backtrack=0.5, backtracks=4)


def test_line_search_takes_the_longest_accepted_step():
    seen = line_search(jnp.zeros(2), jnp.array([8.0, 0.0]), lambda v: v[0] <= 3.0, CONFIG)
    np.testing.assert_array_equal(seen.vector, [2.0, 0.0])
    assert seen.tries == 3 and not seen.failed
    whole = line_search(jnp.zeros(2), jnp.array([8.0, 0.0]), lambda v: v[0] <= 9.0, CONFIG)
    assert whole.vector[0] == 8.0 and whole.tries == 1


@pytest.mark.parametrize("accept", [lambda v: v[0] < 0.5, lambda v: v[0] * jnp.nan <= 1.0])
def test_a_failed_line_search_keeps_the_old_parameters(accept):
    old = jnp.array([0.5, 0.25])
    seen = line_search(old, jnp.array([8.0, 0.0]), accept, CONFIG)
    np.testing.assert_array_equal(seen.vector, old)
    assert seen.tries == 4 and seen.failed


def test_a_step_that_is_not_finite_is_refused():
    assert line_search(jnp.zeros(2), jnp.array([jnp.inf, 0.0]), lambda v: jnp.array(True), CONFIG).failed
