"""Which observations can be used."""

import numpy as np
import pytest

from cuprl.core.observations import LARGEST, fault


@pytest.mark.parametrize(
    "obs", [np.zeros(3), np.full((2, 3), -1e14), np.zeros((0, 3)), np.full(4, 1e15), np.ones(2, np.float32)]
)
def test_finite_ones_of_a_size_that_squares(obs):
    assert fault(obs) == ""


@pytest.mark.parametrize(
    "value, shown", [(np.nan, "nan"), (np.inf, "inf"), (-np.inf, "-inf"), (1e308, "1e+308"), (2e15, "2e+15")]
)
def test_the_entry_is_named_wherever_it_is(value, shown):
    obs = np.zeros((4, 2, 5))
    obs[3, 1, 2] = value
    assert fault(obs) == f"obs[2] is {shown}" and fault(obs[3, 1], "next_obs") == f"next_obs[2] is {shown}"


def test_of_many_three_are_named():
    assert fault(np.full(6, 2 * LARGEST)).endswith("obs[2] is 2e+15 and 3 more are wrong")
