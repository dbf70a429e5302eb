"""A robot in its scene."""

import numpy as np
import pytest

from cuprl import envs


def test_the_bounds_of_a_circle_are_seen(renderer):
    from cuprl.film.filmed import film

    env = film("ant-circle", None, 160, 120)
    try:
        env.reset(0)
        env.step(np.zeros((1, 8)))
        env.state[1:3] = 3.0, 9.5  # x, y: at the bound, on the circle
        shown = env.frame().astype(int)
        assert ((shown[..., 0] - shown[..., 2]) > 120).any()  # orange; the robot is less so
        env.renderer.lines = ()
        bare = env.frame().astype(int)
        assert not ((bare[..., 0] - bare[..., 2]) > 120).any()
    finally:
        env.close()


@pytest.mark.parametrize("task", ["humanoid-circle", "halfcheetah-speed"])
def test_a_dressed_robot_is_the_same_robot(task):
    """All that its position depends on is as in the task, so that a state means the same in both."""
    from cuprl.envs.mujoco.model import load_dressed, load_model
    from cuprl.film.scene import dressed

    own, shown = load_model(envs.find(task).model, task), load_dressed(envs.find(task).model, dressed(64, 64))
    for name in ("nq", "nv", "na", "ngeom", "body_pos", "body_quat", "jnt_pos", "jnt_axis", "qpos0", "body_mass"):
        np.testing.assert_array_equal(getattr(own, name), getattr(shown, name))
