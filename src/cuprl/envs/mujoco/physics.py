"""What a MujocoTask's functions are given: the live physics of N robots, and the motion of one control step."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import mujoco
import numpy as np
from mujoco.batch import Batch

from cuprl.envs.mujoco.model import without_timers


class Physics:
    """The live batched state: qpos [N, nq], qvel [N, nv], ctrl [N, nu], and each derived field asked for.

    As after `mj_step`, derived fields (xpos, cinert, …) are those before the last substep; Gymnasium's are too.
    """

    xpos: np.ndarray  # [N, nbody, 3]
    xipos: np.ndarray  # [N, nbody, 3]
    cinert: np.ndarray  # [N, nbody, 10]
    cvel: np.ndarray  # [N, nbody, 6]
    qfrc_actuator: np.ndarray  # [N, nv]

    def __init__(self, model: mujoco.MjModel, frame_skip: int, fields: tuple[str, ...], num_envs: int, threads: int):
        without_timers()
        self.batch = Batch(model, num_envs, threads)
        self.model = model
        self.frame_skip = frame_skip
        self.dt = model.opt.timestep * frame_skip
        self.mass, self.total_mass = model.body_mass.copy(), model.body_mass.sum()  # [nbody], []
        self.qpos, self.qvel, self.ctrl = (self.batch.bind(name) for name in ("qpos", "qvel", "ctrl"))
        # qpos and qvel lie side by side in a row of the state, after the time: one view [N, nq + nv] of both.
        self.qpos_qvel = self.batch.state[:, 1 : 1 + model.nq + model.nv]
        for name in fields:
            setattr(self, name, self.batch.bind(name))


class Motion(NamedTuple):
    """What one control step did, beside the state it led to."""

    action: np.ndarray  # [N, act] as the policy gave it: MuJoCo clamps what reaches the actuators, costs do not
    position: np.ndarray  # [N, k] the task's `position` after the step
    velocity: np.ndarray  # [N, k] its change over the control interval, per second
    terminated: np.ndarray  # [N]


Reward = Callable[[Physics, Motion], np.ndarray]  # [N]
Costs = Callable[[Physics, Motion], np.ndarray]  # [N, m]
Reset = Callable[[np.ndarray, np.ndarray, np.random.Generator], tuple[np.ndarray, np.ndarray]]  # qpos, qvel
