"""Policies for choices: a softmax over discrete actions, or several side by side."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from cuprl.core.actions import Discrete, MultiDiscrete
from cuprl.learn.networks import Network


class Logits(NamedTuple):
    """Softmax distributions over choices."""

    log_p: Any  # [..., n], normalised; with several choices each one's lie side by side, each normalised


@dataclass(frozen=True)
class Categorical:
    """Softmax over n actions."""

    obs_dim: int
    action: Discrete | MultiDiscrete
    network: Network

    def init(self, key: jax.Array) -> dict[str, Any]:
        return self.network.init(key, self.obs_dim, self.action.outputs)

    def noise(self, key: jax.Array, shape: tuple[int, ...]) -> jax.Array:
        return jax.random.gumbel(key, (*shape, self.action.outputs))

    def deviation(self, params: dict[str, Any], noise: Any, xp: ModuleType = jnp) -> Any:
        return noise

    def act(self, params: dict[str, Any], obs: Any, deviation: Any = None, xp: ModuleType = jnp) -> Any:
        logits = self.network.apply(params, obs, xp)
        return self.action.decode(logits if deviation is None else logits + deviation, xp)

    def command(self, action: Any, xp: ModuleType = jnp) -> Any:
        return action

    def dist(self, params: dict[str, Any], obs: Any) -> Any:
        return Logits(jax.nn.log_softmax(self.network.apply(params, obs)))

    def log_prob(self, dist: Any, action: jax.Array) -> jax.Array:
        return jnp.take_along_axis(dist.log_p, action[..., None].astype(int), axis=-1)[..., 0]

    def kl(self, p: Any, q: Any) -> jax.Array:
        return (jnp.exp(p.log_p) * (p.log_p - q.log_p)).sum(-1)

    def entropy(self, dist: Any) -> jax.Array:
        return -(jnp.exp(dist.log_p) * dist.log_p).sum(-1)

    def keep_noise(self, params: dict[str, Any], before: dict[str, Any], least: jax.Array | float) -> dict[str, Any]:
        return params  # a softmax has no noise of its own


@dataclass(frozen=True)
class MultiCategorical(Categorical):
    """Several independent choices, a softmax each. Their log-probabilities lie side by side, so that Categorical's sums
    over them are the KL and the entropy of the whole action."""

    action: MultiDiscrete

    def dist(self, params: dict[str, Any], obs: Any) -> Any:
        parts = self.action.split(self.network.apply(params, obs), jnp)
        return Logits(jnp.concatenate([jax.nn.log_softmax(part) for part in parts], axis=-1))

    def log_prob(self, dist: Any, action: jax.Array) -> jax.Array:
        first = np.cumsum((0, *self.action.sizes[:-1]))  # where each choice's log-probabilities begin
        return jnp.take_along_axis(dist.log_p, action.astype(int) + first, axis=-1).sum(-1)
