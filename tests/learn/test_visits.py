"""Weights of states, against plain sums over whole episodes."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np

from algorithms.plain_policies import spec_for
from cuprl.core.actions import Box
from cuprl.core.spec import Constraint, Spec
from cuprl.learn.settings import Common, SecondOrder
from cuprl.learn.visits import discounted_steps, episode_steps, visits

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


def test_where_no_episode_began_the_span_is_that_of_a_full_one():
    seen = visits(jnp.array([2]), jnp.zeros((3, 1)), SPEC, Common(cost_weights="discounted"))
    np.testing.assert_allclose(seen.span, [(1 - 0.9**6) / 0.1, 6.0], rtol=1e-5)


def test_discounted_steps_of_short_and_of_undiscounted_episodes():
    spec = replace(spec_for("gaussian", 1, horizon=3), constraints=(Constraint("a", 1.0, 0.5), Constraint("b", 1.0, 1.0)))
    np.testing.assert_allclose(discounted_steps(spec, SecondOrder()), [1.75, 3.0])
    np.testing.assert_allclose(discounted_steps(spec, SecondOrder(cost_return="undiscounted")), [3.0, 3.0])
