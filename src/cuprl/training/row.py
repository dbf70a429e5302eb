"""The parts of an iteration's row of metrics that are the same for every algorithm: its episodes, and its time."""

from __future__ import annotations

from typing import Any

import numpy as np

from cuprl.core.episodes import Episodes
from cuprl.core.spec import Spec


def rollout_metrics(recent: Episodes, ended: int, spec: Spec) -> dict[str, Any]:
    """Give the means of recent episodes, beside the limits; ended: how many did so in this rollout."""
    if not len(recent.length):  # no episode has ended yet: the means are unknown, not 0
        recent = Episodes(*(np.full((1, *x.shape[1:]), np.nan) for x in recent))
    return {
        "rollout/ep_rew_mean": recent.total[:, 0].mean(),
        "rollout/ep_cost_mean": recent.discounted.mean(axis=0),
        "rollout/ep_cost_undiscounted_mean": recent.total[:, 1:].mean(axis=0),
        "rollout/cost_limit": spec.limits,
        "rollout/ep_len_mean": recent.length.mean(),
        "rollout/episodes": ended,
    }


def time_metrics(steps: int, begun: float, collected: float, updated: float) -> dict[str, float]:
    """Give the speed of an iteration and the seconds of its halves, of the moments when each was reached."""
    return {
        "time/fps": steps / (updated - begun),
        "time/collect": collected - begun,
        "time/update": updated - collected,
    }
