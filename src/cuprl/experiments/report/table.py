"""What an experiment came to: means and deviations over seeds, beside the paper's numbers and others'."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from cuprl.experiments.grid.cells import Cell
from cuprl.experiments.report import paper, published
from cuprl.experiments.report.formats import Table, to_markdown
from cuprl.experiments.report.groups import PLAIN_COST, Group, group, winners
from cuprl.experiments.report.statistics import mean_std
from cuprl.experiments.store.stored import stored

NOTE = (
    "Mean ± deviation over seeds of the last 100 training episodes; return undiscounted, cost as its limit is discounted. "
    "(over): the mean cost is above its limit. Bold: the highest return within the limits, of those held to "
    "the same. -: no run yet."
)
UNKNOWN = "unknown"  # a run in which no episode ended
PLAIN_NOTE = " Where cost_return is undiscounted, the plain sum is held to the limit and is the cost."
PAPER_NOTE = f" Paper: {paper.SEEDS} seeds."
MODE_NOTE = " mode: a deterministic evaluation of the last policy, {} episodes of each seed."
PUBLISHED_NOTE = " Others' numbers are return / cost, undiscounted."


def records(groups: list[Group]) -> list[dict[str, Any]]:
    """Give the numbers, one record for each group and constraint; of a group that has none a record too."""
    best = winners(groups)
    return [record(g, i, g in best) for g in groups for i in range(len(g.limits)) or (None,)]


def record(g: Group, constraint: int | None, best: bool) -> dict[str, Any]:
    """Make the record of a group and one of its constraints; best: whether its return is the highest of its task."""
    name, limit = ("", np.nan) if constraint is None else list(g.limits.items())[constraint]
    row: dict[str, Any] = {
        "task": g.task,
        "algorithm": g.algo,
        "variant": g.variant,
        "steps": g.steps,
        "constraint": name,
        "limit": limit,
        "seeds": len(g.results),
    }
    if g.results:
        known = g.ended if g.ended.results else g  # a group without any is unknown as a whole
        finals = {"return": known.returns}
        if constraint is not None:
            finals |= {"cost": known.costs()[:, constraint], "undiscounted_cost": known.costs(PLAIN_COST)[:, constraint]}
        finals["seconds"] = np.array([result.seconds[-1] for result in g.results])
        for key, values in finals.items():
            row[f"{key}_mean"], row[f"{key}_std"] = mean_std(values)
        row["known_seeds"] = len(known.results)
        row |= {"over": row.get("cost_mean", np.nan) > limit, "best": best}
    if g.evaluations and constraint is not None:
        modes = {"return": g.mode_returns}
        modes |= {key: g.mode_costs(key)[:, constraint] for key in ("cost", "cost_undiscounted")}
        for key, values in modes.items():
            row[f"mode_{key}_mean"], row[f"mode_{key}_std"] = mean_std(values)
        row |= {"mode_over": row["mode_cost_mean"] > limit, "mode_seeds": len(g.evaluations)}
    if g.published:
        keys = ("paper_return_mean", "paper_return_std", "paper_cost_mean", "paper_cost_std")
        row |= dict(zip(keys, g.published))
        their_best = paper.TABLE[g.task][paper.best(g.task)]
        row |= {"paper_over": g.published.cost > paper.LIMITS[g.task], "paper_best": g.published is their_best}
    for source, (value, cost) in others(g).items():
        row |= {f"{source.key}_return": value, f"{source.key}_cost": cost, f"{source.key}_over": cost > limit}
    return row


def others(g: Group) -> dict[published.Source, published.Pair]:
    """Find what others have published for an algorithm on a task."""
    found = {source: source.of(g.task, g.label, g.first_limit) for source in published.SOURCES}
    return {source: pair for source, pair in found.items() if pair}


def number(row: dict[str, Any], key: str, form: str) -> str:
    """Write a number of a record; "-" where it has none."""
    if key not in row:
        return "-"
    return UNKNOWN if np.isnan(row[key]) else format(row[key], form)


def plus_minus(row: dict[str, Any], key: str, form: str) -> str:
    """Write mean ± deviation; the mean alone of a single seed, which has none."""
    mean, std = (number(row, f"{key}_{part}", form) for part in ("mean", "std"))
    if mean in ("-", UNKNOWN):
        return mean
    if key.startswith("paper"):
        return f"{mean} ± {std}"
    seeds = row["mode_seeds"] if key.startswith("mode") else row.get("known_seeds", row["seeds"])
    fewer = f" ({seeds} of {row['seeds']} seeds)" if seeds < row["seeds"] else ""
    return (mean if seeds == 1 else f"{mean} ± {std}") + fewer


def text(row: dict[str, Any], many: bool) -> dict[str, str]:
    """Write a record as a reader sees it; `many`: its task has several constraints, so the limit is named."""
    shown = {
        "task": row["task"],
        "algorithm": f"{row['algorithm']} {row['variant']}".strip(),
        "return": plus_minus(row, "return", ".1f"),
        "cost": plus_minus(row, "cost", ".2f") + (" (over)" if row.get("over") else ""),
        "limit": "-" if np.isnan(row["limit"]) else f"{row['constraint']} {row['limit']:g}" if many else f"{row['limit']:g}",
        "undiscounted cost": number(row, "undiscounted_cost_mean", ".1f"),
        "seconds": number(row, "seconds_mean", ".0f"),
        "seeds": str(row["seeds"]),
        "mode's return": plus_minus(row, "mode_return", ".1f"),
        "mode's cost": plus_minus(row, "mode_cost", ".2f") + (" (over)" if row.get("mode_over") else ""),
        "paper's return": plus_minus(row, "paper_return", "g"),
        "paper's cost": plus_minus(row, "paper_cost", "g") + (" (over)" if row.get("paper_over") else ""),
    }
    for source in published.SOURCES:
        pair = " / ".join(number(row, f"{source.key}_{part}", "g") for part in ("return", "cost"))
        shown[source.column] = "-" if pair == "- / -" else pair + (" (over)" if row[f"{source.key}_over"] else "")
    for key, best in (("return", "best"), ("paper's return", "paper_best")):
        if row.get(best):
            shown[key] = f"**{shown[key]}**"
    return shown


def text_table(groups: list[Group], header: list[str], note: str = "") -> Table:
    """Make a table of groups with these columns."""
    many = {g.task for g in groups if len(g.limits) > 1}
    shown = [text(row, row["task"] in many) for row in records(groups)]
    return Table(header, [[row[name] for name in header] for row in shown], note=note)


def report(groups: list[Group]) -> Table:
    """Make the table of every group, with the paper's columns where it has any of them."""
    header, note = ["task", "algorithm", "return", "cost", "limit", "undiscounted cost", "seeds"], NOTE
    if any(g.plain for g in groups):
        note += PLAIN_NOTE
    if episodes := sorted({str(e["episodes"]) for g in groups for e in g.evaluations}, key=int):
        header, note = [*header, "mode's return", "mode's cost"], note + MODE_NOTE.format(" or ".join(episodes))
    if any(g.published for g in groups):
        header, note = [*header, "paper's return", "paper's cost"], note + PAPER_NOTE
    if sources := [source for source in published.SOURCES if any(source in others(g) for g in groups)]:
        notes = [source.note for source in sources if source.note]
        header, note = [*header, *(source.column for source in sources)], " ".join([note + PUBLISHED_NOTE, *notes])
    return text_table(groups, header, note)


def summary(cells: list[Cell], results_folder: Path) -> str:
    """Write what `cup bench` ends with: the groups that have a run, in Markdown."""
    return to_markdown([summary_table(cells, results_folder)])


def summary_table(cells: list[Cell], results_folder: Path) -> Table:
    """Make the table of the cells' groups that have a stored run."""
    header = ["task", "algorithm", "return", "cost", "limit", "undiscounted cost", "seconds", "seeds"]
    return text_table([g for g in group(cells, stored(cells, results_folder)) if g.results], header)
