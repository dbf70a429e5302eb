"""A robot is drawn as it is."""

import numpy as np
import pytest

import cuprl
from film.studio import filmed, policy_of, same_numbers


def test_a_robot_is_seen_as_it_falls(renderer, tmp_path):
    policy = policy_of("hopper-speed")
    made, shots = filmed(policy, tmp_path / "v.gif")
    same_numbers(made["episodes"][0], cuprl.evaluate(policy, 1))
    assert shots[-1].moment.terminated and shots[-1].moment.speed == pytest.approx(shots[-1].moment.cost[0])
    start, *_, before, last = (shot.frame[60:].astype(int) for shot in shots)
    assert np.abs(last - before).mean() < np.abs(last - start).mean()  # not the next episode's first
