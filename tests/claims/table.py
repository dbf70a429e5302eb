"""What the pages say of the paper's table, of the horizon and of two limits."""

import numpy as np

from cuprl.experiments.grid.shipped import BASELINES, PAPER_TASKS
from cuprl.experiments.report.groups import PLAIN_COST, Group

from .numbers import LONG, NAMES, TITLES, after_a_tenth, group, groups, groups_of, in_words, mean, of_paper, over, up

CLEAR = 1.05  # how many times the next best return tells two algorithms apart; less is called a tie


def won() -> list[str]:
    """The tasks on which `cup` has clearly the highest mean return within the limit."""
    return [task for task in PAPER_TASKS if group(task, "cup").safe and not close(task)]


def close(task: str) -> bool:
    """Whether `cup` and the next best are within a few percent of each other, or it is not the best."""
    return mean(task) < CLEAR * runner_up(task).returns.mean()


def runner_up(task: str) -> Group:
    """The group with the highest mean return within the limit but for `cup`."""
    return max((g for g in groups() if g.task == task and g.label != "cup" and g.safe), key=lambda g: g.returns.mean())


def the_table() -> list[str]:
    """What README and results.md say alike."""
    best, (ours, runs), (printed_over, printed), (theirs, others) = won(), over("cup"), over("cup-paper"), over(*BASELINES)
    return [
        f"`cup` has the highest return within the limit on {in_words(NAMES[task] for task in best)}**: "
        f"{in_words(f'{mean(task):.0f}' for task in best)}, which is "
        f"{in_words(f'{of_paper(task):.0%}' for task in best)} of the paper's CUP",
        *(beside(runner_up(task)) for task in PAPER_TASKS if close(task)),
        f"{ours or 'None'} of the {runs} runs of `cup` ends over its limit{where_over('cup')}, "
        f"{printed_over or 'none'} of the {printed} of `cup-paper`, and {theirs} of the {others} of the other algorithms",
    ]


def beside(other: Group) -> str:
    """What another algorithm has where `cup` is not clearly ahead of it."""
    theirs, ours = other.returns.mean(), mean(other.task)
    tie = ": that is a tie" if theirs < CLEAR * ours else ""
    return f"On {NAMES[other.task]} {TITLES[other.label]} has {theirs:.0f} and `cup` {ours:.0f}{tie}"


def where_over(algo: str) -> str:
    """Which runs of an algorithm end over their limit, in brackets; nothing where none does."""
    ends = [(g, cost) for g in groups() if g.label == algo for cost in g.costs()[:, 0]]
    said = [f"{NAMES[g.task]} at {cost:.1f} of {g.first_limit:g}" for g, cost in ends if cost > g.first_limit]
    return f" ({in_words(said)})" if said else ""


def results() -> list[str]:
    counts = [f"{TITLES[algo]} {k} of {n}" for algo, (k, n) in ((algo, over(algo)) for algo in BASELINES)]
    shares = [f"{after_a_tenth(task):.1%} on {NAMES[task]}" for task in PAPER_TASKS]
    theirs = {task: [g for g in groups() if g.task == task and g.label in BASELINES] for task in PAPER_TASKS}
    spans = {task: [after_a_tenth(task, g.label) for g in some] for task, some in theirs.items() if some}
    ranges = [f"{min(span):.0%} to {max(span):.0%} on {NAMES[task]}" for task, span in spans.items()]
    return [*the_table(), f"({', '.join(counts)})", in_words(shares), in_words(ranges), humanoid(), *horizon(), two_limits()]


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
    pcpo = group("hopper-speed", "pcpo")
    return [f"discounted cost of {pcpo.costs().mean():.2f},", f"plain sum of {pcpo.costs(PLAIN_COST).mean():.1f} "]


def two_limits() -> str:
    shares = np.concatenate([(g.costs() / g.bounds).max(axis=1) for g in groups_of("two-limits")])
    return f"Of the {len(shares)} runs {(shares <= 1.1).sum()} end with both costs at most 1.1 times their limits"
