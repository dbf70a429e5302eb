"""What the pages say of the velocity tasks."""

import numpy as np

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
