"""Running mean and variance of observations, on the host in float64.

It is constant while a batch is collected, so that the policy is one fixed function of the observation during that
batch, and takes the batch in afterwards. Evaluation never updates it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

CLIP = 5.0
LOW, HIGH = np.array(-CLIP), np.array(CLIP)  # arrays, and apart: on few rows that is faster than np.clip or numbers


@dataclass(frozen=True)
class Normaliser:
    count: np.ndarray  # []
    mean: np.ndarray  # [obs]
    var: np.ndarray  # [obs]

    @staticmethod
    def identity(obs_dim: int) -> Normaliser:
        return Normaliser(np.zeros(()), np.zeros(obs_dim), np.ones(obs_dim))

    def update(self, obs: np.ndarray) -> Normaliser:
        """Welford's rule for a batch obs [..., obs] (Chan et al.)."""
        obs = obs.reshape(-1, obs.shape[-1])
        n, mean, var = len(obs), obs.mean(axis=0), obs.var(axis=0)
        total = self.count + n
        shift = mean - self.mean
        new_var = (self.var * self.count + var * n + shift**2 * (self.count * n / total)) / total
        return Normaliser(total, self.mean + shift * (n / total), new_var)

    @staticmethod
    def off(obs_dim: int) -> Normaliser:
        return _Off(*Normaliser.identity(obs_dim).__dict__.values())

    @cached_property
    def scale(self) -> np.ndarray:
        return 1.0 / np.sqrt(self.var + 1e-8)

    def apply(self, obs: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """float32 [..., obs], clipped to ±5; into `out` if given."""
        scaled = obs - self.mean
        scaled *= self.scale
        np.minimum(np.maximum(scaled, LOW, out=scaled), HIGH, out=scaled)
        return as_float32(scaled, out)


class _Off(Normaliser):
    """Leaves observations as they are."""

    def update(self, obs: np.ndarray) -> Normaliser:
        return self

    def apply(self, obs: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        return as_float32(obs, out)


def as_float32(array: np.ndarray, out: np.ndarray | None) -> np.ndarray:
    if out is None:
        return np.asarray(array, np.float32)
    out[...] = array
    return out
