"""What tasks of the paper's robots are made of: positions, observations, rewards, ends and resets.

They are those of Gymnasium's v5 robots without contact forces, to the last bit. The speed is a position difference over the
control interval: |vx| for robots on a line, sqrt(vx² + vy²) in the plane.
"""

from __future__ import annotations

import numpy as np

from cuprl.envs.mujoco.physics import Motion, Physics, Reset, Reward
from cuprl.envs.mujoco.scores import reads

# Most of these run in every step, on few rows: np.add.reduce is what .sum() comes to, without Python's part of it.

# --- positions [N, k]; here and below a view of the physics will do, the environment copies it ------------------


@reads("qpos")
def x_of_root(physics: Physics) -> np.ndarray:
    """Give the root's x [N, 1]."""
    return physics.qpos[:, :1]


@reads("qpos")
def xy_of_root(physics: Physics) -> np.ndarray:
    """Give the root's x and y [N, 2]."""
    return physics.qpos[:, :2]


@reads("xpos")
def xy_of_torso(physics: Physics) -> np.ndarray:
    """Give the torso's x and y [N, 2]."""
    return physics.xpos[:, 1, :2]


@reads("xipos")
def xy_of_mass_centre(physics: Physics) -> np.ndarray:
    """Give x and y of the centre of mass [N, 2]."""
    return np.add.reduce(physics.mass[:, None] * physics.xipos[:, :, :2], axis=1) / physics.total_mass


# --- costs [N, 1] -----------------------------------------------------------------------------------------------


@reads()
def speed_on_line(physics: Physics, motion: Motion) -> np.ndarray:
    """Cost |vx| [N, 1]."""
    return np.abs(motion.velocity)


@reads()
def speed_in_plane(physics: Physics, motion: Motion) -> np.ndarray:
    """Cost sqrt(vx² + vy²) [N, 1]."""
    return np.sqrt(np.add.reduce(np.square(motion.velocity), axis=1, keepdims=True))


# --- observations [N, obs] --------------------------------------------------------------------------------------


def without_x(physics: Physics) -> np.ndarray:
    """Observe position and velocity without x [N, obs]."""
    return physics.qpos_qvel[:, 1:]


def without_xy(physics: Physics) -> np.ndarray:
    """Observe position and velocity without x and y [N, obs]."""
    return physics.qpos_qvel[:, 2:]


def without_x_clipped(physics: Physics) -> np.ndarray:
    """Observe position without x, and velocity within ±10 [N, obs]."""
    obs = without_x(physics).copy()
    velocity = obs[:, physics.qpos.shape[1] - 1 :]
    np.minimum(np.maximum(velocity, -10.0, out=velocity), 10.0, out=velocity)  # np.clip takes twice as long on few rows
    return obs


def humanoid_body(physics: Physics, skip: int = 2) -> np.ndarray:
    """Observe the Humanoid's state, inertias, velocities and forces [N, obs], as Gymnasium does; skip: coordinates of it."""
    n = len(physics.qpos)
    return np.concatenate(
        (
            physics.qpos[:, skip:],
            physics.qvel,
            physics.cinert[:, 1:].reshape(n, -1),
            physics.cvel[:, 1:].reshape(n, -1),
            physics.qfrc_actuator[:, 6:],
        ),
        axis=1,
    )


# --- terminations [N] -------------------------------------------------------------------------------------------


def never(physics: Physics) -> np.ndarray:
    """End no episode [N]."""
    return np.zeros(len(physics.qpos), bool)


# z, angle, and all else of qpos and qvel but x: one comparison with all bounds is faster than one for each
HOPPER_LOW, HOPPER_HIGH = np.array([0.7, -0.2, *[-100.0] * 9]), np.array([np.inf, 0.2, *[100.0] * 9])


def hopper_fell(physics: Physics) -> np.ndarray:
    """End where the Hopper is out of its healthy range [N]."""
    state = physics.qpos_qvel[:, 1:]
    inside = (state > HOPPER_LOW) & (state < HOPPER_HIGH)  # NaN is not
    return ~np.logical_and.reduce(inside, axis=1)


def walker_fell(physics: Physics) -> np.ndarray:
    """End where the Walker2d is too low, too high or too tilted [N]."""
    z, angle = physics.qpos[:, 1], physics.qpos[:, 2]
    return ~((z > 0.8) & (z < 2.0) & (np.abs(angle) < 1.0))


def ant_fell(physics: Physics) -> np.ndarray:
    """End where the Ant is too low, too high or no longer finite [N]."""
    z = physics.qpos[:, 2]
    return ~(np.logical_and.reduce(np.isfinite(physics.qpos_qvel), axis=1) & (z >= 0.2) & (z <= 1.0))


def humanoid_fell(physics: Physics) -> np.ndarray:
    """End where the Humanoid is too low or too high [N]."""
    z = physics.qpos[:, 2]
    return ~((z > 1.0) & (z < 2.0))


# --- rewards [N]: the order of operations is Gymnasium's, so that the last bit agrees -----------------------------


def effort(action: np.ndarray, weight: float) -> np.ndarray:
    """Weigh the sum of squared actions [N]."""
    return weight * np.add.reduce(np.square(action), axis=1)


def forward_alive(healthy: float, control: float) -> Reward:
    """Make the reward vx + healthy while up - control |a|²."""

    @reads()
    def reward(physics: Physics, motion: Motion) -> np.ndarray:
        return (motion.velocity[:, 0] + ~motion.terminated * healthy) - effort(motion.action, control)

    return reward


def forward_only(control: float) -> Reward:
    """Make the reward vx - control |a|²."""

    @reads()
    def reward(physics: Physics, motion: Motion) -> np.ndarray:
        return motion.velocity[:, 0] - effort(motion.action, control)

    return reward


@reads("ctrl")
def humanoid_reward(physics: Physics, motion: Motion) -> np.ndarray:
    """Reward 1.25 vx + 5 while up - 0.1 |ctrl|² [N]."""
    return (1.25 * motion.velocity[:, 0] + ~motion.terminated * 5.0) - effort(physics.ctrl, 0.1)


# --- resets: one environment's qpos, qvel -----------------------------------------------------------------------


def uniform_noise(scale: float) -> Reset:
    """Make the reset that adds uniform noise of ±scale to position and velocity."""

    def reset(qpos: np.ndarray, qvel: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        noise = rng.uniform(-scale, scale, len(qpos) + len(qvel))
        return qpos + noise[: len(qpos)], qvel + noise[len(qpos) :]

    return reset


def normal_velocity_noise(scale: float) -> Reset:
    """Make the reset with uniform noise of the position and normal noise of the velocity."""

    def reset(qpos: np.ndarray, qvel: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        return qpos + rng.uniform(-scale, scale, len(qpos)), qvel + scale * rng.standard_normal(len(qvel))

    return reset
