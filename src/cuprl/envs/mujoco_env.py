"""N copies of a MuJoCo robot stepped together on `mujoco.batch`, from a task given as plain vectorised functions."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import gymnasium
import mujoco
import numpy as np
from mujoco.batch import Batch

from cuprl.envs.protocol import Box, Constraint, Spec, Step, pack_generators, unpack_generators, whole
from cuprl.errors import UserError

ROBOTS = Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets"


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


@dataclass(frozen=True)
class MujocoTask:
    """A constrained task on any MuJoCo model. All functions see N environments at once, `reset` one at a time."""

    name: str
    model: str  # an MJCF file (a bare name is one of Gymnasium's robots) or an MJCF string
    frame_skip: int
    constraints: tuple[Constraint, ...]
    observe: Callable[[Physics], np.ndarray]  # [N, obs]
    position: Callable[[Physics], np.ndarray]  # [N, k], differenced for the velocity
    reward: Reward
    costs: Costs
    terminated: Callable[[Physics], np.ndarray]  # [N]
    reset: Reset
    fields: tuple[str, ...] = ()  # derived MjData fields the functions read
    horizon: int = 1000

    def __post_init__(self) -> None:
        whole(self.frame_skip, f"frame_skip of {self.name}")
        whole(self.horizon, f"horizon of {self.name}")

    def load(self) -> mujoco.MjModel:
        model = str(self.model)  # a Path will do
        before, messages = mujoco.get_mju_user_warning(), list[str]()
        mujoco.set_mju_user_warning(messages.append)  # instead of MuJoCo's log file in the working directory
        try:
            return without_islands(load_model(model))
        except (ValueError, OSError) as error:
            shown = "given as text" if is_text(model) else model
            reason = " ".join(str(error).split())
            raise UserError(
                f"the model of {self.name}, {shown}, cannot be loaded ({reason}); give the path of an MJCF file, the name "
                "of one of Gymnasium's robots, or MJCF as text."
            ) from None
        finally:
            mujoco.set_mju_user_warning(before)
            for message in messages:
                if "settotalmass" not in message:  # deprecated, and in Gymnasium's half cheetah
                    warnings.warn(f"{self.name}: {message}", stacklevel=2)

    def vector_env(self, num_envs: int, threads: int, constraints: tuple[Constraint, ...]) -> MujocoVectorEnv:
        return MujocoVectorEnv(replace(self, constraints=constraints), num_envs, threads)


def is_text(model: str) -> bool:
    return model.lstrip().startswith("<")


def load_model(model: str) -> mujoco.MjModel:
    if is_text(model):
        return mujoco.MjModel.from_xml_string(model)
    path = Path(model)
    return mujoco.MjModel.from_xml_path(str(path if path.exists() else ROBOTS / model))


def without_islands(model: mujoco.MjModel) -> mujoco.MjModel:
    """Bodies that all hang together are one island. That MuJoCo need not look for others in every step changes no bit of
    the result, and a step of Hopper takes 8% less; sleeping bodies need the search."""
    if model.ntree == 1 and not model.opt.enableflags & mujoco.mjtEnableBit.mjENBL_SLEEP.value:
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_ISLAND.value
    return model


def action_bounds(model: mujoco.MjModel) -> Box:
    """An actuator without a limit takes any number, whatever its range says (0 to 0 where none is written)."""
    limited, (low, high) = model.actuator_ctrllimited.astype(bool), model.actuator_ctrlrange.T
    bounds = (np.where(limited, low, -np.inf), np.where(limited, high, np.inf))
    return Box(model.nu, *(tuple(map(float, bound)) for bound in bounds))


class MujocoVectorEnv:
    """The vector environment of a MujocoTask. Environment i draws from its own generator, seeded with seed + i."""

    def __init__(self, task: MujocoTask, num_envs: int, threads: int = 1):
        from cuprl.envs.mujoco_trial import try_functions

        self.task, self.num_envs = task, num_envs
        model = task.load()
        try_functions(task, model)
        self.physics = Physics(model, task.frame_skip, task.fields, num_envs, min(threads, num_envs))
        data = mujoco.MjData(model)
        self._initial = data.qpos.copy(), data.qvel.copy()
        self._steps = np.zeros(num_envs, np.int64)
        self.reset(seed=0)
        self.spec = Spec(task.name, self._obs.shape[1], action_bounds(model), task.constraints, task.horizon)

    def reset(self, seed: int) -> np.ndarray:
        self.seed(seed)
        self.reset_rows(np.arange(self.num_envs))
        return self._obs

    def seed(self, seed: int) -> None:
        self._generators = [np.random.default_rng(seed + i) for i in range(self.num_envs)]

    def reset_rows(self, rows: np.ndarray) -> np.ndarray:
        """Start new episodes in the given environments; returns everyone's observation [N, obs]."""
        physics, (qpos, qvel) = self.physics, self._initial
        physics.batch.reset(rows, stage=mujoco.mjtStage.mjSTAGE_NONE.value)
        for i in rows:
            physics.qpos[i], physics.qvel[i] = self.task.reset(qpos.copy(), qvel.copy(), self._generators[i])
        if self.task.fields:
            physics.batch.forward(rows)
        self._steps[rows] = 0
        self._position, self._obs = np.array(self.task.position(physics)), np.array(self.task.observe(physics))
        return self._obs

    def advance(self, action: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """One control step without resets: next_obs, reward, cost, terminated, truncated."""
        task, physics = self.task, self.physics
        physics.ctrl[:] = action
        physics.batch.step(nstep=physics.frame_skip)
        position = np.array(task.position(physics))  # a copy, also if the task gives a live view of the physics
        velocity = (position - self._position) / physics.dt
        motion = Motion(action, position, velocity, task.terminated(physics))
        self._position = position
        self._steps += 1
        self._obs = np.array(task.observe(physics))  # likewise
        truncated = self._steps >= task.horizon
        return self._obs, task.reward(physics, motion), task.costs(physics, motion), motion.terminated, truncated

    def step(self, action: np.ndarray) -> Step:
        next_obs, reward, cost, terminated, truncated = self.advance(action)
        done = terminated | truncated
        obs = self.reset_rows(np.flatnonzero(done)) if done.any() else next_obs
        return Step(next_obs, reward, cost, terminated, truncated, obs)

    def get_state(self) -> dict[str, np.ndarray]:
        return {
            "physics": self.physics.batch.state.copy(),
            "steps": self._steps.copy(),
            # The position of some robots is a derived field, which the physics state alone does not give back.
            "position": self._position.copy(),
            "obs": self._obs.copy(),
            "generators": pack_generators(self._generators),
        }

    def set_state(self, state: dict[str, np.ndarray]) -> np.ndarray:
        self.physics.batch.state[:] = state["physics"]
        self._steps[:] = state["steps"]
        self._position, self._obs = state["position"].copy(), state["obs"].copy()
        self._generators = unpack_generators(state["generators"])
        return self._obs
