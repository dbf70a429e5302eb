"""Sentences of the pages with numbers in them, written from results/."""

from functools import cache
from pathlib import Path

import numpy as np

from cuprl.experiments.grid.shipped import BASELINES, PAPER_TASKS
from cuprl.experiments.report import paper, published, statistics
from cuprl.experiments.report.groups import PLAIN_COST, Group, winners
from cuprl.experiments.report.lookup import find_groups

ROOT = Path(__file__).parents[1]
NAMES = dict(zip(PAPER_TASKS, ("Ant", "Hopper", "Swimmer", "Humanoid", "the circle")))
TITLES = dict(zip(BASELINES, ("CPO", "PCPO", "TRPO-L", "PPO-L", "FOCOPS"))) | {"cup-paper": "`cup-paper`"}


@cache
def groups_of(experiment: str) -> list[Group]:
    """The groups of an experiment that have runs."""
    found, _ = find_groups([experiment], ROOT / "results")
    return [g for g in found if g.results]


def groups() -> list[Group]:
    """The groups of the paper's table that have runs."""
    return groups_of("paper-table")


def group(task: str, algo: str) -> Group:
    return next(g for g in groups() if (g.task, g.label) == (task, algo))


def mean(task: str, algo: str = "cup") -> float:
    """The mean return."""
    return group(task, algo).returns.mean()


def of_paper(task: str) -> float:
    """The mean return of `cup` as a share of the paper's CUP."""
    return mean(task) / paper.TABLE[task]["cup"].value


def over(*algos: str) -> tuple[int, int]:
    """How many runs of these algorithms end over their limit, and how many there are."""
    ends = np.concatenate([statistics.in_violation(g.costs(), g.bounds) for g in groups() if g.label in algos])
    return int(ends.sum()), len(ends)


def after_a_tenth(task: str, algo: str = "cup") -> float:
    """The share of iterations over the limit, those of the first tenth of training left out."""
    g = group(task, algo)
    return float(np.mean([statistics.share_in_violation(c[len(c) // 10 :], g.bounds) for c in g.cost_curves()]))


def in_words(values) -> str:
    """a, b and c"""
    *first, last = map(str, values)
    return f"{', '.join(first)} and {last}" if first else last


# --- what the pages say -----------------------------------------------------------------------------------------------


def won() -> list[str]:
    """The tasks on which `cup` has the highest mean return within the limit."""
    return [task for task in PAPER_TASKS if group(task, "cup") in winners(groups())]


def the_table() -> list[str]:
    """What README and results.md say alike."""
    best, (ours, runs), (printed_over, printed), (theirs, others) = won(), over("cup"), over("cup-paper"), over(*BASELINES)
    assert ours == printed_over == 0  # "none" below
    return [
        f"`cup` has the highest return within the limit on {in_words(NAMES[task] for task in best)}**: "
        f"{in_words(f'{mean(task):.0f}' for task in best)}, which is "
        f"{in_words(f'{of_paper(task):.0%}' for task in best)} of the paper's CUP",
        *(
            f"On {NAMES[g.task]} {TITLES[g.label]} has {mean(g.task, g.label):.0f} and `cup` {mean(g.task):.0f}"
            for g in winners(groups())
            if g.label != "cup"
        ),
        f"None of the {runs} runs of `cup` ends over its limit, none of the {printed} of `cup-paper`, "
        f"and {theirs} of the {others} of the other algorithms",
    ]


def results() -> list[str]:
    counts = [f"{TITLES[algo]} {k} of {n}" for algo, (k, n) in ((algo, over(algo)) for algo in BASELINES)]
    shares = [f"{after_a_tenth(task):.1%} on {NAMES[task]}" for task in PAPER_TASKS]
    theirs = {task: [g for g in groups() if g.task == task and g.label in BASELINES] for task in PAPER_TASKS}
    spans = {task: [after_a_tenth(task, g.label) for g in some] for task, some in theirs.items() if some}
    ranges = [f"{min(span):.0%} to {max(span):.0%} on {NAMES[task]}" for task, span in spans.items()]
    walking = [f"{mean('humanoid-speed', algo):.0f}" for algo in ("cup", "cup-paper", "focops")]
    falling = max(mean("humanoid-speed", algo) for algo in BASELINES if algo != "focops")
    humanoid = f"({in_words(walking)}); of the other four the best has {falling:.0f}"
    return [*the_table(), f"({', '.join(counts)})", in_words(shares), in_words(ranges), humanoid, *horizon(), two_limits()]


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


def on_velocity_tasks() -> dict[str, Group]:
    """The groups of `cup` on the velocity tasks, by the robot's name."""
    found = {g.task.removesuffix("-velocity").capitalize(): g for g in groups_of("velocity-table") if g.label == "cup"}
    return {name.replace("cheetah", "Cheetah"): g for name, g in found.items()}


def beside_others(text: str) -> str:
    """The mean returns of `cup` on the velocity tasks, with those of SafePO's CUP in a text: {early} and {late}."""
    early, late = (published.of_both(published.SAFEPO, which) for which in (0, 1))
    return in_words(
        text.format(name=name, ours=g.returns.mean(), early=early[g.task]["cup"][0], late=late[g.task]["cup"][0])
        for name, g in on_velocity_tasks().items()
        if g.task in early
    )


def ends_on_velocity_tasks() -> str:
    ends = [statistics.in_violation(g.costs(), g.bounds) for g in on_velocity_tasks().values()]
    assert not np.concatenate(ends).any()  # "none" in it
    return f"None of the {sum(map(len, ends))} runs of `cup` on the velocity tasks ends over its limit"


def velocity() -> list[str]:
    found = on_velocity_tasks()
    modes = [(name, e["return"] / ours, *e["cost"].values()) for name, g in found.items()
             for e, ours in zip(g.evaluations, g.returns, strict=True)]  # fmt: skip
    dear = [f"{name} at {cost:.1f}" for name, _, cost in modes if cost > published.LIMIT]
    poor = [f"{name} at {share:.0%}" for name, share, _ in modes if share < 0.75]
    swimmers = sorted(found["Swimmer"].returns)
    return [
        ends_on_velocity_tasks(),
        beside_others("{name} has {ours:.0f} (theirs {early:.0f} and {late:.0f})"),
        f"The Swimmers end at {in_words(f'{r:.0f}' for r in swimmers)}, OmniSafe's at "
        f"{published.OMNISAFE['swimmer-velocity']['cup'][0]}",
        f"{len(dear)} of the {len(modes)} is over the limit ({in_words(dear)}) and {len(poor)} has less than three quarters "
        f"of the return of its sampled actions ({in_words(poor)})",
    ]


def two_limits() -> str:
    shares = np.concatenate([(g.costs() / g.bounds).max(axis=1) for g in groups_of("two-limits")])
    return f"Of the {len(shares)} runs {(shares <= 1.1).sum()} end with both costs at most 1.1 times their limits"


def why_cup() -> list[str]:
    """What the ablation shows."""
    found = {(g.task, g.label): g for g in groups_of("cup-ablation")}

    def ends(label: str, task: str = "swimmer-speed") -> str:
        return f"{found[task, label].returns.mean():.0f}"

    def over(label: str, task: str = "swimmer-speed") -> str:
        return f"{statistics.share_in_violation(found[task, label].cost_curves(), found[task, label].bounds):.0%}"

    def best(task: str) -> str:
        return max((ends(label, t) for t, label in found if t == task and " only-" in label), key=float)

    both = {label: (ends(label, "hopper-speed"), ends(label)) for _, label in found}
    return [
        f"The best of them brings Hopper from {both['cup-paper'][0]} to {best('hopper-speed')} ",
        f"and Swimmer from {both['cup-paper'][1]} to {best('swimmer-speed')} ",
        f"Together they bring {in_words(both['cup'])}.",
        f"without the cost all three fall back, to {both['cup but-cost'][0]}.",
        f"Without nu it ends at {both['cup but-nu'][0]},",
        f"The steps could be left out ({both['cup but-steps'][0]})",
        f"without the horizon {ends('cup but-horizon')}, without nu {ends('cup but-nu')}, without the cost "
        f"{ends('cup but-cost')}, without the steps {ends('cup but-steps')}.",
        f"Swimmer is over it in {over('cup-paper')} of the iterations, with the cost mended alone in "
        f"{over('cup-paper only-cost')}, with nu alone in {over('cup-paper only-nu')}; `cup` in {over('cup')} ",
        f"without the steps in {over('cup but-steps')}, without nu or without the cost in {over('cup but-nu')} and "
        f"{over('cup but-cost')}.",
        f"bring {both['cup and-kl'][0]} on Hopper, more on each of the three seeds, and {both['cup and-kl'][1]} on Swimmer",
        f"printed algorithm, to {in_words(both['cup-paper only-kl'])}, but its Hopper is then over the limit in "
        f"{over('cup-paper only-kl', 'hopper-speed')} of the iterations, not in {over('cup-paper', 'hopper-speed')}.",
    ]


def readme() -> list[str]:
    return [
        *the_table(),
        two_limits(),
        ends_on_velocity_tasks(),
        beside_others("{name} has {ours:.0f} where theirs has {early:.0f}"),
    ]


CLAIMS = {
    "README.md": readme,
    "docs/results.md": results,
    "docs/choose-a-limit.md": choose_a_limit,
    "docs/velocity.md": velocity,
    "docs/why-cup.md": why_cup,
}
