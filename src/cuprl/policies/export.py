"""A run's policy in one file that needs neither the run nor the training code: `deployed` reads it again.

The file holds the normaliser, the network and, as JSON, what the policy is: task, limits, spec, bounds, what it was
measured to do. Raw observations are normalised in float64 and the network computes in float32, as in training.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np

from cuprl.core.activations import USUAL
from cuprl.core.encoder import Encoder, from_names
from cuprl.core.normaliser import Normaliser
from cuprl.core.spec import Box
from cuprl.core.spec_json import action_from_json
from cuprl.errors import UserError, unknown
from cuprl.policies.acting import decoder
from cuprl.policies.certificate import Certificate
from cuprl.policies.checks import layers_of, of_encoder
from cuprl.policies.deployed import SavedPolicy, as_text, double_precision
from cuprl.policies.load import loaded
from cuprl.runs.files import write_atomically
from cuprl.runs.folder import Run

SUFFIXES = {"numpy": ".npz", "onnx": ".onnx", "jax": ".jax"}
PLATFORMS = ("cpu", "cuda", "rocm", "tpu")  # what a .jax file runs on


def export_policy(
    run: str | Path | Run | SavedPolicy,
    to: str = "numpy",
    out: str | Path | None = None,
    evaluation: Any = None,
    certificate: Certificate | None = None,
    *,
    checkpoint: str | int | None = None,
) -> Path:
    """Write a policy into one file, with all that acting needs, and return the file.

    Args:
        run: a run or its folder, a .npz file, "zoo:NAME", or such a policy as `load` gave it.
        to: "numpy" (.npz), "onnx" or "jax".
        out: the file [`policy` with the format's suffix, in the run's folder; beside a policy's file].
        evaluation: what `evaluate` returned, to be carried along [what a file carries already].
        certificate: what `certify` returned, to be carried along; that of another checkpoint is refused [likewise].
        checkpoint: as for `load`.
    """
    check(to, out)
    policy = loaded(run, checkpoint)
    if not policy.arrays:
        raise UserError(f"{policy.source} does not show its arrays; give the run it was exported from, or a .npz file.")
    path = Path(out) if out is not None else policy.beside("policy" + SUFFIXES[to], SUFFIXES[to])
    if path is None:
        raise UserError("this policy has no folder yet; give the file to write as out=.")
    writer = {"numpy": numpy_bytes, "onnx": onnx_bytes, "jax": jax_bytes}[to]
    refuse_unwritable(policy, to)
    info = {**policy.info, **as_carried(evaluation), **carried(certificate, policy)}
    content = writer(info, policy.arrays, policy.encoder)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, content)
    return path


def as_carried(evaluation: dict[str, Any] | None) -> dict[str, Any]:
    """The entry of a policy's info: what its other entries do not say."""
    if evaluation is None:
        return {}
    return {"evaluation": {k: v for k, v in evaluation.items() if k not in ("task", "algo", "iteration", "run")}}


def carried(certificate: Certificate | None, policy: SavedPolicy) -> dict[str, Any]:
    """The entry of a policy's info; the certificate of another checkpoint is refused."""
    if certificate is None:
        return {}
    certificate.refuse_other(policy)
    return {"certificate": certificate.to_json()}


def write_with_certificate(policy: SavedPolicy, certificate: Certificate, out: Path) -> None:
    """A .npz file of the same policy, made of plain arrays, that carries the certificate."""
    out.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(out, numpy_bytes({**policy.info, **carried(certificate, policy)}, policy.arrays, policy.encoder))


def check(to: str, out: str | Path | None = None) -> None:
    """Refuse what cannot be written, before anything is done for it."""
    if to not in SUFFIXES:
        raise unknown("format", to, SUFFIXES)
    if out is not None and Path(out).suffix != SUFFIXES[to]:
        raise UserError(f"{out} does not end in {SUFFIXES[to]}, as a file of the format {to} must; name it so.")
    if to == "onnx":
        try:
            import onnx  # noqa: F401
        except ImportError:
            raise UserError("writing an .onnx file needs onnx: pip install 'cuprl[onnx]'.") from None


def refuse_unwritable(policy: SavedPolicy, to: str) -> None:
    """Refuse a format that cannot hold the policy's encoder."""
    encoder = policy.encoder
    if encoder is not None and to == "onnx":
        from cuprl.policies.to_onnx.encoder import encoder_nodes

        encoder_nodes(encoder, of_encoder(policy.arrays), policy.info["spec"]["obs_dim"], "obs")
    if encoder is not None and to == "numpy" and encoder.numpy is None:
        said = f"the encoder {encoder.name} has no function in NumPy, which a .npz file acts with"
        raise UserError(f"{said}; give it one, Encoder(init, apply, numpy), or export --to jax.")


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
