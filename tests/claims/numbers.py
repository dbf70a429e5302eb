"""What the sentences are made of: groups of runs, and numbers of theirs."""

from functools import cache
from pathlib import Path

import numpy as np

from cuprl.experiments.grid.shipped import BASELINES, PAPER_TASKS
from cuprl.experiments.report import statistics
from cuprl.experiments.report.groups import Group
from cuprl.experiments.report.lookup import find_groups

ROOT = Path(__file__).parents[2]
LONG = 700  # steps of an episode that can have 1000
NAMES = dict(zip(PAPER_TASKS, ("Ant", "Hopper", "Swimmer", "Humanoid", "the circle")))
TITLES = dict(zip(BASELINES, ("CPO", "PCPO", "TRPO-L", "PPO-L", "FOCOPS"))) | {
    algo: f"`{algo}`" for algo in ("cup-paper", "cup")
}


@cache
def planned(experiment: str) -> list[Group]:
    """The groups of an experiment, those that have no run yet too."""
    return find_groups([experiment], ROOT / "results")[0]


@cache
def groups_of(experiment: str) -> list[Group]:
    """The groups of an experiment that have runs."""
    return [g for g in planned(experiment) if g.results]


def groups() -> list[Group]:
    """The groups of the paper's table that have runs."""
    return groups_of("paper-table")


def group(task: str, algo: str) -> Group:
    return next(g for g in groups() if (g.task, g.label) == (task, algo))


def mean(task: str, algo: str = "cup") -> float:
    """The mean return."""
    return group(task, algo).returns.mean()


def over(*algos: str) -> tuple[int, int]:
    """How many runs of these algorithms end over their limit, and how many there are."""
    ends = np.concatenate([statistics.in_violation(g.costs(), g.bounds) for g in groups() if g.label in algos])
    return int(ends.sum()), len(ends)


def steps_of_episodes(task: str, algo: str) -> np.ndarray:
    """How many steps the latest episodes have on average [seeds]."""
    return group(task, algo).curves("rollout/ep_len_mean")[:, -1]


def up(task: str, *algos: str) -> tuple[int, int]:
    """In how many runs of these algorithms the latest episodes are long on average, and how many runs there are."""
    lengths = np.concatenate([steps_of_episodes(task, algo) for algo in algos])
    return int((lengths >= LONG).sum()), len(lengths)


def after_a_tenth(task: str, algo: str = "cup") -> float:
    """The share of iterations over the limit, those of the first tenth of training left out."""
    g = group(task, algo)
    return float(np.mean([statistics.share_in_violation(c[len(c) // 10 :], g.bounds) for c in g.cost_curves()]))


def of_batches(task: str, algo: str = "cup") -> float:
    """The same by the J^C of each batch, which its algorithm compares with the limit."""
    g = group(task, algo)
    costs = g.curves("train/cost_return")  # [seeds, iterations]
    return float((costs[:, costs.shape[1] // 10 :] > g.first_limit).mean())


def in_words(values) -> str:
    """a, b and c"""
    *first, last = map(str, values)
    return f"{', '.join(first)} and {last}" if first else last
