"""Actions: what action a network's outputs stand for, in NumPy and in JAX."""

import json
from dataclasses import asdict

import numpy as np
import pytest

from cuprl.core.actions import Box, Discrete, MultiDiscrete
from cuprl.errors import UserError


def test_real_actions_are_the_outputs_themselves():
    outputs = np.random.default_rng(0).normal(size=(4, 2))
    action = Box(2, (-1.0, -1.0), (1.0, 1.0))
    assert action.outputs == 2 and action.decode(outputs) is outputs


@pytest.mark.parametrize("leading", [(), (6,), (3, 6)])
def test_a_choice_is_the_likeliest(leading):
    action = Discrete(5)
    outputs = np.random.default_rng(0).normal(size=(*leading, action.outputs))
    found = action.decode(outputs)
    assert np.shape(found) == (*leading, *action.shape)
    np.testing.assert_array_equal(np.take_along_axis(outputs, found[..., None], -1)[..., 0], outputs.max(axis=-1))


@pytest.mark.parametrize("leading", [(), (6,), (3, 6)])
def test_several_choices_are_each_its_own(leading):
    action = MultiDiscrete((3, 2, 4))
    outputs = np.random.default_rng(0).normal(size=(*leading, 9))
    assert action.outputs == 9
    parts = outputs[..., :3], outputs[..., 3:5], outputs[..., 5:]
    each = [Discrete(n).decode(part) for n, part in zip(action.sizes, parts)]
    np.testing.assert_array_equal(action.decode(outputs), np.stack(each, axis=-1))


@pytest.mark.parametrize("action", [Box(9, (-1.0,) * 9, (1.0,) * 9), Discrete(9), MultiDiscrete((3, 2, 4))])
def test_the_same_in_jax(action):
    import jax.numpy as jnp

    outputs = np.random.default_rng(1).normal(size=(7, 9)).astype(np.float32)
    np.testing.assert_array_equal(action.decode(jnp.asarray(outputs), jnp), action.decode(outputs))


def test_no_action_within_bounds_is_a_last_digit_outside():
    box = Box(3, (-0.4, 0.1, -np.inf), (0.4, 0.7, 1.0))  # in float32 the nearest to 0.4 is more, that to 0.7 less
    low, high = (bound.astype(np.float64) for bound in box.inside)
    assert (low >= box.low).all() and (high <= box.high).all()
    np.testing.assert_allclose([low[:2], high[:2]], [box.low[:2], box.high[:2]], rtol=1e-7)
    assert low[2] == -np.inf and high[2] == 1.0
    squashed = Box(1, (-0.4,), (0.4,)).squash(np.array([[-50.0], [50.0]], np.float32)).astype(np.float64)
    assert (np.abs(squashed) <= 0.4).all() and (np.abs(squashed) > 0.3999999).all()


def test_the_sizes_of_numpy_are_plain_ones():
    box = Box(np.int64(2), np.full(2, -1.0, np.float32), (1, 1))
    actions = (box, Discrete(np.int64(3)), MultiDiscrete(np.array([2, 3])))
    written = [json.loads(json.dumps(asdict(action))) for action in actions]
    assert written == [{"dim": 2, "low": [-1.0, -1.0], "high": [1.0, 1.0]}, {"n": 3}, {"sizes": [2, 3]}]


@pytest.mark.parametrize("low, high", [(1.0, -1.0), (float("nan"), 1.0)])
def test_bounds_the_wrong_way_round_are_refused(low, high):
    with pytest.raises(UserError, match=r"action 1 of a Box has the bounds .*; give the lower one as low"):
        Box(2, (-1.0, low), (1.0, high))
