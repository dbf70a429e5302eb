"""Weights of states, against plain sums over whole episodes."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np

from algorithms.plain_policies import spec_for
from cuprl.core.actions import Box
from cuprl.core.spec import Constraint, Spec
from cuprl.learn import visits as of_visits
from cuprl.learn.settings import Common, SecondOrder
from cuprl.learn.visits import discounted_steps, episode_steps, steps_at, visits

DISCOUNTS = (0.9, 1.0)
SPEC = Spec("x", 2, Box(1, (-1.0,), (1.0,)), tuple(Constraint(f"c{d}", 1.0, d) for d in DISCOUNTS), 6)


def test_steps_are_counted_from_each_start():
    done = jnp.array([[0, 0], [1, 0], [0, 0], [0, 1]])
    np.testing.assert_array_equal(episode_steps(jnp.array([0, 3]), done), [[0, 3], [1, 4], [0, 5], [1, 6]])


def test_discounted_weights_are_powers_of_each_cost_s_discount_and_one_on_average():
    done = jnp.array([[0, 0], [1, 0], [0, 0], [0, 1]])
    seen = visits(jnp.array([0, 3]), done, SPEC, Common(cost_weights="discounted"))
    powers = 0.9 ** np.array([[0, 3], [1, 4], [0, 5], [1, 6]])
    np.testing.assert_allclose(seen.weight[..., 0], powers / powers.mean(), rtol=1e-5)
    np.testing.assert_allclose(seen.weight[..., 1], 1.0)  # an undiscounted limit weighs all steps alike
    np.testing.assert_allclose(seen.span, [powers.sum() / 2, 8 / 2], rtol=1e-5)  # two episodes began
    alike = visits(jnp.array([0, 3]), done, SPEC, Common())
    np.testing.assert_allclose(alike.weight, 1.0)
    np.testing.assert_allclose(alike.span, [(1 - 0.9**6) / 0.1, 6.0], rtol=1e-5)


def test_where_no_episode_began_the_rows_are_half_an_episode_of_six_steps():
    seen = visits(jnp.array([2]), jnp.zeros((3, 1)), SPEC, Common(cost_weights="discounted"))
    np.testing.assert_allclose(seen.span, [2 * (0.9**2 + 0.9**3 + 0.9**4), 6.0], rtol=1e-5)
    assert seen.episodes == 0.5
    began = visits(jnp.array([5]), jnp.array([[1], [0], [0]]), SPEC, Common(cost_weights="discounted"))
    assert began.episodes == 1.0


def test_late_in_all_episodes_the_weights_are_still_one_on_average():
    """0.9^9000 is 0 in 32 bits; weights that are 0 / 0 would put a NaN into nu, and nothing would be projected any more."""
    spec = replace(SPEC, horizon=20_000)
    seen = visits(jnp.array([9000, 9002]), jnp.zeros((4, 2)), spec, Common(cost_weights="discounted"))
    powers = 0.9 ** (np.arange(4)[:, None] + np.array([0, 2]))
    np.testing.assert_allclose(seen.weight[..., 0], powers / powers.mean(), rtol=1e-5)
    np.testing.assert_allclose(seen.weight[..., 1], 1.0)
    np.testing.assert_allclose(seen.span, [0.01 * 10, 20_000], rtol=1e-4)  # hardly anything, but no 0


def test_the_steps_of_very_long_episodes_take_no_memory(monkeypatch):
    gamma = np.array([0.9, 0.999999, 1.0])
    expected = steps_at(gamma, 5000)
    monkeypatch.setattr(of_visits, "MANY", 10)
    np.testing.assert_allclose(steps_at(gamma, 5000), expected, rtol=1e-6)
    np.testing.assert_allclose(steps_at(gamma, 10**12), [10.0, 1e6, 1e12], rtol=1e-4)


def test_discounted_steps_of_short_and_of_undiscounted_episodes():
    spec = replace(spec_for("gaussian", 1, horizon=3), constraints=(Constraint("a", 1.0, 0.5), Constraint("b", 1.0, 1.0)))
    np.testing.assert_allclose(discounted_steps(spec, SecondOrder()), [1.75, 3.0])
    np.testing.assert_allclose(discounted_steps(spec, SecondOrder(cost_return="undiscounted")), [3.0, 3.0])
