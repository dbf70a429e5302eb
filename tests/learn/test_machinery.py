"""Multipliers, normaliser, shuffles, minibatch fits, critics, settings."""

import dataclasses
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from cuprl import algorithms
from cuprl.core.parse import parse_value
from cuprl.errors import UserError
from cuprl.learn import multipliers
from cuprl.learn.critics import critic_loss, fit_critics, init_critics, values
from cuprl.learn.full_batch import fit_critics_full_batch
from cuprl.learn.minibatch import Fit, clipped, fit, init_adam, shuffle, shuffled_minibatches, within
from cuprl.learn.ranges import FINITE
from cuprl.learn.settings import Common, FirstOrder, configure, setting
from cuprl.learn.types import State


def test_ascent_is_the_papers_rule_and_stays_in_its_bounds():
    nu = multipliers.init_multiplier(2, 0.5)
    nu = multipliers.ascent(nu, jnp.array([10.0, -100.0]), 0.01, 2.0)
    np.testing.assert_allclose(nu.value, [0.6, 0.0], rtol=1e-6)
    assert multipliers.ascent(nu, jnp.array([1e6, 0.0]), 0.01, 2.0).value[0] == 2.0


def test_adam_multiplier_against_plain_adam():
    rng = np.random.default_rng(0)
    nu, value, first, second = multipliers.init_multiplier(1, 1.0), 1.0, 0.0, 0.0
    for k in range(1, 20):
        excess = rng.normal()
        nu = multipliers.adam(nu, jnp.array([excess]), 0.035, 2.0)
        first, second = 0.9 * first + 0.1 * excess, 0.999 * second + 0.001 * excess**2
        value += 0.035 * (first / (1 - 0.9**k)) / (np.sqrt(second / (1 - 0.999**k)) + 1e-8)
        value = min(max(value, 0.0), 2.0)
        assert nu.value[0] == pytest.approx(value, rel=1e-4)


def test_pid_answers_at_once_and_forgets_what_is_over():
    nu = multipliers.init_multiplier(1, 0.0)
    up = multipliers.pid(nu, jnp.array([5.0]), 0.01, 2.0)
    assert up.value[0] == pytest.approx(0.1 * 5 + 0.01 * 5, rel=1e-5)
    assert multipliers.pid(up, jnp.array([-5.0]), 0.01, 2.0).value[0] == 0.0


@pytest.mark.parametrize("rows", [1, 7, 64, 5000])
def test_shuffle_is_a_permutation_and_each_key_gives_another(rows):
    order = np.asarray(shuffle(jax.random.PRNGKey(0), rows))
    np.testing.assert_array_equal(np.sort(order), np.arange(rows))
    if rows > 7:
        assert (order != np.asarray(shuffle(jax.random.PRNGKey(1), rows))).any()


def test_shuffle_has_no_favourite_places():
    orders = jax.vmap(lambda key: shuffle(key, 50))(jax.random.split(jax.random.PRNGKey(0), 4000))
    np.testing.assert_allclose(np.asarray(orders).mean(axis=0), 24.5, atol=1.0)  # std of the mean: 14.4 / sqrt(4000)


def test_minibatches_keep_rows_together():
    data = {"a": jnp.arange(130), "b": jnp.arange(130)[:, None] * 2.0}
    parts = shuffled_minibatches(jax.random.PRNGKey(0), data, 64)
    assert parts["a"].shape == (2, 64) and parts["b"].shape == (2, 64, 1)
    np.testing.assert_array_equal(parts["b"][..., 0], 2.0 * parts["a"])
    assert len(np.unique(parts["a"])) == 128


def test_fit_is_plain_adam_on_minibatches():
    """One minibatch an epoch, so that the order of rows cannot matter: the steps are Adam's by hand."""
    x = np.random.default_rng(0).normal(size=(32, 3))
    params = {"w": jnp.ones(3)}
    settings = FirstOrder(policy_lr=0.1, epochs=5, minibatch=32)
    loss, start = lambda p, rows: ((rows - p["w"]) ** 2).mean(), Fit(params, init_adam(params))
    done = fit(loss, start, jnp.array(x), jax.random.PRNGKey(0), settings, 1.0)
    w, first, second = np.ones(3), np.zeros(3), np.zeros(3)
    for k in range(1, 6):
        gradient = 2 * (w - x).mean(axis=0) / 3
        first, second = 0.9 * first + 0.1 * gradient, 0.999 * second + 0.001 * gradient**2
        w = w - 0.1 * (first / (1 - 0.9**k)) / (np.sqrt(second / (1 - 0.999**k)) + 1e-8)
    np.testing.assert_allclose(done.params["w"], w, rtol=1e-4)
    assert done.epochs == 5


def test_fit_stops_after_the_epoch_that_breaks_the_rule():
    params = {"w": jnp.zeros(())}
    data = jnp.ones((64, 1))
    loss, start = lambda p, rows: -(p["w"] * rows).mean(), Fit(params, init_adam(params))
    arguments = (loss, start, data, jax.random.PRNGKey(0), FirstOrder(policy_lr=0.1, epochs=50, minibatch=64), 1.0)
    done = fit(*arguments, within(lambda p, rows: p["w"], 0.55))
    assert done.epochs == 6  # Adam climbs 0.1 a step; 0.6 is the first above
    nan = fit(*arguments, within(lambda p, rows: p["w"] * jnp.nan, 0.55))
    assert nan.epochs == 1


def test_without_a_limit_no_kl_is_computed():
    def kl(params, rows):
        raise AssertionError

    assert within(kl, np.inf)({}, {})


def test_gradient_clipping_only_shortens():
    g = jnp.array([3.0, 4.0])
    np.testing.assert_allclose(clipped(g, 1.0), g / 5, rtol=1e-6)
    np.testing.assert_allclose(clipped(g, 40.0), g)
    assert (clipped(jnp.zeros(2), 1.0) == 0.0).all()


def test_critic_loss_and_its_gradient():
    (critic,) = init_critics(jax.random.PRNGKey(0), 2, (4,), 0)
    rng = np.random.default_rng(0)
    obs, target = jnp.array(rng.normal(size=(9, 2))), jnp.array(rng.normal(size=9))
    plain = float(((np.asarray(values([critic], obs))[:, 0] - np.asarray(target)) ** 2).mean()) + 0.01 * sum(
        float((np.asarray(leaf) ** 2).sum()) for leaf in jax.tree.leaves(critic)
    )
    assert critic_loss(critic, obs, target, 0.01) == pytest.approx(plain, rel=1e-5)
    gradient = jax.grad(critic_loss)(critic, obs, target, 0.01)
    weight, bias = critic[0]
    nudge = jnp.zeros_like(bias).at[1].set(1e-2)
    up, down = ([(weight, bias + s * nudge), critic[1]] for s in (1, -1))
    slope = (critic_loss(up, obs, target, 0.01) - critic_loss(down, obs, target, 0.01)) / 2e-2
    assert gradient[0][1][1] == pytest.approx(float(slope), rel=2e-2)


@pytest.mark.parametrize("algo", ["ppo", "trpo"])  # minibatches, the whole batch
def test_critics_are_fitted_apart_on_the_same_rows(algo):
    """Three critics fitted together are what each alone becomes from the same key."""
    module, preset = algorithms.find(algo)
    config = module.Config(**preset, hidden=(8,), minibatch=16, critic_epochs=3)
    rng = np.random.default_rng(1)
    obs, ret = (jnp.array(rng.normal(size=(50, k)), jnp.float32) for k in (4, 3))
    critics = init_critics(jax.random.PRNGKey(2), 4, (8,), 2)

    def fitted(critics: list, ret: jax.Array):
        state = State({}, critics, {}, init_adam(critics), {}, jax.random.PRNGKey(3))
        batch = SimpleNamespace(obs=obs, ret=ret, lr_scale=1.0)
        if algo == "trpo":
            return fit_critics_full_batch(state, batch, config)
        return fit_critics(state, batch, state.key, config)

    together, alone = fitted(critics, ret), [fitted([c], ret[:, [i]]) for i, c in enumerate(critics)]
    for i, one in enumerate(alone):
        np.testing.assert_allclose(ravel_pytree(together.params[i])[0], ravel_pytree(one.params[0])[0], rtol=1e-6)
        assert not np.allclose(ravel_pytree(critics[i])[0], ravel_pytree(one.params[0])[0], rtol=1e-3)
    np.testing.assert_allclose(together.opt_state.mu, np.concatenate([c.opt_state.mu for c in alone]), rtol=1e-5)
    assert together.opt_state.count == alone[0].opt_state.count > 0


@pytest.mark.parametrize("text, value", [("2.5e6", 2_500_000), ("2_500_000", 2_500_000), ("7", 7)])
def test_whole_numbers_as_people_write_them(text, value):
    assert parse_value(int, text, "steps") == value


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"alpa": 1}, "alpa"),
        ({"num_envs": 3}, "multiple"),
        ({"gamma": 2.0}, "gamma is 2.0; give 0 to 1"),
        ({"gamma": float("nan")}, "gamma is nan; give 0 to 1"),
        ({"hidden": [64, "a"]}, "hidden is 'a'; give a whole number"),
        ({"hidden": [64, None]}, "hidden is 64,None; give 1 to 1e5"),
        ({"normalise": 3}, "normalise is 3; give true or false"),
        ({"critic_lr": None}, "critic_lr is None; give 0 or more"),
        ({"gamma": "much"}, "a number"),
        ({"batch_size": "1.5"}, "whole number"),
        ({"time_limits": "no"}, "bootstrap"),
    ],
)
def test_wrong_settings_are_named(changes, words):
    with pytest.raises(UserError, match=words):
        configure(Common, changes, "x")


@pytest.mark.parametrize("algo", [name for name, entry in algorithms.ALGORITHMS.items() if not entry.preset])
def test_every_number_says_what_it_accepts(algo):
    _, config = algorithms.load(algo)
    numbers = [f for f in dataclasses.fields(config) if f.type.startswith(("int", "float", "tuple"))]
    assert len(numbers) > 10 and all(f.metadata["range"] is not FINITE for f in numbers)


def test_a_config_of_ones_own_is_held_to_its_ranges():
    @dataclasses.dataclass(frozen=True)
    class Config(Common):
        price: float = setting(0.2, "what cost costs", "more than 0")

    assert Config(price=1e-9).price == 1e-9
    with pytest.raises(UserError, match="price is 0; give more than 0"):
        configure(Config, {"price": 0}, "x")
    with pytest.raises(ValueError, match="no range"):
        setting(0.2, "what cost costs", "positive")


def test_an_algorithm_is_found_in_other_letters():
    assert algorithms.full_name("CUP_Clip") == "cup-clip"
    assert algorithms.find("PPO-lag") == algorithms.find("ppo-lag")
    assert algorithms.full_name("python:My_Module") == "python:My_Module"


def test_settings_from_words_and_from_json():
    config = configure(Common, {"hidden": "32,16", "anneal": "no", "minibatch": 1}, "x")
    assert config.hidden == (32, 16) and config.anneal is False
    assert configure(Common, {"hidden": [32, 16]}, "x").hidden == (32, 16)
