"""What the pages say of the multiplier of `cup` over training."""

import numpy as np

from cuprl.algorithms import default_settings

from .numbers import group

LONG = 50  # iterations at the bound that are more than a swing
BATCHES = 100  # in whose mean the noise of single ones is gone


def multiplier() -> list[str]:
    bound = default_settings("cup-paper")["multiplier_max"]
    at_bound = (group("humanoid-speed", "cup").curves("train/multiplier") >= bound).sum(axis=1)
    long = at_bound[at_bound >= LONG]
    circle = group("humanoid-circle", "cup")
    late = circle.curves("train/cost_return")[:, -BATCHES:].mean(axis=1)[circle.costs()[:, 0] > circle.first_limit]
    ends = " to ".join(dict.fromkeys(f"{cost:.1f}" for cost in (late.min(), late.max())))
    return [
        f"On Humanoid {len(long)} of {len(at_bound)} runs have it at its bound of {bound:g} for "
        f"{long.min()} to {long.max()} iterations",
        f"On the circle it is 0 in {np.mean(circle.curves('train/multiplier') == 0):.0%} of the iterations",
        f"of the {len(late)} run of `cup` that ends over its limit the mean of the last {BATCHES} batches is {ends}.",
    ]
