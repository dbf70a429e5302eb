"""CPO: its cases, and where its steps land."""

import numpy as np
import pytest

from algorithms.plain_policies import plain_ratio
from algorithms.second_order import cost_changes, updated


@pytest.mark.parametrize("m", [1, 2, 3])
@pytest.mark.parametrize("excess, case", [(-50.0, 3), (-1.0, 2), (1.0, 1), (50.0, 0)])
def test_cpo_says_which_case_it_took_and_does_what_it_says(excess, case, m):
    state, batch, new, metrics = updated("cpo", m=m, excess=excess * np.array([1.0, 0.1, 1.0])[:m])
    assert metrics["train/case"] == case
    assert not metrics["train/line_search_failed"]
    c, change = np.asarray(metrics["train/constraint"]), cost_changes(state, new, batch)
    if case >= 2:
        assert (c + change <= 1e-4).all()
        assert (plain_ratio(new.policy, state.policy, batch.obs, batch.action) - 1) @ np.asarray(batch.adv_r) > 0
    else:
        assert (change < 0).all()


def test_in_a_small_trust_region_cpo_lands_on_the_limit():
    """Where the linear model is exact, one step takes back the whole excess c: scale and sign of the constraint."""
    state, batch, new, metrics = updated("cpo", m=1, excess=0.1, delta=1e-5)
    assert metrics["train/case"] == 1 and metrics["train/multiplier"][0] > 0
    kept = 0.8 ** (float(metrics["train/line_search_tries"]) - 1)
    assert cost_changes(state, new, batch)[0] == pytest.approx(-kept * float(metrics["train/constraint"][0]), rel=0.1)


def test_cpo_tightens_the_constraint_that_binds():
    _, _, _, metrics = updated("cpo", excess=[-50.0, 0.0])
    nu = metrics["train/multiplier"]
    assert nu[0] == 0 and nu[1] > 0
