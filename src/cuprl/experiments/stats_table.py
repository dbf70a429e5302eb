"""The fuller statistics of an experiment: intervals, violations, time; and algorithms compared over tasks."""

from __future__ import annotations

from typing import Any

import numpy as np

from cuprl.errors import unknown
from cuprl.experiments import paper, statistics
from cuprl.experiments.formats import Table
from cuprl.experiments.groups import PLAIN_COST, Group
from cuprl.experiments.statistics import Estimate, bootstrap, improvement, iqm

NOTE = (
    "IQM: interquartile mean (with fewer than 4 seeds the mean); [..]: 95% bootstrap over seeds, which with 2 or 3 of them "
    "is hardly more than their range. plain cost: undiscounted. broken: seeds whose final cost is over the limit, with "
    "Wilson's 95% interval. training over: share of iterations whose last 100 episodes are over the limit. 90%: mean over "
    "seeds of when the return first made 90% of its way from its first to its final value."
)
POOLED_NOTE = (
    "Pooled over {task}: IQM of all runs; [..]: bootstrap with the tasks as strata. Scores are relative to the paper's CUP "
    "and to the limit (the worst constraint)."
)
PAIR_NOTE = (
    "That a run of the first has a higher return than one of the second on a task drawn at random ({task}). safe return: a "
    "run over a limit counts below every run within them."
)
Record = dict[str, Any]


def records(groups: list[Group], against: str) -> list[Record]:
    """One record a statistic: where, which, its value, its interval if it has one, and of how many runs."""
    groups = [g for g in groups if g.results]
    labels = list(dict.fromkeys(g.label for g in groups))
    if against not in labels:
        raise unknown("algorithm for --against", against, labels)
    rows = [row for g in groups for i in range(len(g.limits)) for row in of_group(g, i)]
    return [*rows, *pooled(groups), *compared(groups, against)]


def row(where: Record, statistic: str, value: float | Estimate, runs: int) -> Record:
    interval = {"low": value.low, "high": value.high} if isinstance(value, Estimate) else {}
    return {**where, "statistic": statistic, "value": value[0] if isinstance(value, Estimate) else value, **interval,
            "runs": runs}  # fmt: skip


def of_group(g: Group, i: int) -> list[Record]:
    """The statistics of one algorithm on one task for its constraint i."""
    name, limit = list(g.limits.items())[i]
    where = {"task": g.task, "algorithm": g.label, "constraint": name}
    costs, bound = g.cost_curves()[:, :, [i]], g.bounds[[i]]  # [seeds, iterations, 1], [1]
    arrivals = [(r, statistics.arrival(r.metrics["rollout/ep_rew_mean"])) for r in g.results]
    there = [(r, index) for r, index in arrivals if index is not None]
    found: dict[str, float | Estimate] = {
        "limit": limit,
        "return IQM": bootstrap(iqm, [g.returns]),
        "cost IQM": bootstrap(iqm, [costs[:, -1, 0]]),
        "plain cost IQM": bootstrap(iqm, [g.costs(PLAIN_COST)[:, i]]),
        "broken at the end": statistics.proportion(statistics.in_violation(costs[:, -1], bound)),
        "training over": float(np.mean([statistics.share_in_violation(c, bound) for c in costs])),
    }
    rows = [row(where, statistic, value, len(g.results)) for statistic, value in found.items()]
    when = {"steps to 90%": [r.metrics["steps"][k] for r, k in there], "seconds to 90%": [r.seconds[k] for r, k in there]}
    return rows + [row(where, key, float(np.mean(v)), len(v)) for key, v in when.items() if v]


def pooled(groups: list[Group]) -> list[Record]:
    """Each algorithm over the tasks all of them have and the paper measured: scores relative to its CUP and to the limit."""
    labels = list(dict.fromkeys(g.label for g in groups))
    tasks = [task for task in paper.TABLE if {g.label for g in groups if g.task == task} == set(labels)]
    if len(tasks) < 2:
        return []
    rows = []
    for label in labels:
        mine = [g for task in tasks for g in groups if (g.task, g.label) == (task, label)]
        returns = [g.returns / paper.TABLE[g.task]["cup"].value for g in mine]
        costs = [(g.costs() / g.bounds).max(axis=1) for g in mine]
        where = {"task": " + ".join(tasks), "algorithm": label}
        found = {
            "return / paper's CUP": bootstrap(iqm, returns),
            "cost / limit": bootstrap(iqm, costs),
            "broken at the end": statistics.proportion(np.concatenate(costs) > 1.0),
        }
        rows += [row(where, statistic, value, sum(map(len, returns))) for statistic, value in found.items()]
    return rows


def compared(groups: list[Group], against: str) -> list[Record]:
    """The probability that `against` improves on each other algorithm, over the tasks both have."""
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
    """Returns in which a run over any limit counts below every run within them [seeds]."""
    return np.where(statistics.in_violation(g.costs(), g.bounds), -np.inf, g.returns)


# --- as a reader sees them --------------------------------------------------------------------------------------------


def tables(rows: list[Record]) -> list[Table]:
    single = [r for r in rows if "constraint" in r]
    compare = [r for r in rows if " > " in r["algorithm"]]
    over_tasks = [r for r in rows if r not in single and r not in compare]
    parts = ((single, "", NOTE), (over_tasks, "Over tasks", POOLED_NOTE), (compare, "Probability of improvement", PAIR_NOTE))
    return [pivot(part, title, note) for part, title, note in parts if part]


def pivot(rows: list[Record], title: str, note: str) -> Table:
    """A line for each task, algorithm and constraint, a column for each statistic."""
    statistics_shown = list(dict.fromkeys(r["statistic"] for r in rows))
    by_line: dict[tuple[str, ...], dict[str, Record]] = {}
    for r in rows:
        by_line.setdefault((r["task"], r["algorithm"], r.get("constraint", "")), {})[r["statistic"]] = r
    keep = [0, 1, 2] if not title else [1]  # over tasks the task is the same on each line: the note has it
    header = [["task", "algorithm", "constraint"][i] for i in keep]
    lines = []
    for key, line in by_line.items():
        runs = max(r["runs"] for r in line.values())
        lines.append([*(key[i] for i in keep), *(shown(line.get(s)) for s in statistics_shown), str(runs)])
    tasks = "; ".join(dict.fromkeys(r["task"] for r in rows))
    return Table([*header, *statistics_shown, "runs" if title else "seeds"], lines, title, note.replace("{task}", tasks))


def shown(record: Record | None) -> str:
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
    return form.format(value) + interval
