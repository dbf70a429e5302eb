"""What the pages say of the velocity tasks."""

import numpy as np

from cuprl.experiments.grid.shipped import VELOCITY_TASKS
from cuprl.experiments.report import published, statistics
from cuprl.experiments.report.groups import Group

from .numbers import groups_of, in_words


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
    over, runs, tasks, of = int(np.concatenate(ends).sum()), sum(map(len, ends)), len(ends), len(VELOCITY_TASKS)
    which = f"{tasks} of the {of}" if tasks < of else f"the {of}"
    return f"{over or 'None'} of the {runs} runs of `cup` on {which} velocity tasks ends over its limit"


def modes() -> list[tuple[str, float, float]]:
    """Of each run on a velocity task: the robot, its mode's return as a share of its sampled actions', its mode's cost."""
    return [
        (name, e["return"] / ours, *e["cost"].values())
        for name, g in on_velocity_tasks().items()
        for e, ours in zip(g.evaluations, g.returns, strict=True)
    ]


def modes_over() -> str:
    dear = [f"{name} at {cost:.1f}" for name, _, cost in modes() if cost > published.LIMIT]
    return f"{len(dear)} of the {len(modes())} {'is' if len(dear) == 1 else 'are'} over the limit ({in_words(dear)})"


def more_at_omnisafe() -> str:
    """Where OmniSafe's CUP has more within the limit after ten times as many steps."""
    theirs = {name: published.OMNISAFE[g.task]["cup"] for name, g in on_velocity_tasks().items()}
    ours = {name: g.returns.mean() for name, g in on_velocity_tasks().items()}
    more = {name: r for name, (r, cost) in theirs.items() if cost <= published.LIMIT and r > ours[name]}
    return f"has more within the limit on {in_words(more)}: {in_words(f'{r:.0f}' for r in more.values())}"


def velocity() -> list[str]:
    poor = [f"{name} at {share:.0%}" for name, share, _ in modes() if share < 0.75]
    swimmers = sorted(on_velocity_tasks()["Swimmer"].returns)
    return [
        ends_on_velocity_tasks(),
        beside_others("{name} has {ours:.0f} (theirs {early:.0f} and {late:.0f})"),
        f"The Swimmers end at {in_words(f'{r:.0f}' for r in swimmers)}, OmniSafe's at "
        f"{published.OMNISAFE['swimmer-velocity']['cup'][0]}",
        more_at_omnisafe(),
        modes_over(),
        f"{len(poor)} {'has' if len(poor) == 1 else 'have'} less than three quarters of the return of its sampled actions "
        f"({in_words(poor)})",
    ]
