"""A floor under the noise of a policy's actions, which falls over a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax

from cuprl.errors import UserError
from cuprl.learn.policy import Policy
from cuprl.learn.settings import Common, setting


@dataclass(frozen=True)
class NoiseFloor(Common):
    """Settings of a floor under the noise."""

    noise_floor: tuple[float, ...] = setting(
        (),
        "standard deviation below which no step pushes the noise, at first and at last, as 0.3,0.2; none: 0",
        "0.001 to 1e3",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.noise_floor) not in (0, 2):
            given = ",".join(map(str, self.noise_floor))
            raise UserError(f"noise_floor is {given}; give two numbers, at first and at last, as 0.3,0.2.")


def with_noise(policy: Policy, params: Any, before: Any, lr_scale: jax.Array | float, config: NoiseFloor) -> Any:
    """Undo what a step from `before` took of the noise below the floor; it falls as lr_scale does, from 1 to 0."""
    if not config.noise_floor:
        return params
    first, last = config.noise_floor
    return policy.keep_noise(params, before, last + (first - last) * lr_scale)
