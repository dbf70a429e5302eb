"""What stands between the layers of a network; a name is all that settings and files say of it."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

Function = Callable[[Any], Any]

# Of each the function in `xp`, which is numpy where it acts and jax.numpy where it learns. None overflows in float32.
ACTIVATIONS: dict[str, Callable[[ModuleType], Function]] = {
    "tanh": lambda xp: xp.tanh,
    "relu": lambda xp: lambda x: xp.maximum(x, 0.0),
    "elu": lambda xp: lambda x: xp.where(x > 0.0, x, xp.expm1(xp.where(x > 0.0, 0.0, x))),
    "swish": lambda xp: lambda x: x * (0.5 * xp.tanh(0.5 * x) + 0.5),  # x sigmoid(x), also called silu
}
USUAL = "tanh"
