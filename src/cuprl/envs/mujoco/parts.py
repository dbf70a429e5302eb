"""What a MujocoTask is made of: a model and plain vectorised functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cuprl.core.spec import Constraint
from cuprl.core.values import whole
from cuprl.envs.mujoco.physics import Costs, Physics, Reset, Reward


class FloorLine(NamedTuple):
    """A line on the floor in pictures: nothing touches it."""

    points: tuple[tuple[float, float], ...]  # x, y
    colour: tuple[float, float, float]  # red, green, blue, 0 to 1


@dataclass(frozen=True)
class MujocoParts:
    """A task as its environment sees it. All functions see N environments at once, `reset` one at a time."""

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
    lines: tuple[FloorLine, ...] = ()  # drawn in pictures

    def __post_init__(self) -> None:
        whole(self.frame_skip, f"frame_skip of {self.name}")
        whole(self.horizon, f"horizon of {self.name}")
