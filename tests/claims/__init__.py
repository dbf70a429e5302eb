"""Sentences of the pages with numbers in them, made from results/; `python -m tests.claims` writes them into the pages."""

from .ablation import why_cup
from .circle import circle
from .sweeps import alpha, kept, limit
from .table import choose_a_limit, results, the_table, two_limits
from .velocity import beside_others, ends_on_velocity_tasks, modes_over, more_at_omnisafe, velocity


def readme() -> list[str]:
    return [
        *the_table(),
        kept(),
        two_limits(),
        ends_on_velocity_tasks(),
        modes_over(),
        more_at_omnisafe(),
        beside_others("{name} has {ours:.0f} where theirs has {early:.0f}"),
    ]


CLAIMS = {
    "README.md": readme,
    "docs/results.md": lambda: [*results(), *circle(), *alpha(), *limit()],
    "docs/choose-a-limit.md": choose_a_limit,
    "docs/velocity.md": velocity,
    "docs/why-cup.md": why_cup,
}
