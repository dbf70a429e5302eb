"""Policies and their divergences stated plainly in float64 NumPy, and small batches to try updates on."""

import jax
import jax.numpy as jnp
import numpy as np

from cuprl.core.actions import Box, Discrete
from cuprl.core.spec import Constraint, Spec
from cuprl.learn.policy import policy_for
from cuprl.learn.settings import Common
from cuprl.learn.types import Batch
from cuprl.learn.visits import discounted_steps

KINDS = ("gaussian", "categorical")


def spec_for(kind, m=2, act=2, horizon=1000, discounts=(0.99, 0.9, 0.99)):
    constraints = tuple(Constraint(f"c{i}", 1.0 + i, discount) for i, discount in zip(range(m), discounts))
    return Spec("x", 3, Box(act, (-1.0,) * act, (1.0,) * act) if kind == "gaussian" else Discrete(4), constraints, horizon)


def batch_for(spec, params, seed=0, rows=64, excess=0.0, scale=1.0):
    """A batch that the policy `params` collected; the advantages depend on the action, costs in units of `scale`."""
    rng = np.random.default_rng(seed)
    policy = policy_for(spec, Common(hidden=(8,)))
    m = len(spec.constraints)
    obs = jnp.array(rng.normal(size=(rows, 3)), jnp.float32)
    action = policy.act(params, obs, policy.deviation(params, policy.noise(jax.random.PRNGKey(seed), (rows,))))
    shown = np.asarray(action, np.float64).reshape(rows, -1)
    signal = np.tanh(shown @ rng.normal(size=(shown.shape[1], 1 + m)) + np.asarray(obs) @ rng.normal(size=(3, 1 + m)))
    signal += 0.3 * rng.normal(size=signal.shape)
    adv_r = (signal[:, 0] - signal[:, 0].mean()) / signal[:, 0].std()
    return Batch(
        obs=obs,
        action=action,
        adv_r=jnp.array(adv_r, jnp.float32),
        adv_c=jnp.array(scale * signal[:, 1:], jnp.float32),
        ret=jnp.array(signal, jnp.float32),
        cost_return=jnp.array(spec.limits + scale * np.broadcast_to(excess, m), jnp.float32),
        limits=jnp.array(spec.limits),
        lr_scale=jnp.array(1.0),
        cost_span=jnp.array(discounted_steps(spec, Common())),
        episodes=jnp.array(5.0),
    )


def nearby(params, seed, size=0.1):
    rng = np.random.default_rng(seed)
    return jax.tree.map(lambda x: x + size * jnp.array(rng.normal(size=x.shape), jnp.float32), params)


def plain_dist(params, obs):
    """(mean, std) [B, act] of a Gaussian, or probabilities [B, n]."""
    x = np.asarray(obs, np.float64)
    layers = [(np.asarray(w, np.float64), np.asarray(b, np.float64)) for w, b in params["layers"]]
    for weight, bias in layers[:-1]:
        x = np.tanh(x @ weight + bias)
    out = x @ layers[-1][0] + layers[-1][1]
    if "log_std" in params:
        return out, np.broadcast_to(np.exp(np.asarray(params["log_std"], np.float64)), out.shape)
    p = np.exp(out - out.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True)


def plain_prob(dist, action):
    """The density of each action [B]: over the dimensions of one action it is a product."""
    action = np.asarray(action)
    if isinstance(dist, tuple):
        mean, std = dist
        return np.prod(np.exp(-(((action - mean) / std) ** 2) / 2) / (std * np.sqrt(2 * np.pi)), axis=1)
    return dist[np.arange(len(dist)), action]


def plain_kl(p, q):
    """KL(p, q) of each state [B]: a sum over action dimensions."""
    if isinstance(p, tuple):
        (m1, s1), (m2, s2) = p, q
        return (np.log(s2 / s1) + (s1**2 + (m1 - m2) ** 2) / (2 * s2**2) - 0.5).sum(axis=1)
    return (p * np.log(p / q)).sum(axis=1)


def plain_ratio(new, old, obs, action):
    return plain_prob(plain_dist(new, obs), action) / plain_prob(plain_dist(old, obs), action)
