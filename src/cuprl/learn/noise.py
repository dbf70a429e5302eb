"""A floor under the noise of a policy's actions, which falls over a run."""

from __future__ import annotations

from typing import Any

import jax

from cuprl.learn.policy import Policy
from cuprl.learn.settings import NoiseFloor


def with_noise(policy: Policy, params: Any, before: Any, lr_scale: jax.Array | float, config: NoiseFloor) -> Any:
    """Undo what a step from `before` took of the noise below the floor; it falls as lr_scale does, from 1 to 0."""
    if not config.noise_floor:
        return params
    first, last = config.noise_floor
    return policy.keep_noise(params, before, last + (first - last) * lr_scale)
