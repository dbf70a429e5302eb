"""Problems that come with cuprl: their transitions and costs, worked by hand."""

import numpy as np
import pytest

from cuprl.errors import UserError
from cuprl.theory import GENERATORS
from cuprl.theory.generators import random_cmdp


def test_random_generator_options():
    assert random_cmdp(seed=4).mean_reward.tolist() == random_cmdp(seed=4).mean_reward.tolist()
    assert random_cmdp(seed=4).mean_reward.tolist() != random_cmdp(seed=5).mean_reward.tolist()
    assert (random_cmdp(states=20, sparsity=0.8, seed=0).transition == 0).mean() > 0.6
    for bad in ({"states": 0}, {"sparsity": 1.5}, {"tightness": -0.1}, {"gamma": 1.0}):
        with pytest.raises(UserError):
            random_cmdp(**bad)


def test_inventory_transitions_by_hand():
    """Stock 1, order 2: 3 on the shelf, and 0 to 4 customers come."""
    cmdp = GENERATORS["inventory"]()
    np.testing.assert_allclose(cmdp.transition[1, 2, :4], [0.25 + 0.15, 0.3, 0.2, 0.1])
    assert cmdp.mean_costs[0, 1, 2] == pytest.approx(0.15)  # one customer of four is sent away
    sold = 0.2 * 1 + 0.3 * 2 + 0.4 * 3
    assert cmdp.mean_reward[1, 2] == pytest.approx(2.0 * sold - 1.4 * 2 - 0.25 * (3 - sold))


def test_queue_and_gridworld_transitions_by_hand():
    queue = GENERATORS["queue"]()
    np.testing.assert_allclose(queue.transition[0, 0, :2], [0.6, 0.4])
    np.testing.assert_allclose(queue.transition[2, 2, 1:4], [0.8 * 0.6, 0.8 * 0.4 + 0.2 * 0.6, 0.2 * 0.4])
    np.testing.assert_allclose(queue.transition[10, 2, 9:], [0.8 * 0.6, 0.8 * 0.4 + 0.2])
    grid = GENERATORS["gridworld"]()
    start, right = grid.state_names.index("(2, 0)"), grid.action_names.index("right")
    ahead = grid.state_names.index("(2, 1)")
    assert grid.transition[start, right, ahead] == pytest.approx(0.9 + 0.025)
    hazard = grid.state_names.index("(2, 2)")
    assert grid.mean_costs[0, ahead, right] == pytest.approx(grid.transition[ahead, right, hazard])
