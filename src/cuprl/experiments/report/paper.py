"""The published numbers: Table 1 of Yang et al. 2022.

Mean ± deviation over 10 seeds after 500 iterations of 5000 steps: undiscounted return and discounted (0.99) cost of the
last 100 training episodes. PCPO is described there but not measured.
"""

from __future__ import annotations

from typing import NamedTuple

STEPS = 2_500_000
SEEDS = 10


class Published(NamedTuple):
    """Return and cost as the paper's table has them, with their standard deviations."""

    value: float
    value_std: float
    cost: float
    cost_std: float


LIMITS = {
    "ant-speed": 103.12,
    "hopper-speed": 82.75,
    "swimmer-speed": 24.52,
    "humanoid-speed": 20.14,
    "humanoid-circle": 50.0,
}

TABLE = {
    "ant-speed": {
        "cpo": Published(1030.17, 8.15, 120.76, 4.80),
        "trpo-lag": Published(480.86, 161.05, 131.07, 67.9),
        "ppo-lag": Published(1012.02, 17.26, 112.45, 15.48),
        "focops": Published(1662.53, 17.40, 101.31, 0.41),
        "cup": Published(1743.66, 40.5, 99.11, 0.93),
    },
    "hopper-speed": {
        "cpo": Published(875.89, 285.17, 76.6, 10.62),
        "trpo-lag": Published(1025.49, 10.68, 40.36, 4.75),
        "ppo-lag": Published(1010.2, 61.48, 83.28, 31.19),
        "focops": Published(1687.72, 24.38, 102.3, 1.455),
        "cup": Published(2025.56, 122.35, 79.98, 2.306),
    },
    "swimmer-speed": {
        "cpo": Published(18.77, 6.56, 42.07, 3.31),
        "trpo-lag": Published(27.35, 10.07, 49.58, 7.46),
        "ppo-lag": Published(35.58, 5.68, 54.91, 3.93),
        "focops": Published(28.15, 4.30, 26.54, 4.16),
        "cup": Published(33.38, 0.54, 23.31, 0.052),
    },
    "humanoid-speed": {
        "cpo": Published(326.95, 16.00, 26.13, 2.13),
        "trpo-lag": Published(307.71, 24.71, 18.22, 3.04),
        "ppo-lag": Published(322.11, 25.54, 22.94, 4.54),
        "focops": Published(542.5, 4.76, 20.04, 0.19),
        "cup": Published(1066.83, 266.12, 19.91, 0.36),
    },
    "humanoid-circle": {
        "cpo": Published(237.54, 23.20, 43.64, 1.91),
        "trpo-lag": Published(384.45, 47.66, 53.77, 1.48),
        "ppo-lag": Published(243.35, 37.90, 41.17, 3.98),
        "focops": Published(713.04, 9.25, 47.73, 0.64),
        "cup": Published(768.65, 63.70, 48.23, 0.65),
    },
}
for _algorithms in TABLE.values():
    _algorithms["cup-paper"] = _algorithms["cup"]  # what the paper measured is what it printed


def published(task: str, algo: str, steps: int, limit: float) -> Published | None:
    """Look up the paper's numbers for a run like theirs; None for another length or limit, and for what it does not have."""
    return TABLE[task].get(algo) if steps == STEPS and same_limit(task, limit) else None


def same_limit(task: str, limit: float) -> bool:
    """Tell whether the paper has this task with this limit, which its table rounds."""
    return abs(limit - LIMITS.get(task, float("inf"))) < 0.01


def best(task: str) -> str:
    """Find the algorithm with the highest return of those within the limit."""
    within = {algo: p.value for algo, p in TABLE[task].items() if p.cost <= LIMITS[task]}
    return max(within, key=lambda algo: within[algo])
