"""What the pages say of the paper's studies, as far as they are run."""

from cuprl.experiments.report import statistics

from .numbers import groups_of, in_words

SEEDS = 3  # of each point: those that a study has on every task it has


def alpha() -> list[str]:
    """How much the weight of sqrt(KL) matters on Swimmer."""
    found = [g for g in groups_of("paper-alpha") if g.task == "swimmer-speed"]
    values = in_words(g.variant.removeprefix("alpha=") for g in found)
    ends = in_words(f"{g.returns[:SEEDS].mean():.0f}" for g in found)
    over = sum(int(statistics.in_violation(g.costs()[:SEEDS], g.bounds).sum()) for g in found)
    return [
        f"Swimmer ends at {ends} with alpha {values}; {over} of the {SEEDS * len(found)} runs end over the limit",
    ]


def limit() -> list[str]:
    """How well Swimmer keeps other limits."""
    found = sorted((g for g in groups_of("paper-limit") if g.task == "swimmer-speed"), key=lambda g: g.first_limit)
    limits = in_words(f"{g.first_limit:g}" for g in found)
    ends = in_words(f"{g.returns[:SEEDS].mean():.0f}" for g in found)
    costs = in_words(f"{g.costs()[:SEEDS].mean():.2f}" for g in found)
    over = sum(int(statistics.in_violation(g.costs()[:SEEDS], g.bounds).sum()) for g in found)
    return [
        f"Under the limits {limits} Swimmer ends at {ends}, its cost at {costs}; {over} of the {SEEDS * len(found)} runs "
        "end over their limit",
    ]
