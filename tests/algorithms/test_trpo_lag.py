"""TRPO with multipliers."""

import numpy as np

from algorithms.plain_policies import plain_ratio
from algorithms.second_order import cost_changes, updated


def test_it_climbs_its_lagrangian():
    state, batch, new, metrics = updated("trpo-lag", excess=500.0)
    np.testing.assert_allclose(metrics["train/multiplier"], [2.0, 2.0])
    adv_c = np.asarray(batch.adv_c, np.float64)
    lagrangian = np.asarray(batch.adv_r) - 2.0 * ((adv_c - adv_c.mean(axis=0)) / adv_c.std(axis=0)).sum(axis=1)
    assert (plain_ratio(new.policy, state.policy, batch.obs, batch.action) - 1) @ lagrangian > 0
    assert cost_changes(state, new, batch).sum() < 0
