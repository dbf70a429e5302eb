"""An encoder of images as a pair of pure functions: two convolutions, in JAX for learning and in NumPy for acting.

It imports NumPy alone, JAX only where it learns: an exported .npz policy that names it acts on a robot without JAX.
"""

from itertools import pairwise

import numpy as np

import cuprl

SHAPE = (12, 12, 3)  # height, width, channels: observations come flat
CHANNELS = (SHAPE[2], 8, 16)
WINDOW, STRIDE = 3, 2


def init(key, obs_dim):
    """The parameters of each convolution: a kernel [3 * 3 * in, out] and a bias [out]."""
    import jax

    if obs_dim != np.prod(SHAPE):
        raise ValueError(f"this encoder is for images of the shape {SHAPE}, not for {obs_dim} numbers")
    params = []
    for inputs, outputs in pairwise(CHANNELS):
        key, key_kernel = jax.random.split(key)
        size = WINDOW * WINDOW * inputs
        kernel = jax.random.uniform(key_kernel, (size, outputs), minval=-(size**-0.5), maxval=size**-0.5)
        params.append((kernel, jax.numpy.zeros(outputs)))
    return params


def convolved(x, kernel, bias, xp):
    """x [B, height, width, in] -> [B, about half of each, out], as a product of matrices: on a CPU faster than lax.conv."""
    height, width = ((side - WINDOW) // STRIDE + 1 for side in x.shape[1:3])
    rows, columns = ([slice(i, i + STRIDE * (n - 1) + 1, STRIDE) for i in range(WINDOW)] for n in (height, width))
    windows = xp.concatenate([x[:, row, column] for row in rows for column in columns], axis=-1)
    return xp.maximum(windows @ kernel + bias, 0.0)


def features(params, obs, xp):
    """obs [B, 432], from 0 to 255 -> [B, 64]; -1 leaves the number of rows open"""
    x = obs.reshape(-1, *SHAPE) / 255.0
    for kernel, bias in params:
        x = convolved(x, kernel, bias, xp)
    return x.reshape(-1, 2 * 2 * CHANNELS[-1])


def apply(params, obs):
    import jax.numpy as jnp

    return features(params, obs, jnp)


def apply_numpy(params, obs):
    return features(params, obs, np)


CNN = cuprl.Encoder(init, apply, apply_numpy)
