"""What the pages say of the circle: its limit is one on how long the robot lives, whatever the algorithm."""

import numpy as np

from cuprl.experiments.grid.shipped import PAPER_ALGOS
from cuprl.experiments.report.groups import Group

from .numbers import TITLES, group, in_words

LAST = 20  # iterations: single batches are noisy
STEPS_COST = 1 - 2 / np.pi * np.arcsin(2.5 / 10)  # the share of the circle of radius 10 on which |x| > 2.5


def at_the_end(g: Group, column: str) -> np.ndarray:
    """A metric's mean over the last iterations [seeds]."""
    return g.curves(column)[:, -LAST:].mean(axis=1)


def spent(g: Group) -> np.ndarray:
    """What the episodes cost, as a share of what they would if each step of them cost 1 [seeds]."""
    costs = g.cost_curves()[:, -LAST:, 0].mean(axis=1)
    return costs * 0.01 / (1 - 0.99 ** at_the_end(g, "rollout/ep_len_mean"))


def circle() -> list[str]:
    """How long the robot lives there, what a step costs and what it brings."""
    of = {algo: group("humanoid-circle", algo) for algo in PAPER_ALGOS}
    shares = np.concatenate([spent(g) for g in of.values()])
    lengths = {algo: at_the_end(g, "rollout/ep_len_mean").mean() for algo, g in of.items()}
    gains = {algo: at_the_end(g, "rollout/ep_rew_mean").mean() / lengths[algo] for algo, g in of.items()}
    longest = np.log(1 - of["cup"].first_limit / STEPS_COST * 0.01) / np.log(0.99)
    others = in_words(f"{TITLES[algo]} {gains[algo]:.1f}" for algo in PAPER_ALGOS if algo != "cup")
    lives = in_words(f"{TITLES[algo]} {lengths[algo]:.0f}" for algo in PAPER_ALGOS if algo != "cup")
    return [
        f"{STEPS_COST:.0%} of the starts lie where a step costs 1",
        f"what a run's episodes cost is {shares.min():.2f} to {shares.max():.2f} of what they would "
        "if every step of them did",
        f"the limit of {of['cup'].first_limit:g} is reached by a life of {longest:.0f} steps",
        f"`cup` lives {lengths['cup']:.0f} ({lives})",
        f"a step brings it {gains['cup']:.1f} ({others})",
    ]
