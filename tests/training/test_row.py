"""The common parts of a row: means of episodes, unknown where there are none, and the clock."""

import numpy as np

from cuprl.core.actions import Box
from cuprl.core.episodes import Episodes
from cuprl.core.spec import Constraint, Spec
from cuprl.training.row import rollout_metrics, time_metrics

SPEC = Spec("arm", 3, Box(1, (-1.0,), (1.0,)), (Constraint("heat", 5.0, 1.0), Constraint("force", 2.5, 0.5)), 20)


def test_the_means_are_of_all_the_episodes():
    two = Episodes(np.array([[1.0, 2.0, 3.0], [3.0, 4.0, 5.0]]), np.array([[2.0, 1.0], [4.0, 1.5]]), np.array([10, 20]))
    found = rollout_metrics(two, 1, SPEC)
    assert (found["rollout/ep_rew_mean"], found["rollout/ep_len_mean"], found["rollout/episodes"]) == (2.0, 15.0, 1)
    np.testing.assert_array_equal(found["rollout/ep_cost_mean"], [3.0, 1.25])
    np.testing.assert_array_equal(found["rollout/ep_cost_undiscounted_mean"], [3.0, 4.0])
    np.testing.assert_array_equal(found["rollout/cost_limit"], [5.0, 2.5])


def test_means_of_no_episode_are_unknown():
    found = rollout_metrics(Episodes.none(2), 0, SPEC)
    assert np.isnan([found["rollout/ep_rew_mean"], *found["rollout/ep_cost_mean"], found["rollout/ep_len_mean"]]).all()
    assert found["rollout/episodes"] == 0


def test_the_clock():
    assert time_metrics(1000, 2.0, 4.0, 7.0) == {"time/fps": 200.0, "time/collect": 2.0, "time/update": 3.0}
