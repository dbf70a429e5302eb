"""Specs and their actions: what they refuse, and what they take for a tuple."""

import dataclasses

import numpy as np
import pytest

import cuprl
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
