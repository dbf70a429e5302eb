"""J^C, the cost that is compared with the limit: from the episodes that ended, from the unfinished, or from all steps."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from cuprl.core.episodes import Episodes, Running
from cuprl.core.spec import Spec
from cuprl.learn.settings import Common
from cuprl.learn.visits import Visits, cost_discounts, limit_discounts, powers_summed


class EpisodeCosts(NamedTuple):
    """What was counted of the episodes' costs, each as its limit is meant: discounted, or the plain sum."""

    mean: Any  # [m] of the episodes that count; 0 if there are none
    count: Any  # [] how many these are
    so_far: Any  # [N, m] of the unfinished episodes
    rest: Any  # [N, m] what 1 of the critic's value of their present state adds to theirs
    first_step: Any  # [N] which step of its episode the rollout's first is

    @staticmethod
    def of(counted: Episodes, running: Running, first_step: np.ndarray, spec: Spec, config: Common) -> EpisodeCosts:
        """Count the finished episodes that matter and the unfinished ones, after the rollout."""
        plain = config.cost_return == "undiscounted"
        ended, so_far = ((x.total[:, 1:] if plain else x.discounted) for x in (counted, running))
        count = len(counted.length)
        mean = ended.mean(axis=0) if count else np.zeros(ended.shape[1])
        gamma = limit_discounts(spec, config)
        rest = gamma ** running.length[:, None] * critic_factor(running.length, spec, config)
        return EpisodeCosts(mean.astype(np.float32), count, so_far, rest, first_step)


def critic_factor(step: Any, spec: Spec, config: Common) -> Any:
    """Give [..., m] what 1 of a critic's value is of J^C's, in a state that is this step [...] of its episode.

    J^C counts the steps that are left, each as its limit is discounted. A critic that is bootstrapped over time limits
    counts on without an end, and where the limit is for a plain sum it discounts all the same. Both are taken to see a like
    cost at every step. Where the end is drawn by chance nobody knows how many are left, and the critic is taken at its word.
    """
    critic, limit = cost_discounts(spec, config), limit_discounts(spec, config)  # [m]
    known = (critic < 1.0) & (not spec.ends_by_chance)
    left = (spec.horizon - step).clip(0)[..., None]
    endless = 1.0 / (1.0 - critic + ~known)
    seen = endless if config.time_limits == "bootstrap" else powers_summed(critic, left).clip(1.0)
    return known * (powers_summed(limit, left) / seen) + ~known


def cost_return(
    costs: EpisodeCosts,
    cost: jax.Array,  # [T, N, m]
    value: jax.Array,  # [T, N, m] of the costs' critics
    next_value: jax.Array,  # [T, N, m]
    done: jax.Array,  # [T, N]
    seen: Visits,
    config: Common,
    spec: Spec,
) -> jax.Array:
    """Estimate J^C [m]."""
    # Where no episode ended, it is what the unfinished ones have cost so far and will by the critic: never a silent 0 that
    # would pass for safe.
    unfinished = (costs.so_far + costs.rest * next_value[-1]).mean(axis=0)
    measured = jnp.where(costs.count > 0, costs.mean, unfinished)
    if config.cost_estimate == "steps":
        gamma = jnp.asarray(limit_discounts(spec, config), jnp.float32)
        if len(cost) % spec.horizon:  # else it holds all parts of an episode as often, and any V will do
            value = value * critic_factor(seen.step, spec, config)
            next_value = next_value * critic_factor(seen.step + 1, spec, config)
        of_steps = cost_from_steps(cost, value, next_value, done, seen, gamma)
        measured = jnp.where(seen.start.sum() > 0, of_steps, measured)
    return measured


def cost_from_steps(
    cost: jax.Array,  # [T, N, m]
    value: jax.Array,  # [T, N, m] the critics'
    next_value: jax.Array,  # [T, N, m]
    done: jax.Array,  # [T, N]
    seen: Visits,
    gamma: jax.Array,  # [m]
) -> jax.Array:
    """Estimate J^C = E[ V(s_0) ] + E[ sum_t gamma^t (c_t + gamma V(s_t+1) - V(s_t)) ] [m], for whatever V.

    The paper's first identity (at lambda = 0). Every step of the batch counts, those of episodes that began before it and
    those of episodes that go on after it. Where batches hold the parts of episodes unevenly, V must be near the truth. All
    actions are of the policy that collected the batch; the states in which episodes stood when it began are not.
    """
    episodes = jnp.maximum(seen.start.sum(), 1.0)
    surprise = cost + gamma * next_value * (1.0 - done)[..., None] - value
    return ((seen.start[..., None] * value).sum(axis=(0, 1)) + (seen.discount * surprise).sum(axis=(0, 1))) / episodes
