"""What is believed of J^C: predict it by what an update promised, correct it by what the next batch shows.

A batch has few episodes (five of a thousand steps), so its J^C is off by a tenth or more; a surrogate's promise is off
too, for it is made on the rows it was fitted to. A filter takes the best of both, without an error that lasts:

    predicted  =  level + kept * change + drift       change: what the surrogate promised of the last update
    level      =  predicted + gain * missed           missed: the batch's J^C - predicted
    drift      =  drift + 0.02 * missed               slow: a faster one follows the noise of batches
    kept       =  the share of promises that came true so far, by recursive least squares that forget

gain = E / (E + memory) for a batch of E episodes: the prediction counts for `memory` episodes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from cuprl.learn.types import Metrics

KEPT = 0.3  # of a promise at first, until ten batches have shown better
FORGET = 0.97  # of the evidence for it, an iteration
LEAST_KEPT, MOST_KEPT = 0.03, 1.0  # never 0, so that projecting always seems of some use
DRIFT = 0.02  # of what was missed, an iteration


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Belief:
    """What is believed of J^C from one batch to the next."""

    level: jax.Array  # [m] J^C of the policy that collected the last batch
    drift: jax.Array  # [m] by how much J^C rises an iteration beyond what was promised
    change: jax.Array  # [m] what the last update's surrogate promised
    kept: jax.Array  # [m] the share of such promises that is kept
    evidence: jax.Array  # [m] sum of squared promises, old ones forgotten
    count: jax.Array  # [] batches seen


def init_belief(m: int) -> Belief:
    """Begin without any evidence; m: costs."""
    zero = jnp.zeros(m)
    return Belief(zero, zero, zero, jnp.full(m, KEPT, jnp.float32), zero, jnp.zeros((), jnp.int32))


def predicted(belief: Belief, change: jax.Array) -> jax.Array:
    """Predict J^C [m] of a policy of which the surrogate promises that it changes by `change`."""
    return belief.level + belief.kept * change + belief.drift


def corrected(belief: Belief, measured: jax.Array, episodes: jax.Array, memory: float) -> Belief:
    """Take in a batch's J^C [m]."""
    first = belief.count == 0
    gain = jnp.where(first, 1.0, episodes / (episodes + memory))
    before = predicted(belief, belief.change)
    missed = measured - before
    evidence = FORGET * belief.evidence + belief.change**2
    lesson = jnp.where(belief.count > 10, missed * belief.change / jnp.maximum(evidence, 1e-12), 0.0)
    return Belief(
        level=before + gain * missed,
        drift=belief.drift + jnp.where(first, 0.0, DRIFT) * missed,
        change=belief.change,
        kept=jnp.clip(belief.kept + lesson, LEAST_KEPT, MOST_KEPT),
        evidence=evidence,
        count=belief.count + 1,
    )


class Outlook(NamedTuple):
    """J^C [m] as it can be told from a batch, and from what was believed before where an algorithm keeps a belief."""

    now: jax.Array  # [m] of pi_k
    change: Callable[[Any], jax.Array]  # params -> [m] what the surrogate promises of their policy
    belief: Belief | None

    def after(self, params: Any) -> jax.Array:
        """Predict J^C [m] of another policy."""
        change = self.change(params)
        return self.now + change if self.belief is None else predicted(self.belief, change)

    def settled_on(self, params: Any) -> Belief | None:
        """Give the belief to keep: what was promised of the policy that collects the next batch is noted."""
        return None if self.belief is None else replace(self.belief, change=self.change(params))

    def metrics(self) -> Metrics:
        """Give what is believed, by its columns; nothing without a belief."""
        if self.belief is None:
            return {}
        kept, drift = self.belief.kept, self.belief.drift
        return {"train/believed_cost": self.now, "train/promises_kept": kept, "train/cost_drift": drift}


def outlook(
    before: Belief | None,
    measured: jax.Array,  # [m] the batch's J^C
    episodes: jax.Array,
    change: Callable[[Any], jax.Array],
    memory: float,
) -> Outlook:
    """Look from a batch: with a belief, J^C is that of the filter; without one, the batch's."""
    if before is None:
        return Outlook(measured, change, None)
    belief = corrected(before, measured, episodes, memory)
    return Outlook(belief.level, change, belief)
