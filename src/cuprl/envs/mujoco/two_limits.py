"""Two constraints at once, both at odds with the reward: a hopper that must spare its motors, an ant that must stay low."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cuprl.core.spec import Constraint
from cuprl.envs.mujoco.physics import Costs, Motion, Physics
from cuprl.envs.mujoco.robots import speed_in_plane, speed_on_line
from cuprl.envs.mujoco.scores import reads, reads_what
from cuprl.envs.mujoco.speed import SPEED_TASKS

HOPPER, ANT = (next(task for task in SPEED_TASKS if task.name == name) for name in ("hopper-speed", "ant-speed"))


def side_by_side(*costs: Costs) -> Costs:
    """Make costs [N, m] of several [N, 1] each."""

    @reads_what(*costs)
    def together(physics: Physics, motion: Motion) -> np.ndarray:
        return np.concatenate([cost(physics, motion) for cost in costs], axis=1)

    return together


@reads()
def motor_effort(physics: Physics, motion: Motion) -> np.ndarray:
    """Sum of squared controls as the motors get them, clamped to their range [N, 1]."""
    low, high = physics.model.actuator_ctrlrange.T
    return np.square(np.clip(motion.action, low, high)).sum(axis=1, keepdims=True)


@reads("qpos")
def torso_height(physics: Physics, motion: Motion) -> np.ndarray:
    """Cost the torso's height in metres above the ground [N, 1]."""
    return physics.qpos[:, 2:3].copy()


# After 500,000 steps an unconstrained PPO agent has discounted costs of 141 and 120 (Hopper), 92 and 54 (Ant).
TWO_LIMIT_TASKS = (
    replace(
        HOPPER, name="hopper-speed-effort", costs=side_by_side(speed_on_line, motor_effort),
        constraints=(Constraint("speed", 70.0), Constraint("effort", 60.0, step_bound=3.0)),  # three motors, controls to ±1
    ),
    replace(
        ANT, name="ant-speed-height", costs=side_by_side(speed_in_plane, torso_height),
        constraints=(Constraint("speed", 55.0), Constraint("height", 48.0)),
    ),
)  # fmt: skip
