"""What the pages say of the paper's table, of the horizon and of two limits."""

import numpy as np

from cuprl.experiments.grid.shipped import BASELINES, PAPER_TASKS
from cuprl.experiments.report import paper, statistics
from cuprl.experiments.report.groups import PLAIN_COST, Group

from .numbers import LONG, NAMES, TITLES, after_a_tenth, group, groups, groups_of, in_words, mean, of_batches, over, up

CLEAR = 0.9  # the share of pairs of runs with the higher return that tells two algorithms apart


def won() -> list[str]:
    """The tasks on which `cup` has the highest return within the limit, by its runs and not by a mean alone."""
    return [task for task in PAPER_TASKS if group(task, "cup").safe and ahead(nearest(task)) >= CLEAR]


def nearest(task: str) -> Group:
    """The group within the limit whose runs most often have the higher return beside those of `cup`."""
    return min((g for g in groups() if g.task == task and g.label != "cup" and g.safe), key=ahead)


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
        *(beside(nearest(task)) for task in PAPER_TASKS if task not in best),
        f"{ours or 'None'} of the {runs} runs of `cup` ends over its limit{where_over('cup')}, "
        f"{printed_over or 'none'} of the {printed} of `cup-paper`, and {theirs} of the {others} of the other algorithms",
    ]


def beside(other: Group) -> str:
    """What another algorithm has where `cup` is not clearly ahead of it."""
    return (
        f"on {NAMES[other.task]} `cup` has {mean(other.task):.0f} and {TITLES[other.label]} {other.returns.mean():.0f}, and "
        f"`cup` the higher return in {ahead(other):.0%} of the pairs of their runs"
    )


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
        *shares_over(after_a_tenth, ".1%", "in", "in"),
        *shares_over(of_batches, ".0%", "it is", "five"),
        as_the_paper(),
        humanoid(),
        *horizon(),
        two_limits(),
    ]


def shares_over(share, digits: str, ours: str, theirs: str) -> list[str]:
    """A share of iterations over the limit on each task, of `cup` and of the five baselines, after these words."""
    spans = {task: [share(task, algo) for algo in BASELINES] for task in PAPER_TASKS}
    return [
        f"{ours} " + in_words(f"{share(task):{digits}} on {NAMES[task]}" for task in PAPER_TASKS),
        f"{theirs} " + in_words(f"{min(span):.0%} to {max(span):.0%} on {NAMES[task]}" for task, span in spans.items()),
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
