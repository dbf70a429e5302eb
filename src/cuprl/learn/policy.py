"""Stochastic policies: a diagonal Gaussian for real actions, as it is or squashed into their bounds, a categorical for
discrete ones, or several side by side.

`Policy` says what may be asked of each. A distribution is a NamedTuple of arrays with leading axes [...], so that it can be
sliced into minibatches; log-probabilities, divergences and entropies SUM over action dimensions and are [...].
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from cuprl.core.actions import Box, Discrete, MultiDiscrete
from cuprl.core.spec import Spec
from cuprl.errors import UserError
from cuprl.learn.networks import Network
from cuprl.learn.settings import Common

LOG_2PI = float(np.log(2.0 * np.pi))
LOG_2 = float(np.log(2.0))
_nodes, _weights = np.polynomial.hermite_e.hermegauss(64)
NODES, NODE_WEIGHTS = _nodes.astype(np.float32), (_weights / _weights.sum()).astype(np.float32)  # E f(z) = f(NODES) @ …


class Policy(Protocol):
    """What algorithms and those who act may ask of a policy; any class with these methods is one.

    `params` is the pytree that `init` makes. What acts does so in NumPy (xp=np), what learns in JAX.
    """

    def init(self, key: jax.Array) -> Any:
        """Draw the parameters to begin with."""
        ...

    def noise(self, key: jax.Array, shape: tuple[int, ...]) -> jax.Array:
        """Draw standard noise for actions [*shape, ...]: it depends on no parameter."""
        ...

    def deviation(self, params: Any, noise: Any, xp: ModuleType = jnp) -> Any:
        """Turn noise into what `act` adds to the network's output. For many steps at once: it waits for no observation."""
        ...

    def act(self, params: Any, obs: Any, deviation: Any = None, xp: ModuleType = jnp) -> Any:
        """Choose actions for normalised obs [..., obs], by a deviation [..., outputs] drawn beforehand; the mode without.

        They are in the terms of `log_prob`, and are what a rollout keeps.
        """
        ...

    def command(self, action: Any, xp: ModuleType = jnp) -> Any:
        """Give what the environment is told for actions as `act` chose them: those themselves, unless squashed."""
        ...

    def dist(self, params: Any, obs: Any) -> Any:
        """Give the distribution of actions for obs [..., obs]."""
        ...

    def log_prob(self, dist: Any, action: jax.Array) -> jax.Array:
        """Give log pi(action) [...]."""
        ...

    def kl(self, p: Any, q: Any) -> jax.Array:
        """Give KL(p, q) [...] of two distributions."""
        ...

    def entropy(self, dist: Any) -> jax.Array:
        """Give the entropy [...]."""
        ...

    def keep_noise(self, params: Any, before: Any, least: jax.Array | float) -> Any:
        """Undo what a step from `before` took of the noise below the standard deviation `least`; raise it no further."""
        ...


class Normal(NamedTuple):
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
        """KL(p, q). Written with expm1 so that it is exactly 0, not ±1e-8, where p = q."""
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
        """log da/du = log reach + log(1 - tanh(u)²), each entry's; finite for all u."""
        return jnp.log(self.box.reach) + 2.0 * (LOG_2 - u - jax.nn.softplus(-2.0 * u))

    def log_prob(self, dist: Any, action: jax.Array) -> jax.Array:
        """log density of a = command(action) [...]: the Gaussian's of u, less log |da/du|."""
        return super().log_prob(dist, action) - self.log_slope(action).sum(-1)

    def entropy(self, dist: Any) -> jax.Array:
        """The Gaussian's plus E[log |da/du|], which has no closed form: by quadrature, to 1e-5 up to a std of 2."""
        u = dist.mean[..., None] + jnp.exp(dist.log_std)[..., None] * NODES  # [..., act, nodes]
        slope = jnp.moveaxis(self.log_slope(jnp.moveaxis(u, -1, 0)), 0, -1)
        return super().entropy(dist) + (slope @ NODE_WEIGHTS).sum(-1)


class Logits(NamedTuple):
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


def policy_for(spec: Spec, config: Common) -> Policy:
    """Choose the kind of policy that a task's actions need, and its settings ask for."""
    network, action = Network.of(config), spec.action
    if config.policy == "squashed":
        refuse_unbounded(spec)
    if isinstance(action, Box):
        parts = (spec.obs_dim, action.dim, network, config.init_log_std)
        return Squashed(*parts, action) if config.policy == "squashed" else Gaussian(*parts)
    if isinstance(action, MultiDiscrete):
        return MultiCategorical(spec.obs_dim, action, network)
    return Categorical(spec.obs_dim, action, network)


def refuse_unbounded(spec: Spec) -> None:
    """Refuse to squash what has no bounds to squash into."""
    if not isinstance(spec.action, Box):
        raise UserError(f"policy is squashed, but the actions of {spec.name} are choices; leave it at gaussian.")
    if (wrong := spec.action.unbounded()) is not None:
        raise UserError(f"policy is squashed, but {wrong} of {spec.name}; give finite bounds, or policy gaussian.")
