"""The fuller statistics of an experiment: intervals, violations, time; and algorithms compared over tasks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from cuprl.errors import unknown
from cuprl.experiments.report import paper, statistics
from cuprl.experiments.report.formats import Table
from cuprl.experiments.report.groups import PLAIN_COST, Group
from cuprl.experiments.report.statistics import Estimate, bootstrap, improvement, iqm

NOTE = (
    "IQM: interquartile mean (with fewer than 4 seeds the mean); [..]: 95% bootstrap over seeds, which with 2 or 3 of them "
    "is hardly more than their range. plain cost: undiscounted. broken: seeds whose final cost is over the limit, with "
    "Wilson's 95% interval. training over: share of iterations whose last 100 episodes are over the limit. 90%: when the "
    "return first made 90% of its way from its first to its final value, mean over the seeds that end above where they "
    "began. (n seeds): of so many, where others have no such value."
)
POOLED_NOTE = (
    "Pooled over {task}: IQM of all runs; [..]: bootstrap with the tasks as strata. Scores are relative to the paper's CUP "
    "and to the limit (the worst constraint).{weights}"
)
WEIGHTS = (
    " A task weighs by its number of runs, and these differ (in brackets, in the order of the tasks): the lines are of "
    "different mixtures of tasks."
)
PAIR_NOTE = (
    "That a run of the first has a higher return than one of the second on a task drawn at random ({task}). safe return: a "
    "run over a limit counts below every run within them."
)
Record = dict[str, Any]


def records(groups: list[Group], against: str | None = None) -> list[Record]:
    """Make one record a statistic: where, which, its value, its interval if it has one, and of how many runs.

    against: the algorithm that the others are compared with [cup, or the first where it is not among them].
    """
    groups = [g for g in groups if g.results]
    labels = list(dict.fromkeys(g.label for g in groups))
    against = against or ("cup" if "cup" in labels else labels[0])
    if against not in labels:
        raise unknown("algorithm for --against", against, labels)
    rows = [row for g in groups for i in range(len(g.limits)) for row in of_group(g, i)]
    ended = [g for g in map(with_finals, groups) if g.results]
    return [*rows, *pooled(ended), *compared(ended, against)]


def with_finals(g: Group) -> Group:
    """Drop the runs of a group whose final return or a final cost is unknown: they are neither safe nor unsafe."""
    known = ~np.isnan(np.column_stack([g.returns, g.costs(), g.costs(PLAIN_COST)])).any(axis=1)
    return replace(g, results=[result for result, there in zip(g.results, known) if there])


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
    if (ended := with_finals(g)).results:
        rows += [row(where, key, value, len(ended.results)) for key, value in at_the_end(ended, i).items()]
    return rows + [row(where, key, float(np.mean(v)), len(v)) for key, v in over_training(g, i).items() if v]


def at_the_end(g: Group, i: int) -> dict[str, Estimate]:
    """Estimate what the runs of a group end with, for its constraint i."""
    costs = g.costs()[:, i]
    return {
        "return IQM": bootstrap(iqm, [g.returns]),
        "cost IQM": bootstrap(iqm, [costs]),
        "plain cost IQM": bootstrap(iqm, [g.costs(PLAIN_COST)[:, i]]),
        "broken at the end": statistics.proportion(costs > g.bounds[i]),
    }


def over_training(g: Group, i: int) -> dict[str, list[float]]:
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


# --- as a reader sees them --------------------------------------------------------------------------------------------


def tables(rows: list[Record]) -> list[Table]:
    """Make the tables for a reader: of each task, over tasks, and the comparisons."""
    single = [r for r in rows if "constraint" in r]
    compare = [r for r in rows if " > " in r["algorithm"]]
    over_tasks = [r for r in rows if r not in single and r not in compare]
    parts = ((single, "", NOTE), (over_tasks, "Over tasks", POOLED_NOTE), (compare, "Probability of improvement", PAIR_NOTE))
    return [pivot(part, title, note) for part, title, note in parts if part]


def pivot(rows: list[Record], title: str, note: str) -> Table:
    """Make a line for each task, algorithm and constraint, a column for each statistic."""
    lines: dict[tuple[str, ...], dict[str, Record]] = {}
    for r in rows:
        lines.setdefault((r["task"], r["algorithm"], r.get("constraint", "")), {})[r["statistic"]] = r
    fullest_first = sorted(lines.values(), key=len, reverse=True)  # a line that lacks some must not change their order
    columns = list(dict.fromkeys(statistic for line in fullest_first for statistic in line))
    pools = list(dict.fromkeys(r["task"] for r in rows))
    names = {"algorithm": 1, "tasks": 0} if len(pools) > 1 else {"algorithm": 1}  # the note has what all have in common
    names = names if title else {"task": 0, "algorithm": 1, "constraint": 2}
    unit = "runs" if title else "seeds"
    texts = []
    for key, line in lines.items():
        most = max(r["runs"] for r in line.values())
        texts.append(
            [*(key[i] for i in names.values()), *(shown(line.get(c), most, unit) for c in columns), f"{most}{weights(line)}"]
        )
    uneven = any(weights(line) for line in lines.values())
    note = note.replace("{task}", pools[0] if len(pools) == 1 else "of those in its line")
    return Table([*names, *columns, unit], texts, title, note.replace("{weights}", WEIGHTS if uneven else ""))


def weights(line: dict[str, Record]) -> str:
    """Count the runs of each task of a pool, where they differ."""
    by_task = next(iter(line.values())).get("runs_by_task", "")
    return f" ({by_task})" if len(set(by_task.split(" + "))) > 1 else ""


def shown(record: Record | None, most: int, unit: str) -> str:
    """Write a statistic, with its number of runs where that is not the most its line has."""
    if record is None:
        return "-"
    value, name = record["value"], record["statistic"]
    if name in ("broken at the end", "training over"):
        form = "{:.0%}"
    elif name == "limit":
        form = "{:g}"
    elif "90%" in name:
        form = "{:,.0f}"
    else:
        form = "{:.2f}" if abs(value) < 100 else "{:.1f}"
    interval = f" [{form}, {form}]".format(record["low"], record["high"]) if "low" in record else ""
    fewer = f" ({record['runs']} {unit if record['runs'] > 1 else unit[:-1]})" if record["runs"] < most else ""
    return form.format(value) + interval + fewer
