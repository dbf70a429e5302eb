"""The fuller statistics of an experiment as records: intervals, violations, time; and algorithms compared over tasks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cuprl.errors import unknown
from cuprl.experiments.report import paper, statistics, time_to_safe
from cuprl.experiments.report.groups import PLAIN_COST, Group
from cuprl.experiments.report.statistics import Estimate, bootstrap, improvement, iqm

Record = dict[str, Any]


def records(groups: list[Group], against: str | None = None, levels: Sequence[float] | None = None) -> list[Record]:
    """Make one record a statistic: where, which, its value, its interval if it has one, and of how many runs.

    against: the algorithm that the others are compared with [cup, or the first where it is not among them].
    levels: returns for the time to safe [shares of the paper's CUP, on its tasks].
    """
    groups = [g for g in groups if g.results]
    labels = list(dict.fromkeys(g.label for g in groups))
    against = against or ("cup" if "cup" in labels else labels[0])
    if against not in labels:
        raise unknown("algorithm for --against", against, labels)
    rows = [row for g in groups for i in range(len(g.limits)) for row in of_group(g, i)]
    times = [row(*found) for found in time_to_safe.of_groups(groups, levels)]
    ended = [g.ended for g in groups if g.ended.results]
    return [*rows, *times, *pooled(ended), *compared(ended, against)]


def row(where: Record, statistic: str, value: float | Estimate, runs: int) -> Record:
    """Make the record of one statistic, with its interval where it has one."""
    interval = {"low": value.low, "high": value.high} if isinstance(value, Estimate) else {}
    return {
        **where,
        "statistic": statistic,
        "value": value[0] if isinstance(value, Estimate) else value,
        **interval,
        "runs": runs,
    }


def of_group(g: Group, i: int) -> list[Record]:
    """Make the statistics of one algorithm on one task for its constraint i."""
    name, limit = list(g.limits.items())[i]
    where = {"task": g.task, "algorithm": g.label, "constraint": name}
    rows = [row(where, "limit", limit, len(g.results))]
    if (ended := g.ended).results:
        rows += [row(where, key, value, len(ended.results)) for key, value in at_the_end(ended, i).items()]
    if g.evaluations:
        rows += [row(where, key, value, len(g.evaluations)) for key, value in of_the_mode(g, i).items()]
    return rows + [row(where, key, float(np.mean(v)), len(v)) for key, v in in_training(g, i).items() if v]


def at_the_end(g: Group, i: int) -> dict[str, Estimate]:
    """Estimate what the runs of a group end with, for its constraint i."""
    costs = g.costs()[:, i]
    return {
        "return IQM": bootstrap(iqm, [g.returns]),
        "cost IQM": bootstrap(iqm, [costs]),
        "plain cost IQM": bootstrap(iqm, [g.costs(PLAIN_COST)[:, i]]),
        "broken at the end": statistics.proportion(costs > g.bounds[i]),
    }


def of_the_mode(g: Group, i: int) -> dict[str, Estimate]:
    """Make those of the evaluations of the last policies, of the seeds that have one."""
    costs = g.mode_costs()[:, i]
    return {
        "mode's return IQM": bootstrap(iqm, [g.mode_returns]),
        "mode's cost IQM": bootstrap(iqm, [costs]),
        "mode over": statistics.proportion(costs > g.bounds[i]),
    }


def in_training(g: Group, i: int) -> dict[str, list[float]]:
    """Give of each statistic the values of the seeds that have one."""
    shares = [statistics.share_in_violation(costs, g.bounds[[i]]) for costs in g.cost_curves()[:, :, [i]]]
    arrivals = [(r, statistics.arrival(r.metrics["rollout/ep_rew_mean"])) for r in g.results]
    there = [(r, index) for r, index in arrivals if index is not None]
    return {
        "training over": [share for share in shares if not np.isnan(share)],
        "steps to 90%": [r.metrics["steps"][k] for r, k in there],
        "seconds to 90%": [r.seconds[k] for r, k in there],
    }


def pooled(groups: list[Group]) -> list[Record]:
    """Pool each algorithm over the tasks all of them have and the paper measured: relative to its CUP and to the limit."""
    labels = list(dict.fromkeys(g.label for g in groups))
    tasks = [task for task in paper.TABLE if {g.label for g in groups if g.task == task} == set(labels)]
    if len(tasks) < 2:
        return []
    rows = []
    for label in labels:
        mine = [g for task in tasks for g in groups if (g.task, g.label) == (task, label)]
        returns = [g.returns / paper.TABLE[g.task]["cup"].value for g in mine]
        broken = [statistics.in_violation(g.costs(), g.bounds) for g in mine]
        where = {"task": " + ".join(tasks), "algorithm": label, "runs_by_task": " + ".join(str(len(x)) for x in returns)}
        found = {"return / paper's CUP": bootstrap(iqm, returns)}
        if all(g.bounds.all() for g in mine):  # nothing can be said relative to a limit of 0
            found["cost / limit"] = bootstrap(iqm, [(g.costs() / g.bounds).max(axis=1) for g in mine])
        found["broken at the end"] = statistics.proportion(np.concatenate(broken))
        rows += [row(where, statistic, value, sum(map(len, returns))) for statistic, value in found.items()]
    return rows


def compared(groups: list[Group], against: str) -> list[Record]:
    """Give the probability that `against` improves on each other algorithm, over the tasks both have."""
    rows = []
    reference = {g.task: g for g in groups if g.label == against}
    for label in dict.fromkeys(g.label for g in groups if g.label != against):
        pairs = [(reference[g.task], g) for g in groups if g.label == label and g.task in reference]
        if pairs:
            where = {"task": " + ".join(g.task for _, g in pairs), "algorithm": f"{against} > {label}"}
            runs = sum(len(g.results) for pair in pairs for g in pair)
            for statistic, score in (("better return", lambda g: g.returns), ("better safe return", safe_returns)):
                ours, theirs = ([score(g) for g in side] for side in zip(*pairs))
                rows.append(row(where, statistic, bootstrap(improvement, ours, theirs), runs))
    return rows


def safe_returns(g: Group) -> np.ndarray:
    """Give returns in which a run over any limit counts below every run within them [seeds]."""
    return np.where(statistics.in_violation(g.costs(), g.bounds), -np.inf, g.returns)
