"""Specs go through JSON and come back equal; what is no action is refused."""

import json

import numpy as np
import pytest

from cuprl.core.actions import Box, Discrete, MultiDiscrete
from cuprl.core.spec import Constraint, Spec
from cuprl.core.spec_json import action_from_json, spec_from_json, spec_to_json


@pytest.mark.parametrize("action", [Box(2, (-1.0, -np.inf), (1.0, np.inf)), Discrete(4), MultiDiscrete((3, 2))])
@pytest.mark.parametrize("step_seconds", [None, 0.02])
def test_there_and_back(action, step_seconds):
    spec = Spec("arm", 5, action, (Constraint("heat", 1.5, 0.9), Constraint("force", 0.0)), 100, step_seconds)
    text = json.dumps(spec_to_json(spec), allow_nan=False)  # strict: infinity is null
    assert spec_from_json(json.loads(text)) == spec
    assert action_from_json(json.loads(text)["action"]) == action


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"kind": "Sphere"},
        {"kind": "Discrete"},
        {"kind": "Discrete", "n": 0},
        {"kind": "Discrete", "n": 2, "m": 3},
        {"kind": "Box", "dim": 2, "low": [0.0], "high": [1.0, 1.0]},
        {"kind": "Box", "dim": 1, "low": ["0"], "high": [1.0]},
        {"kind": "MultiDiscrete", "sizes": 3},
    ],
)
def test_no_action(values):
    with pytest.raises((KeyError, TypeError, ValueError)):
        action_from_json(values)
