"""What a policy sees of an observation: shifted, scaled and clipped, on the host in float64.

    x  =  clip((obs - mean) * scale, -clip, clip)     as float32

Acting, exporting and deploying all do it with `Normaliser.apply`; only an ONNX file has it as a graph of its own. It is
constant while a batch is collected, so that the policy is one fixed function of the observation during that batch, and
takes the batch in afterwards. Evaluation never updates it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

CLIP = 5.0
LEAST = 1e-8  # added to a variance, which may be 0


class Moments(NamedTuple):
    """The mean and the variance of the observations seen so far, or of any other vectors."""

    count: np.ndarray  # type: ignore[assignment]  # []
    mean: np.ndarray  # [obs]
    var: np.ndarray  # [obs]

    @staticmethod
    def none(obs_dim: int) -> Moments:
        """Begin, before anything is seen."""
        return Moments(np.zeros(()), np.zeros(obs_dim), np.ones(obs_dim))

    def with_batch(self, obs: np.ndarray) -> Moments:
        """Take in obs [..., obs], by Welford's rule for batches (Chan et al.)."""
        obs = obs.reshape(-1, obs.shape[-1])
        n, mean, var = len(obs), obs.mean(axis=0), obs.var(axis=0)
        total = self.count + n
        shift = mean - self.mean
        new_var = (self.var * self.count + var * n + shift**2 * (self.count * n / total)) / total
        return Moments(total, self.mean + shift * (n / total), new_var)

    @property
    def size(self) -> np.ndarray:
        """Give the root mean square of each entry, never 0."""
        return np.sqrt(self.var + self.mean**2 + LEAST)


@dataclass(frozen=True)
class Normaliser:
    """The function from raw observations to what the network is given."""

    mean: np.ndarray  # [obs]
    scale: np.ndarray  # [obs]
    clip: np.ndarray  # []
    seen: Moments | None = None  # what it was made of and learns on from; without, it stays as it is

    @staticmethod
    def of(seen: Moments) -> Normaliser:
        """Bring what was seen to mean 0 and variance 1."""
        return Normaliser(seen.mean, 1.0 / np.sqrt(seen.var + LEAST), np.array(CLIP), seen)

    @staticmethod
    def identity(obs_dim: int) -> Normaliser:
        """Begin to learn: until something was seen, it only clips."""
        return Normaliser.of(Moments.none(obs_dim))

    @staticmethod
    def off(obs_dim: int) -> Normaliser:
        """Leave observations as they are, for ever."""
        return Normaliser(np.zeros(obs_dim), np.ones(obs_dim), np.array(np.inf))

    def update(self, obs: np.ndarray) -> Normaliser:
        """Learn from obs [..., obs]."""
        return self if self.seen is None else Normaliser.of(self.seen.with_batch(obs))

    @cached_property
    def floor(self) -> np.ndarray:
        """Give -clip, as an array [] too."""
        return np.array(-self.clip)

    def apply(self, obs: Any, out: np.ndarray | None = None, xp: ModuleType = np) -> Any:
        """Map obs [..., obs] to float32 of the same shape, into `out` if given; in NumPy, or in `xp`, as jax.numpy."""
        scaled = obs - self.mean
        scaled *= self.scale
        scaled = xp.minimum(xp.maximum(scaled, self.floor), self.clip)  # with arrays: faster on few rows than np.clip
        if out is None:
            return xp.asarray(scaled, np.float32)
        out[...] = scaled
        return out

    def beyond(self, obs: np.ndarray) -> np.ndarray:
        """Tell which entries of obs [..., obs] it clips, NaN among them: bools of the same shape."""
        return ~(np.abs((obs - self.mean) * self.scale) <= self.clip)

    # --- in an exported policy ----------------------------------------------------------------------------------

    def arrays(self) -> dict[str, np.ndarray]:
        """Name what it applies, without what it has seen."""
        return {"mean": self.mean, "scale": self.scale, "clip": self.clip}

    @staticmethod
    def from_arrays(arrays: dict[str, np.ndarray]) -> Normaliser:
        """Make it again of its `arrays`, among any others; it stays as it is."""
        return Normaliser(arrays["mean"], arrays["scale"], arrays["clip"])

    def moments(self, count: float) -> Moments:
        """Get back what it was made `of`, from so many observations: the variance from the scale, up to rounding."""
        mean, scale = np.asarray(self.mean, np.float64), np.asarray(self.scale, np.float64)
        return Moments(np.array(float(count)), mean, np.maximum(scale**-2.0 - LEAST, 0.0))
