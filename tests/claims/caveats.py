"""What must be known beside the paper's table: how far over, at what plain cost, who falls, and on which seeds."""

import numpy as np

from cuprl.experiments.grid.shipped import BASELINES, PAPER_ALGOS, PAPER_TASKS
from cuprl.experiments.report.groups import PLAIN_COST

from .numbers import LONG, NAMES, TITLES, after_a_tenth, group, groups, in_words, of_batches, steps_of_episodes

CHOSEN_ON = {"hopper-speed": 3, "swimmer-speed": 3}  # the first seeds, on which settings of `cup` were chosen; else one


def by_how_much() -> str:
    """How far the runs of the baselines that end over their limit are over it."""
    shares = np.concatenate([g.costs()[:, 0] / g.first_limit for g in groups() if g.label in BASELINES])
    return f"of these {(shares > 1.01).sum()} are over by more than 1% and {(shares > 1.05).sum()} by more than 5%"


def plain_cost() -> str:
    """What the discounted limit leaves open: the undiscounted cost of `cup` beside that of the others."""

    def times(task: str) -> str:
        costs = {algo: group(task, algo).costs(PLAIN_COST).mean() for algo in PAPER_ALGOS}
        ours = costs.pop("cup")
        return f"{ours / max(costs.values()):.1f} to {ours / min(costs.values()):.1f} times on {NAMES[task]}"

    return in_words(times(task) for task in PAPER_TASKS if task != "humanoid-circle")


def falls() -> list[str]:
    """Who keeps a limit by falling early."""

    def lives(task: str, algos) -> str:
        lengths = [steps_of_episodes(task, algo).mean() for algo in algos]
        return f"{min(lengths):.0f} to {max(lengths):.0f}"

    low = [algo for algo in PAPER_ALGOS if steps_of_episodes("humanoid-speed", algo).mean() < LONG / 2]
    return [
        f"on the circle all seven fall after {lives('humanoid-circle', PAPER_ALGOS)} of the 1000 steps",
        f"on Humanoid {in_words(TITLES[algo] for algo in low)} after {lives('humanoid-speed', low)}",
    ]


def held_out() -> str:
    """The mean return of `cup` on the seeds on which none of its settings was chosen."""

    def rest(task: str) -> str:
        ours, first = group(task, "cup"), CHOSEN_ON.get(task, 1)
        returns = [r for r, of in zip(ours.returns, ours.results, strict=True) if of.config["seed"] >= first]
        return f"{np.mean(returns):.0f} on {NAMES[task]} ({len(returns)})"

    return in_words(map(rest, PAPER_TASKS))


def while_it_trains() -> list[str]:
    """A row a task: the share of iterations over the limit, of `cup` and of the five baselines."""

    def row(task: str) -> str:
        spans = {share: [share(task, algo) for algo in BASELINES] for share in (after_a_tenth, of_batches)}
        windows, batches = (f"{min(span):.0%} to {max(span):.0%}" for span in spans.values())
        return f"| {NAMES[task]} | {after_a_tenth(task):.1%} | {windows} | {of_batches(task):.0%} | {batches} |"

    return [row(task) for task in PAPER_TASKS]
