"""Policies in files, as `cup export` writes them, read to act with.

A .npz file needs NumPy alone: on a robot's computer nothing else need be installed. The others import what they run on.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from cuprl.core.activations import USUAL
from cuprl.core.encoder import Encoder, find_encoder
from cuprl.core.extras import need
from cuprl.errors import UserError, first_line
from cuprl.policies.acting import SavedPolicy, numpy_network
from cuprl.policies.checks import LARGEST_FILE, check_archive, check_info, check_sizes, check_weights
from cuprl.runs import files

KIND = "cuprl policy 1"  # marks an exported file, and the version of its layout
KIND_2 = "cuprl policy 2"  # also says its activation, policy or encoder, which a reader of the first would pass over
KEY = "cuprl"  # under it an .onnx file carries the metadata


def damaged(path: Path, error: Any) -> UserError:
    """Say what is wrong with a file."""
    return UserError(f"{path} is damaged or not a policy ({error}); export it again with `cup export RUN`.")


def as_text(info: dict[str, Any]) -> str:
    """Write the metadata."""
    return json.dumps(info, allow_nan=False)  # strict JSON, for readers in any language


def parse_info(path: Path, text: str | None) -> dict[str, Any]:
    """Read the metadata, and refuse what is not a policy's."""
    try:
        info = json.loads(text or "null")
    except (ValueError, RecursionError) as error:
        raise damaged(path, error) from None
    if not isinstance(info, dict) or info.get("kind") not in (KIND, KIND_2):
        raise UserError(f"{path} is not a policy that this cuprl exported: it lacks the mark {KIND!r}.")
    try:
        check_info(info)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise damaged(path, error) from None
    return info


def read_archive(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Read metadata and arrays; the archive's own checksums show damage. Nothing is unpickled."""
    try:
        check_archive(path)
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except Exception as error:  # a broken archive may raise nearly anything
        raise damaged(path, error) from None
    text = arrays.pop("info", None)
    return parse_info(path, None if text is None else str(text)), arrays


def read_numpy(path: Path, encoder: Encoder | None = None) -> SavedPolicy:
    """Read a .npz file, with NumPy alone; its encoder, if it has one, is the one given, or that which it names."""
    info, arrays = read_archive(path)
    encoder = find_encoder(encoder or info["encoder"]) if "encoder" in info else None
    try:
        check_sizes(arrays, info["spec"], encoder is not None)
        policy = SavedPolicy(info, numpy_network(arrays, info.get("activation", USUAL), encoder), path, arrays)
    except Exception as error:  # an encoder's own code may raise anything
        raise damaged(path, first_line(error)) from None
    policy.encoder = encoder
    return policy


def onnx_arrays(content: bytes) -> dict[str, np.ndarray]:
    """Take the arrays out of a model's file; where only the runtime is installed, which does not give them, none."""
    try:
        import onnx
    except ImportError:
        return {"scale": np.ones(1)}
    return {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in onnx.load_from_string(content).graph.initializer}


def read_onnx(path: Path, encoder: Encoder | None = None) -> SavedPolicy:
    """Read an .onnx file, to run with ONNX Runtime; an encoder is in it."""
    onnxruntime = need("onnxruntime", f"{path} needs onnxruntime", "onnx")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1  # a network this small gains nothing from more
    options.log_severity_level = 4  # what it would print of a damaged file is said here, in a sentence
    content = files.read(path, LARGEST_FILE)
    try:
        check_weights(onnx_arrays(content))
        session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"], enable_fallback=0)
        text = session.get_modelmeta().custom_metadata_map.get(KEY)
    except Exception as error:  # its own exceptions have no common base
        raise damaged(path, first_line(error)) from None
    info = parse_info(path, text)

    def outputs(obs: np.ndarray) -> np.ndarray:
        (out,) = session.run(["outputs"], {"obs": obs.reshape(-1, obs.shape[-1])})
        return out.reshape(*obs.shape[:-1], -1)

    try:
        return SavedPolicy(info, outputs, path)
    except Exception as error:  # as above: what does not fit together is seen when it is run
        raise damaged(path, first_line(error)) from None


class JaxPolicy(SavedPolicy):
    """Has the policy as a JAX function too: `call`, obs [..., obs] -> (mode, outputs), goes under jit, vmap and scan."""

    def __init__(self, info: dict[str, Any], artifact: bytearray, source: Path):
        from cuprl import backend  # noqa: F401  (backend sets JAX up before anything imports it)

        import jax  # isort: skip
        from jax import export

        exported = export.deserialize(artifact)

        @jax.custom_batching.custom_vmap
        def call(obs: jax.Array) -> tuple[jax.Array, ...]:
            with double_precision():
                results = exported.call(obs.reshape(-1, obs.shape[-1]).astype(np.float64))
            return tuple(x.reshape(*obs.shape[:-1], *x.shape[1:]) for x in results)

        @call.def_vmap
        def _(size: int, batched: Any, obs: jax.Array) -> tuple[Any, tuple[bool, bool]]:
            return call(obs), (True, True)  # it takes any leading axes as it is

        self.call = call
        compiled = jax.jit(call)

        def outputs(obs: np.ndarray) -> np.ndarray:
            with double_precision():
                return np.asarray(compiled(obs)[1])

        super().__init__(info, outputs, source)


def double_precision() -> Any:
    """Open a context in which JAX keeps float64: raw observations are normalised in it, as in training."""
    import jax

    if hasattr(jax, "enable_x64"):
        return jax.enable_x64(True)
    from jax.experimental import enable_x64  # type: ignore[attr-defined]  # where JAX had it before

    return enable_x64()


def read_jax(path: Path, encoder: Encoder | None = None) -> SavedPolicy:
    """Read a .jax file, an encoder in it. It is a compiled program: whoever calls this trusts it."""
    info, arrays = read_archive(path)
    try:
        return JaxPolicy(info, bytearray(arrays["artifact"]), path)
    except Exception as error:  # a broken program may raise nearly anything
        raise damaged(path, first_line(error)) from None


Reader = Callable[[Path, Encoder | None], SavedPolicy]
READERS: dict[str, Reader] = {".npz": read_numpy, ".onnx": read_onnx, ".jax": read_jax}
