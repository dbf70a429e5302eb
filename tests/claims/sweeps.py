"""What the pages say of the paper's studies, of the tasks that have all of their values."""

from functools import cache

from cuprl.experiments.grid.shipped import PAPER_TASKS
from cuprl.experiments.report import statistics
from cuprl.experiments.report.groups import Group

from .numbers import NAMES, in_words, planned

SEEDS = 3  # of each value: those that a study has on every task it has


@cache
def studied(experiment: str) -> dict[str, list[Group]]:
    """The tasks on which each value has its seeds, with the groups of these values."""
    of_task = {task: [g for g in planned(experiment) if g.task == task] for task in PAPER_TASKS}
    return {task: values for task, values in of_task.items() if all(len(g.results) >= SEEDS for g in values)}


def ends(values: list[Group]) -> str:
    """The mean return of each value."""
    return in_words(f"{g.returns[:SEEDS].mean():.0f}" for g in values)


def over(values: list[Group]) -> int:
    """How many of all runs end over their limit."""
    return sum(int(statistics.in_violation(g.costs()[:SEEDS], g.bounds).sum()) for g in values)


def how_many_over(values: list[Group]) -> str:
    return f"{over(values)} of the {SEEDS * len(values)} runs end over their limit"


def alpha() -> list[str]:
    """How much the weight of sqrt(KL) matters."""
    return [of_alphas(task, found) for task, found in studied("paper-alpha").items()]


def of_alphas(task: str, found: list[Group]) -> str:
    """The same of one task."""
    values = in_words(g.variant.removeprefix("alpha=") for g in found)
    return f"With alpha {values} {NAMES[task]} ends at {ends(found)}; {how_many_over(found)}"


def limit() -> list[str]:
    """How well other limits are kept, and what they cost."""
    return [of_limits(task, found) for task, found in studied("paper-limit").items()]


def of_limits(task: str, found: list[Group]) -> str:
    """The same of one task."""
    found = sorted(found, key=lambda g: g.first_limit)
    limits = in_words(f"{g.first_limit:g}" for g in found)
    costs = in_words(f"{g.costs()[:SEEDS].mean():.2f}" for g in found)
    return f"Under the limits {limits} {NAMES[task]} ends at {ends(found)}, its cost at {costs}; {how_many_over(found)}"


def kept() -> str:
    """How well other limits are kept, in a sentence."""
    tasks = studied("paper-limit")
    values = [g for found in tasks.values() for g in found]
    where = in_words(NAMES[task] for task in tasks)
    return f"Of {SEEDS * len(values)} runs under four limits each on {where} {over(values) or 'none'} ends over its limit"
