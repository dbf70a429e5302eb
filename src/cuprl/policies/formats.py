"""The bytes of a policy's file in each format: NumPy's archive, an ONNX graph, a compiled JAX program.

Each holds the normaliser, the network and, as JSON, what the policy is. Raw observations are normalised in float64 and the
network computes in float32, as in training.
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from cuprl.core.actions import Box
from cuprl.core.activations import USUAL
from cuprl.core.encoder import Encoder, from_names
from cuprl.core.normaliser import Normaliser
from cuprl.core.spec_json import action_from_json
from cuprl.policies.acting import decoder
from cuprl.policies.checks import layers_of, of_encoder
from cuprl.policies.deployed import as_text, double_precision

PLATFORMS = ("cpu", "cuda", "rocm", "tpu")  # what a .jax file runs on


def numpy_bytes(info: dict[str, Any], arrays: dict[str, np.ndarray], encoder: Encoder | None = None) -> bytes:
    """Pack the arrays and the metadata into an archive that `numpy.load` opens."""
    file = io.BytesIO()
    contents: dict[str, Any] = {"info": as_text(info), **arrays}
    np.savez(file, **contents)
    return file.getvalue()


def onnx_bytes(info: dict[str, Any], arrays: dict[str, np.ndarray], encoder: Encoder | None = None) -> bytes:
    """Write the graph, with a package that only this format needs."""
    from cuprl.policies.to_onnx.policy import policy_bytes

    return policy_bytes(info, arrays, encoder)


def jax_bytes(info: dict[str, Any], arrays: dict[str, np.ndarray], encoder: Encoder | None = None) -> bytes:
    """Compile obs [batch, obs] -> (action, outputs), and pack the program and the metadata into an archive."""
    from cuprl.learn.networks import Network

    import jax  # isort: skip
    import jax.numpy as jnp  # isort: skip
    from jax import export

    normaliser, action = Normaliser.from_arrays(arrays), action_from_json(info["spec"]["action"])
    network = Network((), info.get("activation", USUAL), encoder)
    params = {"encoder": from_names(of_encoder(arrays)), "layers": layers_of(arrays)}
    decode = decoder(info, action)

    def policy(obs: jax.Array) -> tuple[jax.Array, jax.Array]:
        out = network.apply(params, normaliser.apply(obs, xp=jnp))
        chosen = decode(out, jnp)
        return (chosen if isinstance(action, Box) else chosen.astype(np.int32)), out

    with double_precision():
        shape = export.symbolic_shape(f"batch, {info['spec']['obs_dim']}")
        program = export.export(jax.jit(policy), platforms=PLATFORMS)(jax.ShapeDtypeStruct(shape, np.float64))
        return numpy_bytes(info, {"artifact": np.frombuffer(program.serialize(), np.uint8)})
