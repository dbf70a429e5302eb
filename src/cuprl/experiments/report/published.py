"""What others have published on the velocity tasks: return / cost of an episode, both undiscounted, under a limit of 25.

Each source measures in its own way and after its own number of steps; its column and its note say so. `ppo-lag pid` is
what both call CPPO-PID. P3O and C-TRPO are not in cuprl; their numbers are here for those who add them.
"""

from __future__ import annotations

from dataclasses import dataclass

LIMIT = 25.0
Pair = tuple[float, float]  # return, cost


@dataclass(frozen=True, eq=False)
class Source:
    """A table that others have published, and how it was measured."""

    key: str  # of its columns in a CSV
    column: str  # return / cost, with the steps and the policy
    note: str
    table: dict[str, dict[str, Pair]]  # task -> algorithm -> numbers

    def of(self, task: str, label: str, limit: float) -> Pair | None:
        """Look up its numbers for an algorithm on a task; None for another limit, and for what it does not have."""
        return self.table.get(task, {}).get(label) if limit == LIMIT else None


def by_task(algorithms: tuple[str, ...], rows: dict[str, tuple[Pair, ...]]) -> dict[str, dict[str, Pair]]:
    """Name the columns of a printed table."""
    return {task: dict(zip(algorithms, row, strict=True)) for task, row in rows.items()}


def of_both(rows: dict[str, dict[str, tuple[Pair, Pair]]], which: int) -> dict[str, dict[str, Pair]]:
    """Take the first or the second of two pairs: after 1M and after 10M steps."""
    tasks = dict.fromkeys(task for row in rows.values() for task in row)
    return {task: {algo: row[task][which] for algo, row in rows.items()} for task in tasks}


OMNISAFE = by_task(
    ("cup", "cpo", "focops", "ppo-lag", "trpo-lag", "pcpo", "ppo-lag pid"),
    {
        "ant-velocity": (
            (3215.8, 18.3), (3098.5, 14.1), (3184.5, 14.8), (3261.9, 12.1), (3041.9, 19.5), (2257.1, 10.4), (3213.4, 14.3)),
        "halfcheetah-velocity": (
            (2850.6, 4.3), (2786.5, 4.7), (2965.2, 2.4), (2946.2, 3.4), (2884.7, 9.0), (1677.9, 19.1), (2837.9, 8.1)),
        "hopper-velocity": (
            (1716.1, 7.5), (1713.7, 13.4), (1437.8, 10.1), (961.9, 14.0), (1391.8, 11.2), (1551.2, 15.5), (1713.3, 9.0)),
        "humanoid-velocity": (
            (6109.9, 24.7), (6465.3, 0.2), (6489.4, 13.9), (6624.5, 5.9), (6551.3, 59.6), (5852.3, 0.2), (6579.3, 3.8)),
        "swimmer-velocity": (
            (63.8, 22.0), (65.3, 18.2), (53.9, 29.8), (64.7, 28.0), (81.2, 22.2), (54.4, 17.3), (91.1, 19.1)),
        "walker2d-velocity": (
            (2467.0, 6.6), (2074.8, 21.9), (3117.1, 8.8), (2982.3, 13.5), (3207.1, 15.0), (1802.9, 18.8), (2183.4, 14.1)),
    },
)  # fmt: skip

ANT, HALFCHEETAH, HOPPER, HUMANOID = "ant-velocity", "halfcheetah-velocity", "hopper-velocity", "humanoid-velocity"
SAFEPO: dict[str, dict[str, tuple[Pair, Pair]]] = {  # after 1M and after 10M steps
    "cup": {
        ANT: ((11, 1), (3079, 24.2)), HALFCHEETAH: ((1107, 29), (2859, 38.9)),
        HOPPER: ((1043, 21), (1634, 26.0)), HUMANOID: ((455, 1), (5571, 25.0))},
    "cpo": {
        ANT: ((1306, 18), (3078, 21.1)), HALFCHEETAH: ((1141, 20), (2809, 21.1)),
        HOPPER: ((1126, 25), (1681, 25.9)), HUMANOID: ((754, 7), (5466, 14.8))},
    "focops": {
        ANT: ((-19, 2), (2930, 26.0)), HALFCHEETAH: ((1222, 76), (2911, 34.3)),
        HOPPER: ((942, 56), (1667, 26.2)), HUMANOID: ((441, 0), (5452, 13.9))},
    "ppo-lag": {
        ANT: ((19, 1), (3178, 26.6)), HALFCHEETAH: ((1407, 79), (3023, 22.3)),
        HOPPER: ((192, 30), (240, 36.9)), HUMANOID: ((490, 1), (5867, 21.8))},
    "ppo-lag pid": {
        ANT: ((19, 1), (3201, 26.8)), HALFCHEETAH: ((1144, 24), (3016, 26.6)),
        HOPPER: ((1134, 30), (1636, 25.0)), HUMANOID: ((490, 1), (5837, 20.4))},
    "p3o": {
        ANT: ((-2, 1), (3095, 20.2)), HALFCHEETAH: ((1079, 13), (3008, 26.6)),
        HOPPER: ((1182, 10), (1592, 15.1)), HUMANOID: ((466, 1), (5536, 4.0))},
    "c-trpo": {
        ANT: ((1507, 15), (3082, 16.2)), HALFCHEETAH: ((1493, 19), (2823, 20.2)),
        HOPPER: ((1242, 18), (1433, 20.8)), HUMANOID: ((701, 5), (5411, 17.2))},
}  # fmt: skip

SOURCES = (
    Source(
        "omnisafe_10m",
        "OmniSafe at 10M (mode)",
        "OmniSafe: 0.5, its benchmark page for on-policy algorithms; 10M steps, 20,000 a batch, 5 seeds, deterministic "
        "evaluation.",
        OMNISAFE,
    ),
    Source(
        "safepo_1m",
        "SafePO at 1M of 10M (sampled)",
        "SafePO: code made from it, public logs of the C-TRPO paper's repository; 20,000 steps a batch, 5 seeds, the "
        "stochastic policy in training, mean of the last ten batches; 1M lies inside of a schedule of 10M.",
        of_both(SAFEPO, 0),
    ),
    Source("safepo_10m", "SafePO at 10M (sampled)", "", of_both(SAFEPO, 1)),
)
