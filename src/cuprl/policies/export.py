"""A run's policy in one file that needs neither the run nor the training code: `deployed` reads it again.

It says what the policy is: task, limits, spec, bounds, what it was measured to do. `formats` has the bytes of each kind.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cuprl.core.extras import need
from cuprl.errors import UserError, unknown
from cuprl.policies.certificate import Certificate
from cuprl.policies.checks import of_encoder
from cuprl.policies.deployed import SavedPolicy
from cuprl.policies.formats import jax_bytes, numpy_bytes, onnx_bytes
from cuprl.policies.load import loaded
from cuprl.runs.files import try_writing, write_with_folders
from cuprl.runs.folder import Run

SUFFIXES = {"numpy": ".npz", "onnx": ".onnx", "jax": ".jax"}


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
    path = where(policy, to, out)
    writer = {"numpy": numpy_bytes, "onnx": onnx_bytes, "jax": jax_bytes}[to]
    info = {**policy.info, **as_carried(evaluation), **carried(certificate, policy)}
    content = writer(info, policy.arrays, policy.encoder)
    write_with_folders(path, content)
    return path


def where(policy: SavedPolicy, to: str, out: str | Path | None = None) -> Path:
    """Choose the file to write; what cannot be written is refused before anything is done for it."""
    refuse_program(policy)
    refuse_unwritable(policy, to)
    path = Path(out) if out is not None else policy.beside("policy" + SUFFIXES[to], SUFFIXES[to])
    if path is None:
        raise UserError("this policy has no folder yet; give the file to write as out=.")
    try_writing(path)
    return path


def as_carried(evaluation: dict[str, Any] | None) -> dict[str, Any]:
    """Make the entry of a policy's info: what its other entries do not say."""
    if evaluation is None:
        return {}
    return {"evaluation": {k: v for k, v in evaluation.items() if k not in ("task", "algo", "iteration", "run")}}


def carried(certificate: Certificate | None, policy: SavedPolicy) -> dict[str, Any]:
    """Make the entry of a policy's info; the certificate of another checkpoint is refused."""
    if certificate is None:
        return {}
    certificate.refuse_other(policy)
    return {"certificate": certificate.to_json()}


def write_with_certificate(policy: SavedPolicy, certificate: Certificate, out: Path) -> None:
    """Write the same policy, made of plain arrays, into a .npz file that carries the certificate."""
    write_with_folders(out, numpy_bytes({**policy.info, **carried(certificate, policy)}, policy.arrays, policy.encoder))


def check(to: str, out: str | Path | None = None) -> None:
    """Refuse a format or a file's name that nothing is written as, before a policy is loaded for it."""
    if to not in SUFFIXES:
        raise unknown("format", to, SUFFIXES)
    if out is not None and Path(out).suffix != SUFFIXES[to]:
        raise UserError(f"{out} does not end in {SUFFIXES[to]}, as a file of the format {to} must; name it so.")
    if to == "onnx":
        need("onnx", "writing an .onnx file needs onnx", "onnx")


def refuse_program(policy: SavedPolicy) -> None:
    """Refuse a policy that is read as a compiled program or a graph: it has no arrays to write."""
    if not policy.arrays:
        raise UserError(f"{policy.source} does not show its arrays; give the run it was exported from, or a .npz file.")


def refuse_unwritable(policy: SavedPolicy, to: str) -> None:
    """Refuse a format that cannot hold the policy's encoder."""
    encoder = policy.encoder
    if encoder is not None and to == "onnx":
        from cuprl.policies.to_onnx.encoder import encoder_nodes

        encoder_nodes(encoder, of_encoder(policy.arrays), policy.info["spec"]["obs_dim"], "obs")
    if encoder is not None and to == "numpy" and encoder.numpy is None:
        said = f"the encoder {encoder.name} has no function in NumPy, which a .npz file acts with"
        raise UserError(f"{said}; give it one, Encoder(init, apply, numpy), or export --to jax.")
