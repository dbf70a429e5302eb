"""The fuller statistics as a reader sees them: a table for each kind, with what its columns mean."""

from __future__ import annotations

from cuprl.experiments.report.formats import Table
from cuprl.experiments.report.stats_records import Record
from cuprl.experiments.report.time_to_safe import STAY

NOTE = (
    "IQM: interquartile mean (with fewer than 4 seeds the mean); [..]: 95% bootstrap over seeds, which covers less with few "
    "of them: some 73% with 3, 90% with 5. cost: as it is held to its limit. plain cost: undiscounted. broken: seeds whose "
    "final cost is over the "
    "limit, with Wilson's 95% interval. training over: share of iterations whose last 100 episodes are over the limit. "
    "90%: when the return first made 90% of its way from its first to its final value, mean over the seeds that end above "
    "where they began. (n seeds): of so many, where others have no such value.{mode}"
)
MODE = (
    " mode: a deterministic evaluation of the last policy, stored with the run; mode over: seeds whose mean cost in it is "
    "over the limit, with Wilson's 95% interval."
)
TIME_NOTE = (
    f"Until the mean of the last 100 training episodes has reached the level within every limit, and stays so for {STAY} "
    "iterations. reached: share of seeds, with Wilson's 95% interval. steps, seconds (collection and update, pauses left "
    "out): the median over all seeds, one that does not get there counting as never; [..]: 95% bootstrap over seeds.{shares}"
)
SHARES = " (%): of the return of the paper's CUP."
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


def tables(rows: list[Record]) -> list[Table]:
    """Make the tables for a reader: of each task, over tasks, and the comparisons."""
    single = [r for r in rows if "constraint" in r]
    times = [r for r in rows if "level" in r]
    compare = [r for r in rows if " > " in r["algorithm"]]
    over_tasks = [r for r in rows if r not in single and r not in times and r not in compare]
    parts = (
        (single, "", NOTE),
        (times, "Time to safe", TIME_NOTE),
        (over_tasks, "Over tasks", POOLED_NOTE),
        (compare, "Probability of improvement", PAIR_NOTE),
    )
    return [pivot(part, title, note) for part, title, note in parts if part]


def pivot(rows: list[Record], title: str, note: str) -> Table:
    """Make a line for each task, algorithm and constraint or level, a column for each statistic."""
    lines: dict[tuple[str, ...], dict[str, Record]] = {}
    for r in rows:
        part = level_text(r) if "level" in r else r.get("constraint", "")
        lines.setdefault((r["task"], r["algorithm"], part), {})[r["statistic"]] = r
    fullest_first = sorted(lines.values(), key=len, reverse=True)  # a line that lacks some must not change their order
    columns = list(dict.fromkeys(statistic for line in fullest_first for statistic in line))
    pools = list(dict.fromkeys(r["task"] for r in rows))
    by_task = [key for key in ("constraint", "level") if key in rows[0]]
    names = {"algorithm": 1, "tasks": 0} if len(pools) > 1 else {"algorithm": 1}  # the note has what all have in common
    names = {"task": 0, "algorithm": 1, by_task[0]: 2} if by_task else names
    unit = "seeds" if by_task else "runs"
    texts = []
    for key, line in lines.items():
        most = max(r["runs"] for r in line.values())
        texts.append(
            [*(key[i] for i in names.values()), *(shown(line.get(c), most, unit) for c in columns), f"{most}{weights(line)}"]
        )
    uneven = any(weights(line) for line in lines.values())
    note = note.replace("{task}", pools[0] if len(pools) == 1 else "of those in its line")
    note = note.replace("{weights}", WEIGHTS if uneven else "")
    note = note.replace("{mode}", MODE if "mode over" in columns else "")
    note = note.replace("{shares}", SHARES if any("share_of_paper" in r for r in rows) else "")
    return Table([*names, *columns, unit], texts, title, note)


def level_text(record: Record) -> str:
    """Write a level of return, with its share of the paper's CUP if it is one."""
    share = record.get("share_of_paper")
    return f"{record['level']:.6g}" + (f" ({share:.0%})" if share else "")


def weights(line: dict[str, Record]) -> str:
    """Count the runs of each task of a pool, where they differ."""
    by_task = next(iter(line.values())).get("runs_by_task", "")
    return f" ({by_task})" if len(set(by_task.split(" + "))) > 1 else ""


def shown(record: Record | None, most: int, unit: str) -> str:
    """Write a statistic, with its number of runs where that is not the most its line has."""
    if record is None:
        return "-"
    value, name = record["value"], record["statistic"]
    if name in ("broken at the end", "mode over", "training over", "reached"):
        form = "{:.0%}"
    elif name == "limit":
        form = "{:g}"
    elif name.startswith(("steps", "seconds")):
        form = "{:,.0f}"
    else:
        form = "{:.2f}" if abs(value) < 100 else "{:.1f}"
    interval = f" [{form}, {form}]".format(record["low"], record["high"]) if "low" in record else ""
    fewer = f" ({record['runs']} {unit if record['runs'] > 1 else unit[:-1]})" if record["runs"] < most else ""
    return (form.format(value) + interval).replace("inf", "never") + fewer
