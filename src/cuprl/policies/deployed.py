"""Policies in files, as `cup export` writes them: read, and act.

A .npz file is read and acted on with NumPy alone: on a robot's computer JAX need not even be installed.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from cuprl.core.observations import LARGEST, fault
from cuprl.core.user_modules import Trust
from cuprl.errors import UserError
from cuprl.policies.checks import NOT_FINITE, check_archive, check_info, check_sizes, check_weights, layers_of

KIND = "cuprl policy 1"  # marks an exported file, and the version of its layout
KEY = "cuprl"  # under it an .onnx file carries the metadata

Outputs = Callable[[np.ndarray], np.ndarray]  # raw obs [..., obs] -> a Gaussian's mean, or logits side by side


class SavedPolicy:
    """`predict` maps raw observations to actions; `info` tells what the policy is and what it was measured to do."""

    def __init__(
        self,
        info: dict[str, Any],
        outputs: Outputs,
        source: Path | None = None,
        arrays: dict[str, np.ndarray] | None = None,
    ):
        """arrays: as `numpy_network` takes them, where the policy is made of plain arrays."""
        self.info, self.outputs, self.source = info, outputs, source
        self.arrays = arrays or {}
        self.task: Any = None  # the task itself, where its name alone does not find it
        self.trust: Trust = False  # in the modules that `info` names
        self._obs_dim, self._action = info["spec"]["obs_dim"], info["spec"]["action"]
        self._std = None if info["log_std"] is None else np.exp(np.array(info["log_std"], np.float32))  # [act]
        self._rng = np.random.default_rng(0)
        std = np.zeros(0) if self._std is None else self._std
        if not (np.isfinite(std).all() and np.isfinite(outputs(np.zeros(self._obs_dim))).all()):
            raise ValueError(NOT_FINITE)

    def seed(self, seed: int) -> None:
        """Of the noise of sampled actions."""
        self._rng = np.random.default_rng(seed)

    def predict(self, obs: np.ndarray, deterministic: bool = True) -> np.ndarray:
        """obs [obs] or [N, obs] -> the action(s): the mode, or a sample of the policy.

        An observation that is not finite, or too large to be one, is refused: there is no action that fits it.
        """
        obs = self._checked(obs)
        if wrong := fault(obs):
            raise UserError(f"{wrong}: the policy has no action for that; give numbers of at most {LARGEST:g} in size.")
        out = self.outputs(obs)
        if self._std is not None:
            return out if deterministic else out + self._std * self._rng.standard_normal(out.shape, np.float32)
        if not deterministic:  # the largest of logits + Gumbel noise is a sample of their softmax
            out = out + self._rng.gumbel(size=out.shape).astype(np.float32)
        if self._action["kind"] == "Discrete":
            return out.argmax(axis=-1)
        parts = np.split(out, np.cumsum(self._action["sizes"])[:-1], axis=-1)
        return np.stack([part.argmax(axis=-1) for part in parts], axis=-1)

    def _checked(self, obs: np.ndarray) -> np.ndarray:
        """In float64, and of the right shape."""
        obs = np.asarray(obs, np.float64)
        if obs.shape[-1:] != (self._obs_dim,):
            wanted = f"[{self._obs_dim}] or [N, {self._obs_dim}]"
            raise UserError(f"the observation has the shape {list(obs.shape)}; this policy takes {wanted}.")
        return obs

    def strange(self, obs: np.ndarray) -> np.ndarray:
        """Which entries of obs [obs] or [N, obs] are far outside of what was seen in training: bools of the same shape.

        Far is beyond the normaliser's clip, five standard deviations from the mean: `predict` sees such an entry only as
        five. NaN and infinity are strange too. An .onnx or .jax file does not show its normaliser, and is refused.
        """
        obs = self._checked(obs)
        if "clip" not in self.arrays:
            raise UserError(f"{self.source} does not show what its normaliser saw; load the run, or export it as .npz.")
        if not np.isfinite(self.arrays["clip"]):
            raise UserError("this policy was trained with normalise=False: what it saw is not known; check it yourself.")
        mean, scale, clip = (self.arrays[name] for name in ("mean", "scale", "clip"))
        return ~(np.abs((obs - mean) * scale) <= clip)

    def clip(self, action: np.ndarray) -> np.ndarray:
        """Real actions within what the actuators accept; choices as they are. NaN is refused, not clipped."""
        if self._std is None:
            return action
        if np.isnan(action).any():
            wrong = np.unique(np.nonzero(np.isnan(action))[-1])
            raise UserError(f"the action is NaN in entry {', '.join(map(str, wrong))}; send none, and look at what made it.")
        low, high = (np.array(self._action[name], np.float32) for name in ("low", "high"))  # null: NaN, no bound
        return np.fmin(np.fmax(action, low), high)


def numpy_network(arrays: dict[str, np.ndarray]) -> Outputs:
    """The normaliser and the tanh network, as exported: mean, scale, clip, weight0, bias0, weight1, …"""
    check_weights(arrays)
    mean, scale, clip = (arrays[name] for name in ("mean", "scale", "clip"))
    *hidden, (last_weight, last_bias) = layers_of(arrays)

    def outputs(obs: np.ndarray) -> np.ndarray:
        x = np.minimum(np.maximum((obs - mean) * scale, -clip), clip).astype(np.float32)
        for weight, bias in hidden:
            x = np.tanh(x @ weight + bias)
        return x @ last_weight + last_bias

    return outputs


def damaged(path: Path, error: Any) -> UserError:
    return UserError(f"{path} is damaged or not a policy ({error}); export it again with `cup export RUN`.")


def parse_info(path: Path, text: str | None) -> dict[str, Any]:
    try:
        info = json.loads(text or "null")
    except (ValueError, RecursionError) as error:
        raise damaged(path, error) from None
    if not isinstance(info, dict) or info.get("kind") != KIND:
        raise UserError(f"{path} is not a policy that this cuprl exported: it lacks the mark {KIND!r}.")
    try:
        check_info(info)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise damaged(path, error) from None
    return info


def read_archive(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Metadata and arrays; the archive's own checksums show damage. Nothing is unpickled."""
    try:
        check_archive(path)
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except Exception as error:  # a broken archive may raise nearly anything
        raise damaged(path, error) from None
    text = arrays.pop("info", None)
    return parse_info(path, None if text is None else str(text)), arrays


def read_numpy(path: Path) -> SavedPolicy:
    info, arrays = read_archive(path)
    try:
        check_sizes(arrays, info["log_std"], info["spec"])
        return SavedPolicy(info, numpy_network(arrays), path, arrays)
    except (KeyError, TypeError, ValueError) as error:
        raise damaged(path, error) from None


def onnx_arrays(content: bytes) -> dict[str, np.ndarray]:
    """The arrays in a model's file; where only the runtime is installed, which does not give them, none."""
    try:
        import onnx
    except ImportError:
        return {"scale": np.ones(1)}
    return {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in onnx.load_from_string(content).graph.initializer}


def read_onnx(path: Path) -> SavedPolicy:
    try:
        import onnxruntime
    except ImportError:
        raise UserError(f"{path} needs onnxruntime: pip install 'cuprl[onnx]'.") from None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1  # a network this small gains nothing from more
    content = path.read_bytes()
    try:
        check_weights(onnx_arrays(content))
        session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # its own exceptions have no common base
        raise damaged(path, str(error).splitlines()[0]) from None
    info = parse_info(path, session.get_modelmeta().custom_metadata_map.get(KEY))

    def outputs(obs: np.ndarray) -> np.ndarray:
        (out,) = session.run(["outputs"], {"obs": obs.reshape(-1, obs.shape[-1])})
        return out.reshape(*obs.shape[:-1], -1)

    try:
        return SavedPolicy(info, outputs, path)
    except (KeyError, TypeError, ValueError) as error:
        raise damaged(path, error) from None


class JaxPolicy(SavedPolicy):
    """`call` is the policy as a JAX function, obs [..., obs] -> (mode, outputs): for use under jit, vmap and scan."""

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
    """A context in which JAX keeps float64: raw observations are normalised in it, as in training."""
    import jax

    if hasattr(jax, "enable_x64"):
        return jax.enable_x64(True)
    from jax.experimental import enable_x64  # type: ignore[attr-defined]  # where JAX had it before

    return enable_x64()


def read_jax(path: Path) -> SavedPolicy:
    info, arrays = read_archive(path)
    try:
        return JaxPolicy(info, bytearray(arrays["artifact"]), path)
    except (KeyError, TypeError, ValueError) as error:
        raise damaged(path, error) from None


READERS: dict[str, Callable[[Path], SavedPolicy]] = {".npz": read_numpy, ".onnx": read_onnx, ".jax": read_jax}
