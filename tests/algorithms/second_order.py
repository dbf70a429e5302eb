"""A whole update of a trust-region method, and what it did, measured afterwards in plain NumPy."""

import jax
import numpy as np

from algorithms.plain_policies import batch_for, plain_dist, plain_kl, plain_ratio, spec_for
from cuprl import algorithms

METHODS = ("trpo", "trpo-lag", "cpo", "pcpo", "pcpo-l2")


OLD_FIRST = ("trpo", "trpo-lag")  # TRPO bounds KL(pi_k, pi), CPO and PCPO KL(pi, pi_k)


def updated(name, kind="gaussian", m=2, excess=0.0, seed=0, scale=1.0, update=None, **settings):
    """(state before, batch, state after, metrics). Six action dimensions."""
    module, config = algorithms.load(name, {"hidden": (8,), "critic_epochs": 1, **settings})
    spec = spec_for(kind, m, 6)
    state = module.init(jax.random.PRNGKey(seed), config, spec)
    batch = batch_for(spec, state.policy, seed, 128, excess, scale)
    update = update or compiled(module)
    return state, batch, *update(state, batch, config, spec)


def compiled(module, fresh=False):
    """The compiled update; `fresh`: traced anew, so that it sees what a test has put in the place of something."""
    return jax.jit((lambda *a: module.update(*a)) if fresh else module.update, static_argnums=(2, 3))


def same(a, b):
    return all(np.array_equal(x, y) for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b)))


def measured_kl(name, state, new, batch):
    old, now = plain_dist(state.policy, batch.obs), plain_dist(new.policy, batch.obs)
    return (plain_kl(old, now) if name in OLD_FIRST else plain_kl(now, old)).mean()


def cost_changes(state, new, batch):
    """mean (ratio - 1) A^C / std [m], plainly."""
    adv_c = np.asarray(batch.adv_c, np.float64)
    ratio = plain_ratio(new.policy, state.policy, batch.obs, batch.action)
    return (ratio - 1) @ ((adv_c - adv_c.mean(axis=0)) / (adv_c.std(axis=0) + 1e-6)) / len(ratio)
