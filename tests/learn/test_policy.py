"""Densities, divergences and entropies against plain statements; gradients against finite differences."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import integrate, stats

from cuprl.core.actions import Box, Discrete, MultiDiscrete
from cuprl.core.spec import Constraint, Spec
from cuprl.errors import UserError
from cuprl.learn.natural import information
from cuprl.learn.networks import Network, mlp
from cuprl.learn.policy import Categorical, Gaussian, Logits, MultiCategorical, Normal, Squashed, policy_for
from cuprl.learn.settings import Common

GAUSSIAN = Gaussian(obs_dim=4, act_dim=3, network=Network((8, 8)), init_log_std=-0.5)
CATEGORICAL = Categorical(obs_dim=4, action=Discrete(5), network=Network((8, 8)))
BOX = Box(3, (-1.0, 0.5, -2.0), (1.0, 0.7, 5.0))
SQUASHED = Squashed(obs_dim=4, act_dim=3, network=Network((8, 8), "relu"), init_log_std=-0.5, box=BOX)
MULTI = MultiCategorical(obs_dim=4, action=MultiDiscrete((2, 3)), network=Network((8, 8)))


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
    policy = Gaussian(3, 4, Network((8,)), 0.0)
    before = {"log_std": jnp.log(jnp.array([0.5, 0.5, 0.1, 0.1]))}
    after = {"log_std": jnp.log(jnp.array([0.4, 0.2, 0.05, 0.2])), "layers": "as they are"}
    kept = policy.keep_noise(after, before, 0.3)
    # above the floor; pushed below it; below it before, so that only this step is undone; a step that raised it
    np.testing.assert_allclose(jnp.exp(kept["log_std"]), [0.4, 0.3, 0.1, 0.2], rtol=1e-6)
    assert kept["layers"] == "as they are"
    choice = Categorical(3, Discrete(2), Network((8,)))
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


# --- squashed into the bounds -------------------------------------------------------------------------------------------


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
