"""What the pages say of the ablation."""

from cuprl.experiments.report import statistics

from .numbers import groups_of, in_words


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
