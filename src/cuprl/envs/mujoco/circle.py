"""The paper's circle tasks: reward for running around a circle of radius d, cost where |x| > x_lim (last appendix)."""

from __future__ import annotations

from functools import partial

import numpy as np

from cuprl.core.spec import Constraint
from cuprl.envs.mujoco import robots
from cuprl.envs.mujoco.env import MujocoTask
from cuprl.envs.mujoco.parts import FloorLine
from cuprl.envs.mujoco.physics import Costs, Motion, Physics, Reset
from cuprl.envs.mujoco.scores import reads

RADIUS = 10.0  # d


@reads()
def circle_reward(physics: Physics, motion: Motion) -> np.ndarray:
    """Reward R(s) = v·[-y, x] / (1 + | ‖(x, y)‖ - d |) [N]; no alive bonus, no control cost."""
    (x, y), (vx, vy) = motion.position.T, motion.velocity.T
    return (-vx * y + vy * x) / (1.0 + np.abs(np.sqrt(x**2 + y**2) - RADIUS))


def outside(x_lim: float) -> Costs:
    """Make the cost of being outside of |x| <= x_lim."""

    @reads()
    def costs(physics: Physics, motion: Motion) -> np.ndarray:
        """C(s) = 1[|x| > x_lim], after the step."""
        return (np.abs(motion.position[:, :1]) > x_lim).astype(np.float64)

    return costs


def on_the_circle(noise: Reset) -> Reset:
    """Make the reset with the robot's usual noise, at a place on the circle at a uniformly random angle."""

    def reset(qpos: np.ndarray, qvel: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        qpos, qvel = noise(qpos, qvel, rng)
        angle = rng.uniform(0.0, 2.0 * np.pi)
        qpos[:2] = RADIUS * np.cos(angle), RADIUS * np.sin(angle)
        return qpos, qvel

    return reset


def with_xy(physics: Physics) -> np.ndarray:
    """Observe position and velocity, x and y among them [N, obs]."""
    return physics.qpos_qvel


def drawn(x_lim: float) -> tuple[FloorLine, ...]:
    """Give the lines on the floor: the circle, and x = ±x_lim beyond which a step costs."""
    angles = np.linspace(0.0, 2.0 * np.pi, 97)
    circle = tuple((RADIUS * float(np.cos(angle)), RADIUS * float(np.sin(angle))) for angle in angles)
    bounds = (FloorLine(((x, -2.0 * RADIUS), (x, 2.0 * RADIUS)), (0.84, 0.37, 0.0)) for x in (-x_lim, x_lim))
    return FloorLine(circle, (0.0, 0.27, 0.42)), *bounds


LIMIT = (Constraint("outside", 50.0, step_bound=1.0),)  # half the possible maximum of sum_t 0.99^t = 99.996

CIRCLE_TASKS = (
    MujocoTask(
        "humanoid-circle", "humanoid.xml", 5, LIMIT, partial(robots.humanoid_body, skip=0), robots.xy_of_mass_centre,
        circle_reward, outside(2.5), robots.humanoid_fell, on_the_circle(robots.uniform_noise(1e-2)),
        fields=("xipos", "cinert", "cvel", "qfrc_actuator"), lines=drawn(2.5),
    ),
    MujocoTask(
        "ant-circle", "ant.xml", 5, LIMIT, with_xy, robots.xy_of_torso,
        circle_reward, outside(3.0), robots.ant_fell, on_the_circle(robots.normal_velocity_noise(0.1)),
        fields=("xpos",), lines=drawn(3.0),
    ),
)  # fmt: skip
