"""Tasks with two limits at once."""

import numpy as np

from cuprl.envs import make


def test_two_constraints_stand_side_by_side():
    hopper, ant = make("hopper-speed-effort", 2, seed=1), make("ant-speed-height", 2, seed=1)
    action = np.array([[2.0, -0.5, 0.1], [0.0, 0.0, -3.0]], np.float32)  # what the motors get is clamped to ±1
    step, plain = hopper.step(action), make("hopper-speed", 2, seed=1).step(action)
    np.testing.assert_array_equal(step.next_obs, plain.next_obs)
    np.testing.assert_array_equal(step.cost[:, :1], plain.cost)
    np.testing.assert_allclose(step.cost[:, 1], [1.0 + 0.25 + 0.01, 1.0], rtol=1e-6)
    step = ant.step(np.zeros((2, 8), np.float32))
    np.testing.assert_array_equal(step.cost[:, 1], step.next_obs[:, 0])  # z leads Ant's observation
