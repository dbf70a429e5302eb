"""Two-layer tanh networks as plain lists of (weight, bias).

`xp` is jax.numpy inside an update and numpy while acting: one statement of the network serves both.
"""

from __future__ import annotations

from itertools import pairwise
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp

Layers = list[tuple[Any, Any]]  # (weight [in, out], bias [out]) a layer


def init_mlp(key: jax.Array, sizes: tuple[int, ...], last_scale: float = 0.1) -> Layers:
    """Weights uniform in ±1/sqrt(fan in); the last layer is small, so that outputs start nearly constant."""
    layers = []
    for i, (fan_in, fan_out) in enumerate(pairwise(sizes)):
        key, key_weight, key_bias = jax.random.split(key, 3)
        bound = fan_in**-0.5
        weight = jax.random.uniform(key_weight, (fan_in, fan_out), minval=-bound, maxval=bound)
        bias = jax.random.uniform(key_bias, (fan_out,), minval=-bound, maxval=bound)
        last = i == len(sizes) - 2
        layers.append((weight * last_scale, jnp.zeros(fan_out)) if last else (weight, bias))
    return layers


def mlp(layers: Layers, x: Any, xp: ModuleType = jnp) -> Any:
    """x [..., in] -> [..., out]"""
    for weight, bias in layers[:-1]:
        x = xp.tanh(x @ weight + bias)
    weight, bias = layers[-1]
    return x @ weight + bias
