"""An episode as it is shown: what it has come to after each step that gets a frame."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from cuprl.core.episodes import Running, split_episodes
from cuprl.film.filmed import Filmed
from cuprl.policies.acting import SavedPolicy
from cuprl.policies.evaluate import acted


class Moment(NamedTuple):
    """What is known after a step, of the episode's first on."""

    step: int  # how many there have been
    total: np.ndarray  # [1 + m] the return and the plain sum of each cost
    discounted: np.ndarray  # [m] what each limit is on
    cost: np.ndarray  # [m] of this step alone
    speed: float | None  # in this step
    terminated: bool
    over: bool  # the episode has ended, in whichever way


def moments(env: Filmed, saved: SavedPolicy, deterministic: bool, seed: int, steps: int | None = None) -> Iterator[Moment]:
    """Run the episode that `evaluate` runs in one environment with this seed, its sums made as there: equal to the last bit.

    steps: after which it is left, where it has not ended before.
    """
    discount = np.array([c.discount for c in env.spec.constraints])
    signals: list[np.ndarray] = []
    for step in acted(env, saved, deterministic, seed):
        signals.append(np.column_stack((step.reward, step.cost)))  # [1, 1 + m]
        going = np.zeros((len(signals), 1), bool)
        _, so_far = split_episodes(Running.start(1, len(discount)), np.stack(signals), going, discount)
        over = bool(step.terminated[0] | step.truncated[0])
        yield Moment(
            len(signals), so_far.total[0], so_far.discounted[0], step.cost[0], env.speed, bool(step.terminated[0]), over
        )
        if over or len(signals) == steps:
            return
