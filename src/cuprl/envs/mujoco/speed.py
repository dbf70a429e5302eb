"""The paper's robots with a speed limit: Gymnasium's v5 robots without contact forces, cost = speed.

Each is bit-equal to Gymnasium's own environment (`include_cfrc_ext_in_observation=False, contact_cost_weight=0` for
Ant and Humanoid). The limits are half the discounted speed of an unconstrained PPO agent.
"""

from __future__ import annotations

from cuprl.core.spec import Constraint
from cuprl.envs.mujoco.env import MujocoTask
from cuprl.envs.mujoco.robots import (
    ant_fell,
    forward_alive,
    forward_only,
    hopper_fell,
    humanoid_body,
    humanoid_fell,
    humanoid_reward,
    never,
    normal_velocity_noise,
    speed_in_plane,
    speed_on_line,
    uniform_noise,
    walker_fell,
    without_x,
    without_x_clipped,
    without_xy,
    x_of_root,
    xy_of_mass_centre,
    xy_of_root,
    xy_of_torso,
)


def speed_limit(limit: float) -> tuple[Constraint, ...]:
    """Make the only constraint of a robot with a speed limit."""
    return (Constraint("speed", limit),)


SPEED_TASKS = (
    MujocoTask(
        "hopper-speed", "hopper.xml", 4, speed_limit(82.748), without_x_clipped, x_of_root,
        forward_alive(1.0, 1e-3), speed_on_line, hopper_fell, uniform_noise(5e-3),
    ),
    MujocoTask(
        "ant-speed", "ant.xml", 5, speed_limit(103.115), without_xy, xy_of_torso,
        forward_alive(1.0, 0.5), speed_in_plane, ant_fell, normal_velocity_noise(0.1), fields=("xpos",),
    ),
    MujocoTask(
        "swimmer-speed", "swimmer.xml", 4, speed_limit(24.516), without_xy, xy_of_root,
        forward_only(1e-4), speed_in_plane, never, uniform_noise(0.1),
    ),
    MujocoTask(
        "humanoid-speed", "humanoid.xml", 5, speed_limit(20.140), humanoid_body, xy_of_mass_centre,
        humanoid_reward, speed_in_plane, humanoid_fell, uniform_noise(1e-2),
        fields=("xipos", "cinert", "cvel", "qfrc_actuator"),
    ),
    MujocoTask(
        "halfcheetah-speed", "half_cheetah.xml", 5, speed_limit(151.989), without_x, x_of_root,
        forward_only(0.1), speed_on_line, never, normal_velocity_noise(0.1),
    ),
    MujocoTask(
        "walker2d-speed", "walker2d_v5.xml", 4, speed_limit(81.886), without_x_clipped, x_of_root,
        forward_alive(1.0, 1e-3), speed_on_line, walker_fell, uniform_noise(5e-3),
    ),
)  # fmt: skip
