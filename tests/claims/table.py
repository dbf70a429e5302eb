"""What the pages say of the paper's table, of the horizon and of two limits."""

import numpy as np

from cuprl.experiments.grid.shipped import BASELINES, PAPER_TASKS
from cuprl.experiments.report import paper, statistics
from cuprl.experiments.report.groups import PLAIN_COST, Group

from .caveats import by_how_much, falls, held_out, plain_cost, while_it_trains
from .multiplier import multiplier
from .numbers import LONG, NAMES, TITLES, group, groups, groups_of, in_words, mean, over, up

CLEAR = 0.9  # the share of pairs of runs with the higher return that tells two algorithms apart


def won() -> list[str]:
    """The tasks on which `cup` has the highest return within the limit, by its runs and not by a mean alone."""
    return [task for task in PAPER_TASKS if group(task, "cup").safe and all(ahead(g) >= CLEAR for g in rivals(task))]


def rivals(task: str) -> list[Group]:
    """The other groups within the limit: those that `cup` is not clearly ahead of, and that of the highest mean return."""
    safe = sorted((g for g in groups() if g.task == task and g.label != "cup" and g.safe), key=ahead)
    best = max(safe, key=lambda g: g.returns.mean())
    return [g for g in safe if g is best or ahead(g) < CLEAR]


def ahead(other: Group) -> float:
    """The share of pairs of a run of `cup` and one of another algorithm in which that of `cup` has the higher return."""
    return float(statistics.improvement([group(other.task, "cup").returns], [other.returns]))


def in_order(tasks: list[str], value) -> str:
    """A return of each task."""
    return in_words(f"{value(task):.0f}" for task in tasks)


def the_table() -> list[str]:
    """What README and results.md say alike."""
    best, printed_has = won(), lambda task: mean(task, "cup-paper")
    (ours, runs), (printed_over, printed), (theirs, others) = over("cup"), over("cup-paper"), over(*BASELINES)
    return [
        f"`cup` has the highest return within the limit on {in_words(NAMES[task] for task in best)}**: "
        f"{in_order(best, mean)}, where `cup-paper` has {in_order(best, printed_has)} and the paper "
        f"{in_order(best, lambda task: paper.TABLE[task]['cup'].value)}",
        *(beside(task) for task in PAPER_TASKS if task not in best),
        f"{ours or 'None'} of the {runs} runs of `cup` ends over its limit{where_over('cup')}, "
        f"{printed_over or 'none'} of the {printed} of `cup-paper`, and {theirs} of the {others} of the other algorithms",
        by_how_much(),
        *falls(),
        plain_cost(),
        held_out(),
    ]


def beside(task: str) -> str:
    """What the others have where `cup` is not clearly ahead of all."""
    theirs = in_words(f"{TITLES[g.label]} {g.returns.mean():.0f}" for g in rivals(task))
    shares = in_words(f"{ahead(g):.0%}" for g in rivals(task))
    return f"on {NAMES[task]} it has {mean(task):.0f}, {theirs}, and is ahead in {shares} of the pairs of their runs"


def where_over(algo: str) -> str:
    """Which runs of an algorithm end over their limit, in brackets; nothing where none does."""
    ends = [(g, cost) for g in groups() if g.label == algo for cost in g.costs()[:, 0]]
    said = [f"{NAMES[g.task]} at {cost:.1f} of {g.first_limit:g}" for g, cost in ends if cost > g.first_limit]
    return f" ({in_words(said)})" if said else ""


def results() -> list[str]:
    counts = [f"{TITLES[algo]} {k} of {n}" for algo, (k, n) in ((algo, over(algo)) for algo in BASELINES)]
    return [
        *the_table(),
        f"({', '.join(counts)})",
        *while_it_trains(),
        as_the_paper(),
        humanoid(),
        *horizon(),
        two_limits(),
        *multiplier(),
    ]


def as_the_paper() -> str:
    """What the printed algorithm has here of what the paper says that it has."""
    shares = {task: mean(task, "cup-paper") / paper.TABLE[task]["cup"].value for task in PAPER_TASKS}
    return f"{in_words(f'{share:.0%} on {NAMES[task]}' for task, share in shares.items())} of the paper's return"


def humanoid() -> str:
    """Who walks at the end, and who still falls early."""
    walkers = ("cup", "cup-paper", "focops")
    others = [algo for algo in BASELINES if algo not in walkers]
    counts = ["{} of {} runs of {}".format(*up("humanoid-speed", algo), TITLES[algo]) for algo in walkers]
    counts.append("{} of {} of the other four".format(*up("humanoid-speed", *others)))
    returns = [f"{mean('humanoid-speed', algo):.0f}" for algo in walkers]
    return (
        f"for {LONG} of the 1000 steps or more on average, in {in_words(counts)}; the mean returns are {in_words(returns)}, "
        f"of the others at most {max(mean('humanoid-speed', algo) for algo in others):.0f}"
    )


def horizon() -> list[str]:
    """What the others make of the horizon of `cup`."""
    best = {}
    for task in ("hopper-speed", "swimmer-speed"):
        safe = [g for g in groups_of("horizon") if g.task == task and g.algo in BASELINES and g.safe]
        best[task] = max(safe, key=lambda g: g.returns.mean())
    theirs = [f"{g.returns.mean():.0f} on {NAMES[task]} ({TITLES[g.algo]})" for task, g in best.items()]
    ours = in_words(f"{mean(task):.0f}" for task in best)
    return [f"the highest return within the limit is {in_words(theirs)}, where `cup` has {ours}"]


def choose_a_limit() -> list[str]:
    ours = group("hopper-speed", "cup")
    return [f"discounted cost of {ours.costs().mean():.2f},", f"plain sum of {ours.costs(PLAIN_COST).mean():.1f} "]


def two_limits() -> str:
    shares = np.concatenate([(g.costs() / g.bounds).max(axis=1) for g in groups_of("two-limits")])
    return (
        f"Of the {len(shares)} runs {(shares <= 1.0).sum()} end within both limits, and {(shares <= 1.1).sum()} with both "
        "costs at most 1.1 times their limits"
    )
