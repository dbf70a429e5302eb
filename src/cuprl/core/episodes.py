"""Episodes as the collector sees them pass: returns, discounted and plain cost sums, lengths."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Running(NamedTuple):
    """The unfinished episode of each environment."""

    total: np.ndarray  # [N, 1 + m] plain sums of the reward and the costs
    discounted: np.ndarray  # [N, m] discounted cost sums
    length: np.ndarray  # [N]

    @staticmethod
    def start(num_envs: int, m: int) -> Running:
        """Begin with nothing summed up in any of N environments; m: costs."""
        return Running(np.zeros((num_envs, 1 + m)), np.zeros((num_envs, m)), np.zeros(num_envs, np.int64))


class Episodes(NamedTuple):
    """Finished episodes, oldest first."""

    total: np.ndarray  # [E, 1 + m]
    discounted: np.ndarray  # [E, m]
    length: np.ndarray  # [E]

    @staticmethod
    def none(m: int) -> Episodes:
        """Make what no episode has given yet; m: costs."""
        return Episodes(np.zeros((0, 1 + m)), np.zeros((0, m)), np.zeros(0, np.int64))

    def __add__(self, later: Episodes) -> Episodes:  # type: ignore[override]
        return Episodes(*(np.concatenate(pair) for pair in zip(self, later)))

    def last(self, count: int) -> Episodes:
        """Keep the last so many episodes."""
        return Episodes(*(x[-count:] for x in self))


def split_episodes(
    running: Running,
    signal: np.ndarray,  # [T, N, 1 + m]
    done: np.ndarray,  # [T, N]
    discount: np.ndarray,  # [m]
) -> tuple[Episodes, Running]:
    """Give the episodes that ended in this stretch of steps, in order of their end, and those still running."""
    steps, num_envs, _ = signal.shape
    total, discounted, length = (x.copy() for x in running)
    powers = discount ** np.arange(steps)[:, None]  # [T, m]
    ended: list[tuple[int, np.ndarray, np.ndarray, int]] = []
    for n in range(num_envs):
        start = 0
        for end in [*(np.flatnonzero(done[:, n]) + 1).tolist(), steps]:
            part = signal[start:end, n].astype(np.float64)
            discounted[n] += discount ** length[n] * (powers[: end - start] * part[:, 1:]).sum(axis=0)
            total[n] += part.sum(axis=0)
            length[n] += end - start
            if end > start and done[end - 1, n]:
                ended.append((end, total[n].copy(), discounted[n].copy(), int(length[n])))
                total[n], discounted[n], length[n] = 0.0, 0.0, 0
            start = end
    if not ended:
        return Episodes.none(signal.shape[2] - 1), Running(total, discounted, length)
    ended.sort(key=lambda episode: episode[0])
    _, totals, discounts, lengths = zip(*ended)
    return Episodes(np.stack(totals), np.stack(discounts), np.array(lengths)), Running(total, discounted, length)
