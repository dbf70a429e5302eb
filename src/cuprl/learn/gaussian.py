"""Policies for real actions: a diagonal Gaussian, as it is or squashed into the actions' bounds."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from cuprl.core.actions import Box
from cuprl.learn.networks import Network

LOG_2PI = float(np.log(2.0 * np.pi))
LOG_2 = float(np.log(2.0))
_nodes, _weights = np.polynomial.hermite_e.hermegauss(64)
NODES, NODE_WEIGHTS = _nodes.astype(np.float32), (_weights / _weights.sum()).astype(np.float32)  # E f(z) = f(NODES) @ …


class Normal(NamedTuple):
    """Independent normal distributions, one for each entry of an action."""

    mean: Any  # [..., act]
    log_std: Any  # [..., act]


@dataclass(frozen=True)
class Gaussian:
    """N(mean(s), diag(std)²) with a state-independent log std."""

    obs_dim: int
    act_dim: int
    network: Network
    init_log_std: float

    def init(self, key: jax.Array) -> dict[str, Any]:
        log_std = jnp.full(self.act_dim, self.init_log_std, jnp.float32)
        return {**self.network.init(key, self.obs_dim, self.act_dim), "log_std": log_std}

    def noise(self, key: jax.Array, shape: tuple[int, ...]) -> jax.Array:
        return jax.random.normal(key, (*shape, self.act_dim))

    def deviation(self, params: dict[str, Any], noise: Any, xp: ModuleType = jnp) -> Any:
        return xp.exp(params["log_std"]) * noise

    def act(self, params: dict[str, Any], obs: Any, deviation: Any = None, xp: ModuleType = jnp) -> Any:
        mean = self.network.apply(params, obs, xp)
        return mean if deviation is None else mean + deviation

    def command(self, action: Any, xp: ModuleType = jnp) -> Any:
        return action

    def dist(self, params: dict[str, Any], obs: Any) -> Any:
        mean = self.network.apply(params, obs)
        return Normal(mean, jnp.broadcast_to(params["log_std"], mean.shape))

    def log_prob(self, dist: Any, action: jax.Array) -> jax.Array:
        z = (action - dist.mean) * jnp.exp(-dist.log_std)
        return -0.5 * (z**2 + LOG_2PI).sum(-1) - dist.log_std.sum(-1)

    def kl(self, p: Any, q: Any) -> jax.Array:
        """Give KL(p, q) [...], written with expm1 so that it is exactly 0, not ±1e-8, where p = q."""
        gap = p.log_std - q.log_std
        shift = (p.mean - q.mean) * jnp.exp(-q.log_std)
        return (0.5 * (jnp.expm1(2.0 * gap) + shift**2) - gap).sum(-1)

    def entropy(self, dist: Any) -> jax.Array:
        return (dist.log_std + 0.5 * (1.0 + LOG_2PI)).sum(-1)

    def keep_noise(self, params: dict[str, Any], before: dict[str, Any], least: jax.Array | float) -> dict[str, Any]:
        kept = jnp.maximum(params["log_std"], jnp.minimum(before["log_std"], jnp.log(least)))
        return {**params, "log_std": kept}


@dataclass(frozen=True)
class Squashed(Gaussian):
    """a = middle + reach tanh(u) within the bounds of the action, with u ~ N(mean(s), diag(std)²).

    Actions are kept and asked for as u, from which a is known to the last digit also where tanh is flat; densities are those
    of a. A one-to-one map changes no KL and no Fisher information: they are the Gaussians'. The deterministic action is
    that of u = mean(s), the median of each entry of a.
    """

    box: Box

    def command(self, action: Any, xp: ModuleType = jnp) -> Any:
        return self.box.squash(action, xp)

    def log_slope(self, u: Any) -> Any:
        """Give log da/du = log reach + log(1 - tanh(u)²) of each entry, finite for all u."""
        return jnp.log(self.box.reach) + 2.0 * (LOG_2 - u - jax.nn.softplus(-2.0 * u))

    def log_prob(self, dist: Any, action: jax.Array) -> jax.Array:
        """Give the log density of a = command(action) [...]: the Gaussian's of u, less log |da/du|."""
        return super().log_prob(dist, action) - self.log_slope(action).sum(-1)

    def entropy(self, dist: Any) -> jax.Array:
        """Add E[log |da/du|] to the Gaussian's [...]; it has no closed form: by quadrature, to 1e-5 up to a std of 2."""
        u = dist.mean[..., None] + jnp.exp(dist.log_std)[..., None] * NODES  # [..., act, nodes]
        slope = jnp.moveaxis(self.log_slope(jnp.moveaxis(u, -1, 0)), 0, -1)
        return super().entropy(dist) + (slope @ NODE_WEIGHTS).sum(-1)
