"""Safety-Gymnasium's velocity tasks on today's MuJoCo: cost 1 in each step faster than a threshold, at most 25 an episode.

The robots are Gymnasium's v4, as there: the healthy reward is also paid in the step in which a robot falls, and Walker2d's
feet differ. What is not the same stands in docs/tasks.md.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cuprl.core.spec import Constraint
from cuprl.envs.mujoco.env import MujocoTask
from cuprl.envs.mujoco.physics import Costs, Motion, Physics, Reward
from cuprl.envs.mujoco.robots import speed_in_plane
from cuprl.envs.mujoco.scores import reads, reads_what
from cuprl.envs.mujoco.speed import SPEED_TASKS

LIMIT = (Constraint("velocity", 25.0, discount=1.0, step_bound=1.0),)


def forward_faster_than(threshold: float) -> Costs:
    """Make the cost of going forward faster than a threshold."""

    @reads()
    def costs(physics: Physics, motion: Motion) -> np.ndarray:
        """1[vx > threshold] [N, 1]: fast backwards is free"""
        return (motion.velocity[:, :1] > threshold).astype(np.float64)

    return costs


def faster_than(threshold: float) -> Costs:
    """Make the cost of moving faster than a threshold, in any direction."""

    @reads()
    def costs(physics: Physics, motion: Motion) -> np.ndarray:
        """1[sqrt(vx² + vy²) > threshold] [N, 1]"""
        return (speed_in_plane(physics, motion) > threshold).astype(np.float64)

    return costs


def paid_when_falling(reward: Reward) -> Reward:
    """Pay the healthy reward also for the step that ends: v4 asks only whether the episode may end, not whether it does."""

    @reads_what(reward)
    def paid(physics: Physics, motion: Motion) -> np.ndarray:
        return reward(physics, motion._replace(terminated=np.zeros_like(motion.terminated)))

    return paid


COSTS = {  # thresholds of Safety-Gymnasium's v1 tasks, in metres a second
    "hopper": forward_faster_than(0.7402),
    "ant": faster_than(2.6222),
    "swimmer": forward_faster_than(0.2282),
    "humanoid": faster_than(1.4149),
    "halfcheetah": forward_faster_than(3.2096),
    "walker2d": forward_faster_than(2.3415),
}


def with_velocity_limit(task: MujocoTask) -> MujocoTask:
    """Make Safety-Gymnasium's velocity task of a robot of ours."""
    robot = task.name.removesuffix("-speed")
    model = "walker2d.xml" if robot == "walker2d" else task.model
    return replace(
        task,
        name=f"{robot}-velocity",
        model=model,
        constraints=LIMIT,
        costs=COSTS[robot],
        reward=paid_when_falling(task.reward),
    )


VELOCITY_TASKS = tuple(with_velocity_limit(task) for task in SPEED_TASKS)
