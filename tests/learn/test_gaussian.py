"""Densities, divergences and entropies of real actions against SciPy, and where tanh is flat."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import integrate, stats

from cuprl.core.actions import Box
from cuprl.learn.gaussian import Gaussian, Normal, Squashed
from cuprl.learn.networks import Network

GAUSSIAN = Gaussian(obs_dim=4, act_dim=3, network=Network((8, 8)), init_log_std=-0.5)
BOX = Box(3, (-1.0, 0.5, -2.0), (1.0, 0.7, 5.0))
SQUASHED = Squashed(obs_dim=4, act_dim=3, network=Network((8, 8), "relu"), init_log_std=-0.5, box=BOX)


def two_normals(seed=0, rows=6):
    rng = np.random.default_rng(seed)
    return [Normal(rng.normal(size=(rows, 3)), rng.normal(size=(rows, 3)) * 0.5) for _ in range(2)]


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
    policy = Gaussian(3, 4, Network((8,)), 0.0)
    before = {"log_std": jnp.log(jnp.array([0.5, 0.5, 0.1, 0.1]))}
    after = {"log_std": jnp.log(jnp.array([0.4, 0.2, 0.05, 0.2])), "layers": "as they are"}
    kept = policy.keep_noise(after, before, 0.3)
    # above the floor; pushed below it; below it before, so that only this step is undone; a step that raised it
    np.testing.assert_allclose(jnp.exp(kept["log_std"]), [0.4, 0.3, 0.1, 0.2], rtol=1e-6)
    assert kept["layers"] == "as they are"


def density_of_action(policy, dist, row, entry):
    """The density of one entry a of a row's action, of a alone: the other entries' part of log_prob is taken away."""
    middle, reach = (BOX.high[entry] + BOX.low[entry]) / 2, (BOX.high[entry] - BOX.low[entry]) / 2
    p = stats.norm(dist.mean[row, entry], np.exp(dist.log_std[row, entry]))

    def density(a):
        t = (a - middle) / reach
        return p.pdf(np.arctanh(t)) / (reach * (1 - t**2))

    return density


def test_squashed_log_prob_is_the_density_of_the_action():
    """By the change of variables in plain SciPy, and that density is one: it integrates to 1 over the bounds."""
    p, _ = two_normals()
    u = np.random.default_rng(1).normal(size=(6, 3))
    action = BOX.squash(u)
    for row in range(6):
        densities = [density_of_action(SQUASHED, p, row, k) for k in range(3)]
        expected = sum(np.log(f(a)) for f, a in zip(densities, np.asarray(action[row], np.float64)))
        np.testing.assert_allclose(SQUASHED.log_prob(p, u)[row], expected, rtol=1e-4)
    for entry in range(3):
        f = density_of_action(SQUASHED, p, 0, entry)
        whole = integrate.quad(f, BOX.low[entry] + 1e-9, BOX.high[entry] - 1e-9, limit=200)[0]
        assert whole == pytest.approx(1.0, abs=1e-3)


def test_squashed_kl_and_entropy_are_those_of_the_actions():
    p, q = two_normals()
    kl, entropy = 0.0, 0.0
    for entry in range(3):
        f, g = (density_of_action(SQUASHED, dist, 1, entry) for dist in (p, q))
        ends = BOX.low[entry] + 1e-12, BOX.high[entry] - 1e-12
        kl += integrate.quad(lambda a, f=f, g=g: f(a) * np.log(f(a) / g(a)), *ends, limit=400)[0]
        entropy -= integrate.quad(lambda a, f=f: f(a) * np.log(f(a)), *ends, limit=400)[0]
    assert SQUASHED.kl(p, q)[1] == pytest.approx(kl, rel=1e-3)
    assert SQUASHED.entropy(p)[1] == pytest.approx(entropy, rel=1e-3)


def test_squashed_stays_within_the_bounds_and_its_ratios_are_exact_where_tanh_is_flat():
    u = np.array([[-50.0, 50.0, 9.0], [0.0, 12.0, -12.0]], np.float32)
    action = SQUASHED.command(u, np)
    assert action.dtype == np.float32 and (action >= np.float32(BOX.low)).all() and (action <= np.float32(BOX.high)).all()
    np.testing.assert_allclose(action[0], [-1.0, 0.7, 5.0], rtol=1e-6)
    p, q = (Normal(np.full((2, 3), mean, np.float32), np.zeros((2, 3), np.float32)) for mean in (11.0, 11.5))
    ratio = SQUASHED.log_prob(q, u) - SQUASHED.log_prob(p, u)
    np.testing.assert_allclose(ratio, GAUSSIAN.log_prob(q, u) - GAUSSIAN.log_prob(p, u), rtol=1e-4)
    slopes = jax.grad(lambda mean: SQUASHED.log_prob(Normal(mean, p.log_std), u).sum())(p.mean)
    np.testing.assert_allclose(slopes, u - p.mean, rtol=1e-5)


def test_samples_of_a_squashed_policy_follow_its_density():
    params = SQUASHED.init(jax.random.PRNGKey(3))
    obs = jnp.ones((40_000, 4))
    deviation = SQUASHED.deviation(params, SQUASHED.noise(jax.random.PRNGKey(5), (40_000,)))
    action = np.asarray(SQUASHED.command(SQUASHED.act(params, obs, deviation)), np.float64)
    dist = SQUASHED.dist(params, obs[:1])
    for entry in range(3):
        f = density_of_action(SQUASHED, dist, 0, entry)
        middle = (BOX.low[entry] + BOX.high[entry]) / 2
        below = integrate.quad(f, BOX.low[entry] + 1e-9, middle)[0]
        assert (action[:, entry] < middle).mean() == pytest.approx(below, abs=0.01)
