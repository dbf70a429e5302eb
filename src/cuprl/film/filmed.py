"""Environments that can be looked at: one of a task, stepped as ever, and a picture of where its last step left it."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, Protocol

import gymnasium
import numpy as np

from cuprl import envs
from cuprl.core.task import Step, Steppable, Task
from cuprl.envs.gymnasium.task import GymnasiumTask
from cuprl.envs.gymnasium.vector import GymnasiumVectorEnv
from cuprl.envs.mujoco.env import MujocoVectorEnv
from cuprl.errors import UserError, blame
from cuprl.film.renderer import RobotRenderer

MODE = "rgb_array"
PICTURE = "an array of uint8, [height, width, 3]"
RATE = 30.0  # steps a second of an environment that does not say


class Filmed(Steppable, Protocol):
    """One environment. `frame` is also of a step that ended an episode, though the next has begun."""

    seconds: float  # that a step takes
    fills: bool  # whether its pictures have the size that was asked for, with room at the top for numbers

    @property
    def speed(self) -> float | None:
        """Give the speed in the last step, where the task has a position."""
        ...

    def frame(self) -> np.ndarray:
        """Draw a picture [H, W, 3] of bytes, of any size."""
        ...

    def close(self) -> None:
        """Let go of what draws, and of the environment."""


def film(task: str | Task, limits: Any, width: int, height: int, camera: str | None = None) -> Filmed:
    """Make a task's environment, to be looked at. width, height: of what MuJoCo draws; others draw as large as they do."""
    task = envs.find(task)
    if isinstance(task, GymnasiumTask):
        if camera is not None:
            raise UserError(f"camera is {camera!r}, but {task.name} draws itself; leave --camera away.")
        return FilmedGymnasium(task, limits)
    env = envs.make(task, limits=limits)
    if not isinstance(env, MujocoVectorEnv):
        envs.close(env)
        raise UserError(f"{task.name} has nothing to be seen; give a policy of a MuJoCo robot or of a gym: task.")
    return FilmedRobot(env, width, height, camera)


class FilmedRobot:
    """A MuJoCo robot, drawn from its physical state."""

    fills = True

    def __init__(self, env: MujocoVectorEnv, width: int, height: int, camera: str | None = None):
        self.env, self.spec, self.num_envs = env, env.spec, env.num_envs
        self.seconds, self.speed = env.physics.dt, 0.0
        self.renderer = RobotRenderer(env.task, width, height, camera)

    def reset(self, seed: int) -> np.ndarray:
        return self.env.reset(seed)

    def step(self, action: np.ndarray) -> Step:
        env, before = self.env, self.env.position
        next_obs, reward, cost, terminated, truncated = env.advance(action)
        self.state = env.physics.batch.state[0].copy()  # before another episode begins
        self.speed = float(np.linalg.norm(env.position[0] - before[0]) / self.seconds)
        return Step(next_obs, reward, cost, terminated, truncated, env.go_on(terminated, truncated))

    def frame(self) -> np.ndarray:
        """Draw the robot as it stood when it was last looked at [H, W, 3]."""
        return self.renderer.draw(self.state)

    def close(self) -> None:
        """Let go of what draws."""
        self.renderer.close()


class FilmedGymnasium:
    """An environment of Gymnasium's, which draws itself."""

    speed, fills = None, False

    def __init__(self, task: GymnasiumTask, limits: Any):
        # In this process, where it can be asked for pictures. The steps are the same in each.
        drawn = replace(task, make=lambda: Easel(drawing(task), task.name), backend="sync", env_timeout=0.0)
        self.env = GymnasiumVectorEnv(drawn, 1, envs.with_limits(task.constraints, limits))
        self.spec, self.num_envs = self.env.spec, self.env.num_envs
        self.easel: Easel = self.env.lanes[0].env
        rate = getattr(self.easel, "metadata", {}).get("render_fps")
        self.seconds = 1.0 / (float(rate) if rate else RATE)

    def reset(self, seed: int) -> np.ndarray:
        return self.env.reset(seed)

    def step(self, action: np.ndarray) -> Step:
        step = self.env.step(action)
        self.ended = bool(step.terminated[0] | step.truncated[0])
        return step

    def frame(self) -> np.ndarray:
        """Draw the environment as it stands [H, W, 3]; of an episode that ended, its last picture."""
        return self.easel.last if self.ended else self.easel.picture()

    def close(self) -> None:
        """End the environment."""
        self.env.close()


class Easel:
    """An environment of anyone's that keeps a picture of how an episode ended, before the next is begun."""

    def __init__(self, env: Any, name: str):
        self.env, self.name, self.moved = env, name, False

    def __getattr__(self, name: str) -> Any:
        return getattr(self.env, name)

    def step(self, action: Any) -> Any:
        self.moved = True
        return self.env.step(action)

    def reset(self, **options: Any) -> Any:
        if self.moved:
            self.last, self.moved = self.picture(), False
        return self.env.reset(**options)

    def picture(self) -> np.ndarray:
        """Draw the environment as it stands; what cannot be drawn is refused in a sentence."""
        try:
            drawn = self.env.render()
        except gymnasium.error.DependencyNotInstalled as error:
            raise UserError(f"{self.name} draws with a package that is not there: {error}.") from None
        except Exception as error:
            raise blame(f"render of {self.name}", error, "nothing") from error
        if not isinstance(drawn, np.ndarray):
            raise UserError(f"render of {self.name} gave {type(drawn).__name__}; let it give {PICTURE}.")
        if drawn.dtype != np.uint8 or drawn.ndim != 3 or drawn.shape[2] != 3:
            found = f"an array of {drawn.dtype}, {list(drawn.shape)}"
            raise UserError(f"render of {self.name} gave {found}; let it give {PICTURE}.")
        return drawn


def drawing(task: GymnasiumTask) -> Any:
    """Make a new environment of a task whose `render` gives arrays."""
    with warnings.catch_warnings(action="ignore", category=UserWarning):  # Gymnasium's, of a mode that is not there
        try:
            env = task.make(render_mode=MODE)
        except UserError:  # one that takes no such word; what else is wrong with it is said now
            env = task.make()
    if getattr(env, "render_mode", None) == MODE:
        return env
    modes = ", ".join((getattr(env, "metadata", None) or {}).get("render_modes") or ()) or "none"
    getattr(env, "close", lambda: None)()
    raise UserError(
        f"{task.name} does not draw itself as arrays (its render modes: {modes}); let what makes it take "
        f"render_mode={MODE!r} and give it that."
    )
