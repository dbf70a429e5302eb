"""Our MuJoCo tasks as Gymnasium environments: the usual 5-tuple, the cost in `info["cost"]`."""

from __future__ import annotations

from typing import Any

import gymnasium
import mujoco
import numpy as np
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from cuprl.envs import make
from cuprl.envs.mujoco.env import MujocoVectorEnv
from cuprl.envs.mujoco.model import action_bounds


def make_robots(task: str, num_envs: int, threads: int = 1) -> MujocoVectorEnv:
    """Make N robots of one of our MuJoCo tasks, already reset."""
    env = make(task, num_envs, threads=threads)
    assert isinstance(env, MujocoVectorEnv), f"{task} is not a MuJoCo task"
    return env


def spaces_of(env: MujocoVectorEnv) -> tuple[Box, Box]:
    """Give the observation and action space of one robot."""
    bounds = action_bounds(env.physics.model)
    low, high = (np.array(bound, np.float32) for bound in (bounds.low, bounds.high))
    return Box(-np.inf, np.inf, (env.spec.obs_dim,), np.float64), Box(low, high, dtype=np.float32)


def cost_info(cost: np.ndarray, names: list[str]) -> dict[str, Any]:
    """Make the info of costs [..., m]: `cost` is the sum; with several constraints each also stands under its name."""
    info: dict[str, Any] = {"cost": cost.sum(axis=-1)}
    if len(names) > 1:
        info |= {f"cost_{name}": cost[..., i] for i, name in enumerate(names)}
    return info


def seed_first(owner: SafeEnv | SafeVectorEnv, seed: int | None) -> None:
    """Seed as asked; a first reset without a seed takes one from the system, so that no two environments are alike."""
    if seed is None and not owner.seeded:
        seed = int(np.random.SeedSequence().generate_state(1)[0])
    if seed is not None:
        owner.env.seed(seed)
        owner.seeded = True


class SafeEnv(gymnasium.Env):
    """One robot. `render_mode="rgb_array"` draws it (headless machines: set MUJOCO_GL=egl)."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 50}  # noqa: RUF012

    def __init__(self, task: str, render_mode: str | None = None):
        self.seeded = False
        self.env = make_robots(task, num_envs=1)
        self.names = [c.name for c in self.env.spec.constraints]
        self.observation_space, self.action_space = spaces_of(self.env)
        self.metadata = {**self.metadata, "render_fps": round(1.0 / self.env.physics.dt)}
        self.render_mode = render_mode
        self._renderer: mujoco.Renderer | None = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict]:
        super().reset(seed=seed)
        seed_first(self, seed)
        return self.env.reset_rows(np.array([0]))[0].copy(), {}

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict]:
        obs, reward, cost, terminated, truncated = self.env.advance(np.asarray(action)[None])
        info = {name: float(value) for name, value in cost_info(cost[0], self.names).items()}
        return obs[0].copy(), float(reward[0]), bool(terminated[0]), bool(truncated[0]), info

    def render(self) -> np.ndarray | None:
        """Draw the robot as it stands [H, W, 3]; None without a render mode."""
        if self.render_mode is None:
            return None
        physics = self.env.physics
        self._renderer = self._renderer or mujoco.Renderer(physics.model)
        data = physics.batch.get_data(0)
        mujoco.mj_forward(physics.model, data)
        self._renderer.update_scene(data, camera="track" if _has_camera(physics.model, "track") else -1)
        return self._renderer.render()

    def close(self) -> None:
        """Let go of what draws."""
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None


class SafeVectorEnv(gymnasium.vector.VectorEnv):
    """N robots stepped together; where an episode ends, the next begins in the same step (`info["final_obs"]`)."""

    metadata = {"autoreset_mode": AutoresetMode.SAME_STEP}  # noqa: RUF012

    def __init__(self, task: str, num_envs: int = 1, threads: int = 1, render_mode: str | None = None):
        if render_mode is not None:
            raise ValueError(f"render_mode {render_mode!r} draws one robot; use gymnasium.make instead of make_vec.")
        self.seeded = False
        self.env = make_robots(task, num_envs, threads)
        self.names = [c.name for c in self.env.spec.constraints]
        self.num_envs = num_envs
        self.render_mode = None
        self.single_observation_space, self.single_action_space = spaces_of(self.env)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict]:
        if isinstance(seed, list):
            raise ValueError("give one seed: environment i is reset with seed + i.")
        seed_first(self, seed)
        return self.env.reset_rows(np.arange(self.num_envs)).copy(), {}

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict]:
        step = self.env.step(np.asarray(actions))
        info = cost_info(step.cost, self.names)
        done = step.terminated | step.truncated
        if done.any():
            info |= {"final_obs": step.next_obs.copy(), "_final_obs": done}
        return step.obs.copy(), step.reward, step.terminated, step.truncated, info


def _has_camera(model: mujoco.MjModel, name: str) -> bool:
    return mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_CAMERA, name) >= 0
