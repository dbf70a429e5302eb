"""Networks: an encoder of one's own where there is one, then layers as a plain list of (weight, bias).

`xp` is jax.numpy inside an update and numpy while acting: one statement of the network serves both.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from cuprl.core.activations import ACTIVATIONS, USUAL
from cuprl.core.encoder import Encoder, find_encoder
from cuprl.learn.encoding import encode, features
from cuprl.learn.settings import Common

Layers = list[tuple[Any, Any]]  # (weight [in, out], bias [out]) a layer


def init_mlp(key: jax.Array, sizes: tuple[int, ...], last_scale: float = 0.1) -> Layers:
    """Draw weights uniform in ±1/sqrt(fan in); the last layer is small, so that outputs start nearly constant."""
    layers = []
    for i, (fan_in, fan_out) in enumerate(pairwise(sizes)):
        key, key_weight, key_bias = jax.random.split(key, 3)
        bound = fan_in**-0.5
        weight = jax.random.uniform(key_weight, (fan_in, fan_out), minval=-bound, maxval=bound)
        bias = jax.random.uniform(key_bias, (fan_out,), minval=-bound, maxval=bound)
        last = i == len(sizes) - 2
        layers.append((weight * last_scale, jnp.zeros(fan_out)) if last else (weight, bias))
    return layers


@jax.custom_jvp
def linear(x: jax.Array, weight: jax.Array) -> jax.Array:
    """Multiply x [..., in] with weight [in, out] -> [..., out], with a faster gradient of the weight.

    That gradient is a product with x transposed. XLA would read x across its rows, which on a CPU takes a third longer
    over a whole fit of Humanoid's 376 observations than to transpose it first; the numbers are the same.
    """
    return x @ weight


@linear.defjvp
def _linear_jvp(primals: tuple[Any, Any], tangents: tuple[Any, Any]) -> tuple[jax.Array, jax.Array]:
    (x, weight), (x_dot, weight_dot) = primals, tangents
    columns = jax.lax.optimization_barrier(x.reshape(-1, x.shape[-1]).T)  # [in, rows]
    through_weight = jax.lax.dot_general(columns, weight_dot, (((0,), (0,)), ((), ())))
    out = x @ weight
    return out, x_dot @ weight + through_weight.reshape(out.shape)


def mlp(layers: Layers, x: Any, xp: ModuleType = jnp, activation: str = USUAL) -> Any:
    """Apply the layers: x [..., in] -> [..., out]."""
    # Hidden layers are narrow: `linear` gains nothing there. On few rows NumPy's dot is faster than its matmul.
    first, product = (linear, jnp.matmul) if xp is jnp else (np.ndarray.dot, np.ndarray.dot)
    between = ACTIVATIONS[activation](xp)
    for i, (weight, bias) in enumerate(layers):
        x = (product if i else first)(x, weight)
        x += bias  # NumPy adds in place
        if i < len(layers) - 1:
            x = between(x)
    return x


@dataclass(frozen=True)
class Network:
    """What the settings say of a network; its parameters are a dict of `layers`, and of `encoder` where there is one."""

    hidden: tuple[int, ...]
    activation: str = USUAL
    encoder: Encoder | None = None

    @staticmethod
    def of(config: Common) -> Network:
        """Take it out of an algorithm's settings: policy and critics are made alike."""
        return Network(config.hidden, config.activation, find_encoder(config.encoder))

    def init(self, key: jax.Array, inputs: int, outputs: int) -> dict[str, Any]:
        """Draw the parameters to begin with."""
        if self.encoder is None:
            return {"layers": init_mlp(key, (inputs, *self.hidden, outputs))}
        key, key_encoder = jax.random.split(key)
        encoder = self.encoder.init(key_encoder, inputs)
        sizes = (features(self.encoder, inputs), *self.hidden, outputs)
        return {"encoder": encoder, "layers": init_mlp(key, sizes)}

    def apply(self, params: dict[str, Any], x: Any, xp: ModuleType = jnp) -> Any:
        """Apply the encoder, where there is one, and the layers: x [..., in] -> [..., out]."""
        if self.encoder is not None:
            x = encode(self.encoder, params["encoder"], x, xp)
        return mlp(params["layers"], x, xp, self.activation)
