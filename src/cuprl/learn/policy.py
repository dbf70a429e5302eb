"""Stochastic policies: what may be asked of each, and which a task's actions need.

They are a Gaussian, squashed into the bounds or not, and one choice or several at once.

A distribution is a NamedTuple of arrays with leading axes [...], so that it can be
sliced into minibatches; log-probabilities, divergences and entropies SUM over action dimensions and are [...].
"""

from __future__ import annotations

from types import ModuleType
from typing import Any, Protocol

import jax
import jax.numpy as jnp

from cuprl.core.actions import Box, MultiDiscrete
from cuprl.core.spec import Spec
from cuprl.errors import UserError
from cuprl.learn.categorical import Categorical, MultiCategorical
from cuprl.learn.gaussian import Gaussian, Squashed
from cuprl.learn.networks import Network
from cuprl.learn.settings import Common


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
