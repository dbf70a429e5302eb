"""What a policy's file may say of itself, and hold."""

import numpy as np
import pytest

from cuprl.core.spec_json import spec_to_json
from cuprl.policies.checks import check_info, check_sizes, check_spread, check_weights, layers_of, sizes_of
from policies.arms import SPECS

INFO = {
    "task": "arm",
    "algo": "cup",
    "seed": 1,
    "iteration": 2,
    "limits": {"cost": 1.0},
    "log_std": [0.0, 0.0],
    "spec": spec_to_json(SPECS["gaussian"]),
}
ARRAYS = {
    "mean": np.zeros(5),
    "scale": np.ones(5),
    "clip": np.array(np.inf),
    "weight0": np.zeros((5, 8)),
    "bias0": np.zeros(8),
    "weight1": np.zeros((8, 2)),
    "bias1": np.zeros(2),
}


def with_action(**changes):
    return {**INFO, "spec": {**INFO["spec"], "action": {**INFO["spec"]["action"], **changes}}}


@pytest.mark.parametrize(
    "info",
    [
        {**INFO, "task": 3},
        {**INFO, "limits": {"cost": "much"}},
        {**INFO, "spec": None},
        {**INFO, "spec": {**INFO["spec"], "obs_dim": 0}},
        {**INFO, "spec": {**INFO["spec"], "obs_dim": 2.0}},
        {**INFO, "spec": {**INFO["spec"], "step_seconds": -0.02}},
        {**INFO, "spec": {**INFO["spec"], "step_seconds": "often"}},
        with_action(kind="Sphere"),
        with_action(dim=3),
        with_action(low=[0.0, float("nan")]),
        with_action(high=["1", None]),
        with_action(low=None),
        with_action(n=4),
        {**INFO, "spec": {**INFO["spec"], "action": {"kind": "MultiDiscrete", "sizes": [3, -1]}}},
    ],
)
def test_what_no_policy_says(info):
    check_info(INFO)
    with pytest.raises((KeyError, TypeError, ValueError)):
        check_info(info)


@pytest.mark.parametrize(
    "name, array",
    [
        ("mean", np.zeros(4)),
        ("weight0", np.zeros((5, 7))),
        ("bias1", np.zeros(3)),
        ("scale", np.ones(5, int)),
    ],
)
def test_what_no_network_holds(name, array):
    check_sizes(ARRAYS, INFO["spec"])
    with pytest.raises(ValueError, match="not of the spec's sizes"):
        check_sizes({**ARRAYS, name: array}, INFO["spec"])


@pytest.mark.parametrize("log_std", [None, [0.0], [0.0, 0.0, 0.0], [0.0, "x"]])
def test_a_spread_for_every_real_action(log_std):
    with pytest.raises(ValueError, match="log_std does not fit"):
        check_spread(log_std, SPECS["gaussian"].action)


def test_weights_are_finite_and_a_scale_shows_something():
    check_weights(ARRAYS)
    assert [weight.shape for weight, _ in layers_of(ARRAYS)] == [(5, 8), (8, 2)] and sizes_of(ARRAYS) == "5 x 8 x 2"
    for name, value in (("bias0", np.nan), ("weight1", np.inf), ("scale", 0.0)):
        with pytest.raises(ValueError, match="NaN or infinite"):
            check_weights({**ARRAYS, name: np.full_like(ARRAYS[name], value)})
