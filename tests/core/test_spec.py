"""Specs and their actions: what they refuse, and what they take for a tuple."""

import dataclasses
import json

import numpy as np
import pytest

import cuprl
from cuprl.core.spec_json import spec_to_json
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
        ({"step_seconds": 0.0}, "step_seconds of .* is 0.0; give a finite number above 0"),
        ({"step_seconds": float("nan")}, "step_seconds of .* is nan"),
        ({"step_seconds": "often"}, "step_seconds of .* is 'often'; give a number"),
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


def test_the_numbers_of_numpy_and_of_words_are_plain_ones():
    constraint = cuprl.Constraint("heat", np.float32(25), "0.5", np.float64(2))
    spec = cuprl.Spec("arm", np.prod((3, 2)), cuprl.Discrete(np.int64(3)), (constraint,), np.int32(50))
    written = json.loads(json.dumps(spec_to_json(spec)))
    assert (written["obs_dim"], written["horizon"], written["action"]["n"]) == (6, 50, 3)
    assert written["constraints"] == [{"name": "heat", "limit": 25.0, "discount": 0.5, "step_bound": 2.0}]
    with pytest.raises(UserError, match="the discount of cost 'heat' is 'most'; give a number"):
        cuprl.Constraint("heat", 25, "most")
