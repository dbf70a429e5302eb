"""Specs: what they refuse, what they take for a tuple, and what action a network's outputs stand for."""

import dataclasses

import numpy as np
import pytest

import cuprl
from cuprl.core.spec import Box, Discrete, MultiDiscrete
from cuprl.errors import UserError

ARM = cuprl.Spec(
    "arm", 3, cuprl.Box(2, (-1.0, -1.0), (1.0, 1.0)), (cuprl.Constraint("heat", 5.0), cuprl.Constraint("force", 2.5)), 50
)


@pytest.mark.parametrize(
    "change, words",
    [
        ({"constraints": (ARM.constraints[0], ARM.constraints[0])}, "2 constraints of .* are named 'heat'"),
        ({"constraints": ARM.constraints[0]}, "give a tuple"),
        ({"constraints": ("heat",)}, "give cuprl.Constraint"),
        ({"obs_dim": 0}, "obs_dim of .* is 0; give a whole number of at least 1"),
        ({"horizon": 2.5}, "horizon of .* is 2.5"),
        ({"action": 3}, "give a cuprl.Box"),
    ],
)
def test_a_wrong_spec_is_refused_before_anything_moves(change, words):
    with pytest.raises(UserError, match=words):
        dataclasses.replace(ARM, **change)


def test_lists_and_arrays_in_a_spec_become_tuples():
    spec = dataclasses.replace(ARM, constraints=list(ARM.constraints), action=cuprl.Box(2, np.array([-1, -1]), [1, 1]))
    assert spec.action == cuprl.Box(2, (-1.0, -1.0), (1.0, 1.0)) and hash(spec)
    with pytest.raises(UserError, match="low of a Box has 1 numbers; give 3"):
        cuprl.Box(3, (-1.0,), (1.0, 1.0, 1.0))
    with pytest.raises(UserError, match="n of a Discrete is 0"):
        cuprl.Discrete(0)
    with pytest.raises(UserError, match="a size of a MultiDiscrete is 0"):
        cuprl.MultiDiscrete([2, 0])


# --- outputs and actions ------------------------------------------------------------------------------------------------


def test_real_actions_are_the_outputs_themselves():
    outputs = np.random.default_rng(0).normal(size=(4, 2))
    assert ARM.action.outputs == 2 and ARM.action.decode(outputs) is outputs


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
