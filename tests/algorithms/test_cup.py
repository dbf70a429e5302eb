"""CUP's losses against plain NumPy statements of Algorithm 1, its traps, its presets."""

import json
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from cuprl import algorithms
from cuprl.algorithms import cup
from cuprl.core.actions import Box, Discrete
from cuprl.core.spec import Constraint, Spec
from cuprl.errors import UserError
from cuprl.learn import surrogate
from cuprl.learn.gaussian import Normal
from cuprl.learn.policy import policy_for
from cuprl.learn.settings import Common
from cuprl.learn.surrogate import Rows
from cuprl.learn.types import Batch
from cuprl.learn.visits import discounted_steps
from cuprl.training.display import Silent
from cuprl.training.train import train

CONSTRAINTS = (Constraint("a", 1.0), Constraint("b", 2.0, 0.9))
CONFIG = cup.Config(hidden=(8,), minibatch=16)


def spec_for(kind):
    return Spec("x", 3, Box(2, (-1.0,) * 2, (1.0,) * 2) if kind == "gaussian" else Discrete(4), CONSTRAINTS, 10)


def problem(kind, seed=0, rows=32):
    """Three policies near each other and the rows of a batch collected by the first."""
    spec = spec_for(kind)
    policy = policy_for(spec, Common(hidden=(8,)))
    rng = np.random.default_rng(seed)
    k = policy.init(jax.random.PRNGKey(seed))
    half, new = (jax.tree.map(lambda x: x + 0.1 * jnp.array(rng.normal(size=x.shape), jnp.float32), k) for _ in range(2))
    obs = jnp.array(rng.normal(size=(rows, 3)), jnp.float32)
    action = policy.act(k, obs, policy.deviation(k, policy.noise(jax.random.PRNGKey(seed + 1), (rows,))))
    dist_k = policy.dist(k, obs)
    adv_r, adv_c = (jnp.array(rng.normal(size=size), jnp.float32) for size in (rows, (rows, 2)))
    data = Rows(obs, action, adv_r, adv_c, policy.log_prob(dist_k, action), dist_k, policy.dist(half, obs))
    return policy, k, half, new, data


def plain(kind, policy, params, obs):
    """(log density of an action, KL from another) of a policy in float64 NumPy, by scipy."""
    x = np.asarray(obs, np.float64)
    for weight, bias in params["layers"][:-1]:
        x = np.tanh(x @ np.asarray(weight, np.float64) + np.asarray(bias, np.float64))
    out = x @ np.asarray(params["layers"][-1][0], np.float64) + np.asarray(params["layers"][-1][1], np.float64)
    if kind == "gaussian":
        std = np.exp(np.asarray(params["log_std"], np.float64))
        return lambda a: stats.norm(out, std).logpdf(np.asarray(a)).sum(axis=1), (out, std)
    p = np.exp(out - out.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    return lambda a: np.log(p[np.arange(len(p)), np.asarray(a)]), p


def plain_kl(kind, p, q):
    if kind == "gaussian":
        (m1, s1), (m2, s2) = p, q
        return (np.log(s2 / s1) + (s1**2 + (m1 - m2) ** 2) / (2 * s2**2) - 0.5).sum(axis=1)
    return (p * np.log(p / q)).sum(axis=1)


@pytest.mark.parametrize("kind", ["gaussian", "categorical"])
def test_improvement_loss_is_algorithm_1(kind):
    policy, k, _, new, rows = problem(kind)
    logp_k, dist_k = plain(kind, policy, k, rows.obs)
    logp, dist = plain(kind, policy, new, rows.obs)
    ratio = np.exp(logp(rows.action) - logp_k(rows.action))
    surrogate = (ratio * np.asarray(rows.adv_r)).mean()
    expected = -(surrogate - 0.2 * np.sqrt(plain_kl(kind, dist_k, dist).mean()))
    assert float(cup.improvement_loss(policy, new, rows, CONFIG)) == pytest.approx(expected, rel=1e-3, abs=1e-5)

    clipped = -np.minimum(ratio * rows.adv_r, np.clip(ratio, 0.8, 1.2) * rows.adv_r).mean()
    got = cup.improvement_loss(policy, new, rows, cup.Config(improvement="clip"))
    assert float(got) == pytest.approx(float(clipped), rel=1e-3, abs=1e-5)

    both = clipped + 0.2 * np.sqrt(plain_kl(kind, dist_k, dist).mean())
    got = cup.improvement_loss(policy, new, rows, cup.Config(improvement="both"))
    assert float(got) == pytest.approx(float(both), rel=1e-3, abs=1e-5)


@pytest.mark.parametrize("direction", ["half-new", "new-half"])
@pytest.mark.parametrize("kind", ["gaussian", "categorical"])
def test_projection_loss_is_algorithm_1(kind, direction):
    policy, k, half, new, rows = problem(kind)
    logp_k, _ = plain(kind, policy, k, rows.obs)
    _, dist_half = plain(kind, policy, half, rows.obs)
    logp, dist = plain(kind, policy, new, rows.obs)
    ratio = np.exp(logp(rows.action) - logp_k(rows.action))  # against pi_k, not pi_half
    weight = np.array([0.7, 1.3])
    kl = plain_kl(kind, dist_half, dist) if direction == "half-new" else plain_kl(kind, dist, dist_half)
    expected = (kl + ratio * (np.asarray(rows.adv_c) @ weight)).mean()
    got = cup.projection_loss(policy, new, rows, jnp.array(weight), cup.Config(projection_kl=direction))
    assert float(got) == pytest.approx(expected, rel=1e-3, abs=1e-5)


@pytest.mark.parametrize("kind", ["gaussian", "categorical"])
@pytest.mark.parametrize("which", ["improvement", "projection"])
def test_gradients_against_finite_differences(kind, which):
    policy, _, _, new, rows = problem(kind, rows=16)

    def loss(params):
        if which == "improvement":
            return cup.improvement_loss(policy, params, rows, CONFIG)
        return cup.projection_loss(policy, params, rows, jnp.array([0.7, 1.3]), CONFIG)

    flat, unravel = jax.flatten_util.ravel_pytree(new)
    gradient = jax.grad(lambda v: loss(unravel(v)))(flat)
    for seed in range(5):
        direction = jax.random.normal(jax.random.PRNGKey(seed), flat.shape)
        slope = (loss(unravel(flat + 1e-2 * direction)) - loss(unravel(flat - 1e-2 * direction))) / 2e-2
        assert float(gradient @ direction) == pytest.approx(float(slope), rel=3e-2, abs=3e-3)


def test_sqrt_kl_has_a_finite_value_and_slope_where_rounding_makes_it_zero_or_negative():
    for kl in (0.0, -1e-7, 1e-30):
        value, slope = jax.value_and_grad(surrogate.sqrt_kl)(kl)
        assert np.isfinite(value) and np.isfinite(slope)
    assert float(surrogate.sqrt_kl(0.04)) == pytest.approx(0.2, rel=1e-5)


@pytest.mark.parametrize("kind", ["gaussian", "categorical"])
def test_the_first_step_from_pi_k_itself_is_finite(kind):
    """KL(pi_k, pi_k) = 0, where sqrt has an infinite slope: the trap that turns a naive CUP into NaN."""
    policy, k, _, _, rows = problem(kind)
    gradient = jax.grad(lambda p: cup.improvement_loss(policy, p, rows, CONFIG))(k)
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(gradient))


def make_batch(spec, cost_return, rows=64, seed=0):
    rng = np.random.default_rng(seed)
    action = rng.normal(size=(rows, 2)) if isinstance(spec.action, Box) else rng.integers(0, 4, rows)
    return Batch(
        obs=jnp.array(rng.normal(size=(rows, 3)), jnp.float32),
        action=jnp.array(action),
        adv_r=jnp.array(rng.normal(size=rows), jnp.float32),
        adv_c=jnp.array(rng.normal(size=(rows, 2)), jnp.float32),
        ret=jnp.array(rng.normal(size=(rows, 3)), jnp.float32),
        cost_return=jnp.array(cost_return),
        lr_scale=jnp.array(1.0),
        cost_span=jnp.array(discounted_steps(spec, CONFIG)),
        episodes=jnp.array(5.0),
    )


@pytest.mark.parametrize("kind", ["gaussian", "categorical"])
def test_update_moves_each_multiplier_by_its_own_excess(kind):
    spec = spec_for(kind)
    state = cup.init(jax.random.PRNGKey(0), CONFIG, spec)
    batch = make_batch(spec, [6.0, 1.0])
    new, metrics = jax.jit(cup.update, static_argnums=(2, 3))(state, batch, CONFIG, spec)
    np.testing.assert_allclose(new.multiplier.value, [0.05, 0.0], rtol=1e-5)
    np.testing.assert_allclose(metrics["train/multiplier"], new.multiplier.value)
    assert 1 <= metrics["train/epochs_improvement"] <= 10 and 1 <= metrics["train/epochs_projection"] <= 10
    assert metrics["train/surrogate_return_half"] > batch.adv_r.mean()  # the improvement improved its surrogate


def test_projection_lowers_the_cost_surrogate_and_leaves_a_policy_within_limits_alone():
    spec = spec_for("gaussian")
    config = cup.Config(hidden=(8,), minibatch=16, multiplier_init=1.0)
    state = cup.init(jax.random.PRNGKey(0), config, spec)
    update = jax.jit(cup.update, static_argnums=(2, 3))
    _, over = update(state, make_batch(spec, [6.0, 5.0]), config, spec)
    assert (over["train/surrogate_cost"] < over["train/surrogate_cost_half"]).all()
    safe_state = cup.init(jax.random.PRNGKey(0), CONFIG, spec)
    _, safe = update(safe_state, make_batch(spec, [0.0, 0.0]), CONFIG, spec)
    assert (safe["train/multiplier"] == 0).all()
    assert safe["train/kl_projection"] < 0.05 * safe["train/kl_improvement"]


def test_the_weight_of_the_cost_is_one_over_one_minus_gamma_tilde_of_each_cost(monkeypatch):
    seen = []
    real = cup.projection_loss
    monkeypatch.setattr(cup, "projection_loss", lambda *a: seen.append(a[3]) or real(*a))
    spec = spec_for("gaussian")
    config = cup.Config(hidden=(8,), minibatch=64, multiplier_init=1.0, epochs=1, projection_epochs=1)
    with jax.disable_jit():
        cup.update(cup.init(jax.random.PRNGKey(0), config, spec), make_batch(spec, [1.0, 2.0]), config, spec)
    expected = [(1 - 0.99 * 0.95) / (1 - 0.99), (1 - 0.9 * 0.95) / (1 - 0.9)]
    np.testing.assert_allclose(seen[0], expected, rtol=1e-4)


def test_presets_are_the_columns_of_other_codes():
    _, printed = algorithms.load("cup-paper")
    assert printed == cup.Config()
    assert (printed.improvement, printed.projection_kl, printed.multiplier_max) == ("sqrt-kl", "half-new", 2.0)
    _, released = algorithms.load("cup-clip")
    assert (released.improvement, released.projection_kl, released.epochs) == ("clip", "new-half", 10)
    _, omnisafe = algorithms.load("cup-omnisafe")
    assert (omnisafe.cost_return, omnisafe.cost_window, omnisafe.multiplier, omnisafe.projection_delta) == (
        "undiscounted",
        100,
        "adam",
        0.01,
    )
    _, safepo = algorithms.load("cup-safepo", {"alpha": 0.5})
    assert (safepo.multiplier_max, safepo.cost_window, safepo.projection_delta, safepo.alpha) == (0.2, 50, 0.02, 0.5)


def plain_settings(**changes):
    return cup.Config(hidden=(8,), minibatch=16, **changes)


def test_the_direction_of_the_improvement_s_kl():
    policy, k, _, new, rows = problem("gaussian")
    (_, dist_k), (_, dist) = plain("gaussian", policy, k, rows.obs), plain("gaussian", policy, new, rows.obs)
    gap = float(cup.improvement_loss(policy, new, rows, CONFIG)) - float(
        cup.improvement_loss(policy, new, rows, plain_settings(improvement_kl="new-k"))
    )
    printed, other = (plain_kl("gaussian", *pair).mean() for pair in ((dist_k, dist), (dist, dist_k)))
    assert gap == pytest.approx(0.2 * (np.sqrt(printed) - np.sqrt(other)), rel=1e-2, abs=1e-5)


def test_the_printed_kl_inflates_the_noise_and_the_other_does_not():
    """For a mean shifted by d, KL(k, new) is least at std sqrt(s² + d²), KL(new, k) at s: docs/why-cup.md."""
    s, d = 0.6, 0.3
    policy = policy_for(spec_for("gaussian"), Common(hidden=(8,)))
    at = jax.vmap(lambda log_std: Normal(jnp.array([d, d]), jnp.full(2, log_std)))(jnp.log(jnp.linspace(0.3, 1.2, 901)))
    k = Normal(jnp.zeros(2), jnp.full(2, jnp.log(s)))
    stds = np.linspace(0.3, 1.2, 901)
    assert stds[np.argmin(policy.kl(k, at))] == pytest.approx(np.hypot(s, d), abs=2e-3)
    assert stds[np.argmin(policy.kl(at, k))] == pytest.approx(s, abs=2e-3)


def test_a_clipped_projection_gains_nothing_beyond_the_clip():
    policy, _, half, new, rows = problem("gaussian")
    config, weight = plain_settings(projection_surrogate="clip"), jnp.array([1.0, 0.5])
    ratio = np.exp(plain("gaussian", policy, new, rows.obs)[0](rows.action) - np.asarray(rows.logp_k))
    cost = np.asarray(rows.adv_c) @ np.asarray(weight)
    pessimistic = np.maximum(ratio * cost, np.clip(ratio, 0.8, 1.2) * cost)
    kl = plain_kl("gaussian", *(plain("gaussian", policy, params, rows.obs)[1] for params in (half, new)))
    got = float(cup.projection_loss(policy, new, rows, weight, config))
    assert got == pytest.approx((kl + pessimistic).mean(), rel=1e-3, abs=1e-4)


@pytest.mark.parametrize("beta", [0.0, 0.5])
def test_nu_is_found_while_projecting(beta):
    """Over the limit it rises in the very projection that needs it; far under it stays 0 and nothing is projected."""
    spec = spec_for("gaussian")
    config = plain_settings(multiplier="projection", multiplier_lr=1.0, beta=beta, projection_delta=np.inf)
    update = jax.jit(cup.update, static_argnums=(2, 3))
    state = cup.init(jax.random.PRNGKey(0), config, spec)
    new, over = update(state, make_batch(spec, [11.0, 0.0]), config, spec)
    assert new.multiplier.value[0] > 0 and new.multiplier.value[1] == 0
    assert over["train/surrogate_cost"][0] < over["train/surrogate_cost_half"][0]
    _, under = update(state, make_batch(spec, [-99.0, -99.0]), config, spec)
    assert (under["train/multiplier"] == 0).all() and under["train/kl_projection"] < 0.05 * under["train/kl_improvement"]


def test_nu_cannot_wind_up():
    """After fifty iterations far over the limit, a few under it bring nu back to 0."""
    spec = spec_for("gaussian")
    config = plain_settings(multiplier="projection", multiplier_lr=1.0, multiplier_max=2.0, epochs=1, projection_epochs=2)
    update = jax.jit(cup.update, static_argnums=(2, 3))
    state = cup.init(jax.random.PRNGKey(0), config, spec)
    for _ in range(50):
        state, _ = update(state, make_batch(spec, [200.0, 200.0]), config, spec)
    assert (state.multiplier.value == 2.0).all()
    for _ in range(3):
        state, _ = update(state, make_batch(spec, [-99.0, -99.0]), config, spec)
    assert (state.multiplier.value == 0.0).all()


def test_what_is_within_the_safe_set_is_its_own_projection():
    spec, config = spec_for("gaussian"), plain_settings(multiplier="projection")
    state = cup.init(jax.random.PRNGKey(0), config, spec)
    within, over = (
        jax.jit(cup.update, static_argnums=(2, 3))(state, make_batch(spec, cost), config, spec)[1]
        for cost in ([0, 0], [9, 9])
    )
    assert within["train/epochs_projection"] == 0 < over["train/epochs_projection"]
    assert within["train/approx_kl"] == within["train/kl_improvement"] and within["train/kl_projection"] < 1e-9


def test_a_floor_under_the_noise_has_two_ends():
    assert cup.Config(noise_floor=(0.3, 0.2)).noise_floor == (0.3, 0.2)
    for wrong, words in (((0.3,), "give two numbers"), ((0.3, 0.0), "give 0.001 to 1e3")):
        with pytest.raises(UserError, match=words):
            cup.Config(noise_floor=wrong)


def test_the_predicted_cost_is_j_c_plus_what_the_surrogate_promises():
    spec = spec_for("gaussian")
    state, batch = cup.init(jax.random.PRNGKey(0), CONFIG, spec), make_batch(spec, [6.0, 1.0])
    _, metrics = jax.jit(cup.update, static_argnums=(2, 3))(state, batch, CONFIG, spec)
    centred = np.asarray(metrics["train/surrogate_cost"])  # of A^C standardised: mean ratio A
    std, mean = np.asarray(batch.adv_c).std(axis=0), np.asarray(batch.adv_c).mean(axis=0)
    assert np.isfinite(centred).all()
    promised = (np.asarray(metrics["train/predicted_cost"]) - [6.0, 1.0]) / np.asarray(batch.cost_span)
    np.testing.assert_allclose(promised, centred * std, atol=0.05 + 0.2 * np.abs(mean).max())


def test_a_belief_is_kept_only_where_it_is_asked_for():
    spec = spec_for("gaussian")
    assert cup.init(jax.random.PRNGKey(0), CONFIG, spec).belief is None
    config = plain_settings(cost_memory=10.0, multiplier="projection")
    state = cup.init(jax.random.PRNGKey(0), config, spec)
    new, metrics = jax.jit(cup.update, static_argnums=(2, 3))(state, make_batch(spec, [6.0, 1.0]), config, spec)
    np.testing.assert_allclose(new.belief.level, [6.0, 1.0])
    np.testing.assert_allclose(metrics["train/believed_cost"], [6.0, 1.0])


def test_the_recommended_cup_is_the_printed_one_with_every_part_mended():
    _, recommended = algorithms.load("cup")
    for part in algorithms.MENDED.values():
        for name, value in part.items():
            assert getattr(recommended, name) == value != getattr(cup.Config(), name)


def test_the_printed_cup_is_that_of_before_it_got_its_name(tmp_path):
    """Against the metrics of three iterations of `cup` as it was; to the last bit on the processor that made them,
    elsewhere nearly, in the first: later ones depend on the last bits."""
    stored = Path(__file__).with_name("printed_cup.json")
    before = json.loads(stored.read_text())
    run = train("hopper-speed", "cup-paper", steps=3000, batch_size=1000, out=tmp_path / "run", display=Silent())
    now = run.progress()
    same_machine = run.config["machine"]["cpu"] == before["cpu"] and run.config["versions"]["jaxlib"] == before["jaxlib"]
    for name, values in before["metrics"].items():
        if same_machine:
            np.testing.assert_array_equal(now[name], values, err_msg=name)
        else:
            np.testing.assert_allclose(now[name][0], values[0], rtol=0.05, atol=0.01, err_msg=name)


def test_an_update_is_compiled_once():
    """The state that comes out has the types of the one that went in: else the second iteration would compile again."""
    spec = spec_for("gaussian")
    config = algorithms.load("cup", {"hidden": (8,), "minibatch": 16})[1]
    state = cup.init(jax.random.PRNGKey(0), config, spec)
    new, _ = jax.jit(cup.update, static_argnums=(2, 3))(state, make_batch(spec, [6.0, 1.0]), config, spec)
    before, after = ([(x.shape, x.dtype, x.weak_type) for x in jax.tree.leaves(s)] for s in (state, new))
    assert before == after
