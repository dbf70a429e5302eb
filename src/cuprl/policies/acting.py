"""A policy to act with: raw observations in, actions out, in NumPy alone whatever computes the network."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from cuprl.core.actions import Action, Box
from cuprl.core.activations import ACTIVATIONS, USUAL
from cuprl.core.encoder import Encoder, by_rows, from_names
from cuprl.core.normaliser import Normaliser
from cuprl.core.observations import LARGEST, fault
from cuprl.core.spec_json import action_from_json
from cuprl.core.user_modules import Trust
from cuprl.core.values import whole
from cuprl.errors import UserError
from cuprl.policies import zoo
from cuprl.policies.checks import check_outputs, check_weights, layers_of, of_encoder

Outputs = Callable[[np.ndarray], np.ndarray]  # raw obs [..., obs] -> a Gaussian's mean, or logits side by side


def decoder(info: dict[str, Any], action: Action) -> Callable[..., Any]:
    """Give the function from a policy's outputs to its actions, in NumPy or in `xp`."""
    return action.squash if info.get("policy") == "squashed" and isinstance(action, Box) else action.decode


class SavedPolicy:
    """Acts: `predict` maps raw observations to actions; `info` tells what the policy is and what it was measured to do."""

    def __init__(
        self,
        info: dict[str, Any],
        outputs: Outputs,
        source: Path | None = None,
        arrays: dict[str, np.ndarray] | None = None,
    ):
        """Make it; arrays: as `numpy_network` takes them, where the policy is made of plain arrays."""
        self.info, self.outputs, self.source = info, outputs, source
        self.arrays = arrays or {}
        self.task: Any = None  # the task itself, where its name alone does not find it
        self.trust: Trust = False  # in the modules that `info` names
        self.encoder: Encoder | None = None  # its own, where it has one and is made of plain arrays
        self._obs_dim, self._action = info["spec"]["obs_dim"], action_from_json(info["spec"]["action"])
        self._decode = decoder(info, self._action)
        self._std = None if info["log_std"] is None else np.exp(np.array(info["log_std"], np.float32))  # [act]
        self._rng = np.random.default_rng(0)
        check_outputs(outputs(np.zeros(self._obs_dim)), self._std, self._action)

    def __repr__(self) -> str:
        learnt = f"{self.info['task']} by {self.info['algo']}, seed {self.info['seed']}, iteration {self.info['iteration']}"
        return f"<{type(self).__name__} of {learnt}: obs {self._obs_dim}, action {self._action}>"

    @property
    def step_seconds(self) -> float | None:
        """Tell the seconds from one action to the next in training; None where its task did not tell."""
        return self.info["spec"].get("step_seconds")

    @property
    def fingerprint(self) -> str | None:
        """Give 16 hex digits that tell its weights from any other's; None where it does not show them."""
        if not self.arrays:
            return None
        digest = hashlib.sha256(str(self.info["log_std"]).encode())
        for name, array in sorted(self.arrays.items()):
            digest.update(f"{name} {array.dtype.str} {array.shape}".encode() + array.tobytes())
        return digest.hexdigest()[:16]

    def seed(self, seed: int) -> None:
        """Begin the noise of sampled actions anew."""
        self._rng = np.random.default_rng(whole(seed, "seed", least=0))

    def beside(self, in_run: str, suffix: str) -> Path | None:
        """Say where a file about this policy goes unless told: into its run, beside its file, or, of the zoo, here.

        in_run: what it is called in a run's folder; suffix: what it has in place of a policy file's own. None for a policy
        that has neither folder nor file.
        """
        if self.source is None:
            return None
        if self.source.is_dir():
            return self.source / in_run
        return Path(str(self.source).removeprefix(zoo.PREFIX)).with_suffix(suffix)

    def predict(self, obs: np.ndarray, deterministic: bool = True) -> np.ndarray:
        """Give the action(s) for obs [obs] or [N, obs]: the mode, or a sample of the policy.

        An observation that is not finite, or too large to be one, is refused: there is no action that fits it.
        """
        obs = self._checked(obs)
        if wrong := fault(obs):
            raise UserError(f"{wrong}: the policy has no action for that; give numbers of at most {LARGEST:g} in size.")
        out = self.outputs(obs)
        return self._decode(out if deterministic else out + self._deviation(out.shape))

    def _checked(self, obs: np.ndarray) -> np.ndarray:
        """Take an observation in float64, and refuse what is none or has another shape."""
        obs = real_numbers(obs, "the observation").astype(np.float64, copy=False)
        if obs.shape[-1:] != (self._obs_dim,):
            wanted = f"[{self._obs_dim}] or [N, {self._obs_dim}]"
            raise UserError(f"the observation has the shape {list(obs.shape)}; this policy takes {wanted}.")
        return obs

    def strange(self, obs: np.ndarray) -> np.ndarray:
        """Tell which entries of obs [obs] or [N, obs] are far outside of what was seen in training: bools of the same shape.

        Far is beyond the normaliser's clip, five standard deviations from the mean: `predict` sees such an entry only as
        five. NaN and infinity are strange too. An .onnx or .jax file does not show its normaliser, and is refused.
        """
        obs = self._checked(obs)
        if "clip" not in self.arrays:
            raise UserError(f"{self.source} does not show what its normaliser saw; load the run, or export it as .npz.")
        if not np.isfinite(self.arrays["clip"]):
            raise UserError("this policy was trained with normalise=False: what it saw is not known; check it yourself.")
        return Normaliser.from_arrays(self.arrays).beyond(obs)

    def _deviation(self, shape: tuple[int, ...]) -> np.ndarray:
        """Draw what makes a sample of the mode."""
        if self._std is not None:
            return self._std * self._rng.standard_normal(shape, np.float32)
        return self._rng.gumbel(size=shape).astype(np.float32)

    def clip(self, action: np.ndarray) -> np.ndarray:
        """Bring real actions within what the actuators accept; choices stay. NaN is refused, not clipped."""
        if not isinstance(self._action, Box):
            return action
        action = real_numbers(action, "the action")
        dim = self._action.dim
        if action.shape[-1:] != (dim,):
            raise UserError(f"the action has the shape {list(action.shape)}; give [{dim}] or [N, {dim}].")
        if np.isnan(action).any():
            wrong = np.unique(np.nonzero(np.isnan(action))[-1])
            raise UserError(f"the action is NaN in entry {', '.join(map(str, wrong))}; send none, and look at what made it.")
        return np.clip(action, *self._action.inside)


def real_numbers(values: Any, what: str) -> np.ndarray:
    """Take what a caller gives as an array of real numbers, float64 unless it has a precision of its own."""
    try:
        given = np.asarray(values)
        if given.dtype.kind == "c":
            raise TypeError("its numbers are complex")
        return given if given.dtype.kind == "f" else given.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise UserError(f"{what} is no array of real numbers ({error}); give one.") from None


def numpy_network(arrays: dict[str, np.ndarray], activation: str = USUAL, encoder: Encoder | None = None) -> Outputs:
    """Make the normaliser and the network of their arrays: mean, scale, clip, weight0, bias0, weight1, … and encoder/…"""
    check_weights(arrays)
    normaliser = Normaliser.from_arrays(arrays)
    *hidden, (last_weight, last_bias) = layers_of(arrays)
    between = ACTIVATIONS[activation](np)
    inputs: Outputs = normaliser.apply
    if encoder is not None:
        params, encode = from_names(of_encoder(arrays)), on_host(encoder)

        def inputs(obs: np.ndarray) -> np.ndarray:
            return by_rows(encode, params, normaliser.apply(obs))

    def outputs(obs: np.ndarray) -> np.ndarray:
        x = inputs(obs)
        for weight, bias in hidden:
            x = between(x @ weight + bias)
        return x @ last_weight + last_bias

    return outputs


def on_host(encoder: Encoder) -> Callable[[Any, np.ndarray], np.ndarray]:
    """Give what encodes while acting; JAX is needed only where there is no function in NumPy."""
    if encoder.numpy is not None:
        return encoder.numpy
    from cuprl.learn import encoding

    return encoding.on_host(encoder)
