"""What a sample of episodes says of a mean, a share and a tail, and how surely. Pure NumPy and SciPy's beta function.

Each function gives its definition. `alpha` is the chance that a bound is wrong; every bound is one-sided. What is drawn at
random is drawn from a fixed seed: the same episodes give the same bound.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv

BETTING, BOOTSTRAP_T = "betting", "bootstrap-t"

CAUTION = 0.75  # c of Waudby-Smith & Ramdas: the part of its capital that a bet may lose at most
HALVINGS = 40  # of the interval in which a bound is searched: to 1e-12 of the largest cost
RESAMPLES = 4999  # of a bootstrap
MARGIN = 0.4  # the part of alpha that bootstrap-t is given: on skewed costs it is wrong more often than it says
AT_ONCE = 2**22  # numbers drawn at a time
MOST_EPISODES = 10_000_000  # more than that decides nothing in practice


class Bounds(NamedTuple):
    """Of a mean; infinite where nothing can be said."""

    lower: float
    upper: float
    method: str


def mean_bounds(values: np.ndarray, alpha: float, largest: float | None = None) -> Bounds:
    """Find one-sided bounds on the mean of values [n], each wrong with a chance of at most `alpha`.

    largest: where every possible value is between 0 and that, the bounds hold at any n (betting); else they hold as n
    grows, and nearly so from some fifty values on (bootstrap-t).
    """
    if largest is None:
        return Bounds(-float(bootstrap_t_upper(-values, alpha)), float(bootstrap_t_upper(values, alpha)), BOOTSTRAP_T)
    lower = largest - betting_upper(largest - values, alpha, largest)
    return Bounds(float(lower), float(betting_upper(values, alpha, largest)), BETTING)


def betting_upper(values: np.ndarray, alpha: float, largest: float) -> np.ndarray:
    """Find an upper bound on the mean of values [..., n] in [0, largest], valid at every n; shape [...].

    Waudby-Smith & Ramdas (2023), "Estimating means of bounded random variables by betting", JRSS B 86(1), its one-sided
    half. On the values x_1, x_2, … in [0, 1] a gambler bets that the mean is below m:

        K_t(m) = prod_{i <= t} (1 - lambda_i(m) (x_i - m))
        lambda_i(m) = min(sqrt(2 log(1/alpha) / (n v_{i-1})), c / (1 - m))

    with v_{i-1} the variance of the values before, as they estimate it for a fixed n. If the mean is m or more, K is a
    supermartingale that begins at 1, and reaches 1/alpha with a chance of at most alpha (Ville). The bound is the least m
    that it did reach it for: K grows with m, so halving finds it.

    The values must come in an order that says nothing of them, such as that of their seeds: not sorted, nor in the order
    in which episodes end.
    """
    n = values.shape[-1]
    x = values / largest
    bet = np.sqrt(2.0 * math.log(1.0 / alpha) / (n * variance_before(x)))  # [..., n]

    def reached(m: np.ndarray) -> np.ndarray:
        """Whether the capital reached 1/alpha, for m [...]."""
        m = m[..., None]
        gains = np.log1p(-np.minimum(bet, CAUTION / np.maximum(1.0 - m, 1e-12)) * (x - m))
        return gains.cumsum(axis=-1).max(axis=-1) >= math.log(1.0 / alpha)

    low, high = x.mean(axis=-1), np.ones(x.shape[:-1])
    for _ in range(HALVINGS):
        middle = (low + high) / 2.0
        low, high = np.where(reached(middle), (low, middle), (middle, high))
    return largest * high


def variance_before(x: np.ndarray) -> np.ndarray:
    """Give the variance of the values before each in x [..., n]; before the first there is one of the mean 1/2, with 1/4."""
    count = np.arange(1, x.shape[-1] + 1)
    mean = (0.5 + x.cumsum(axis=-1)) / (count + 1)  # after each value
    variance = (0.25 + np.square(x - mean).cumsum(axis=-1)) / (count + 1)
    return np.concatenate((np.full((*x.shape[:-1], 1), 0.25), variance[..., :-1]), axis=-1)


def bootstrap_t_upper(values: np.ndarray, alpha: float) -> np.ndarray:
    """Find an upper bound on the mean of values [..., n] without any known bound; shape [...].

    Efron & Tibshirani (1993), "An Introduction to the Bootstrap", section 12.5: mean - t s / sqrt(n), where t is the
    alpha-quantile of (mean* - mean) / (s* / sqrt(n)) over samples drawn with replacement. Its error falls as 1/n, also for
    skewed values (Hall 1988), but with few of them it is wrong more often than alpha; so 0.4 of alpha is taken here
    (docs/certify.md has what that gives). Infinite where all values are the same, too few differ, or alpha is smaller than
    so many samples show: without a bound, nothing then follows about values that were not seen.
    """
    values = np.sort(values, axis=-1)
    n, rank = values.shape[-1], math.floor(MARGIN * alpha * (RESAMPLES + 1))
    off = values - values.mean(axis=-1, keepdims=True)
    square = np.square(off)
    variance = square.sum(axis=-1) / max(n - 1, 1)
    if rank == 0:
        return np.full(variance.shape, np.inf)
    random, ratios = np.random.default_rng(0), []
    for done in range(0, RESAMPLES, chunk := max(AT_ONCE // n, 1)):
        times = times_drawn(random, n, min(chunk, RESAMPLES - done))  # [n, samples]
        shift = off @ times / n  # mean* - mean
        spread = (square @ times / n - np.square(shift)) * n / max(n - 1, 1)  # s*²
        same = spread <= 1e-12 * variance[..., None]  # all of a sample are the same value
        ratios.append(np.where(same, np.copysign(np.inf, shift), shift / np.sqrt(np.where(same, 1.0, spread) / n)))
    t = np.partition(np.concatenate(ratios, axis=-1), rank - 1, axis=-1)[..., rank - 1]
    known = (values[..., 0] < values[..., -1]) & np.isfinite(t)
    return np.where(known, values.mean(axis=-1) - np.where(known, t, 0.0) * np.sqrt(variance / n), np.inf)


def times_drawn(random: np.random.Generator, n: int, samples: int) -> np.ndarray:
    """Count how often each of n values is drawn when n are drawn with replacement [n, samples]."""
    drawn = random.integers(n, size=(samples, n)) + n * np.arange(samples)[:, None]
    return np.bincount(drawn.ravel(), minlength=samples * n).reshape(samples, n).T.astype(np.float64)


def share_interval(count: int, n: int, confidence: float) -> tuple[float, float]:
    """Find the exact two-sided interval of a probability from `count` of n (Clopper & Pearson 1934)."""
    tail = (1.0 - confidence) / 2.0
    low = 0.0 if count == 0 else float(betaincinv(count, n - count + 1, tail))
    high = 1.0 if count == n else float(betaincinv(count + 1, n - count, 1.0 - tail))
    return low, high


def worst(values: np.ndarray, share: float = 0.01) -> float:
    """Average the largest `share` of values [n]: their conditional value at risk (Rockafellar & Uryasev 2000).

    Where that is not a whole number of values the last one counts in part; with less than one, it is the largest.
    """
    part = max(share * len(values), 1.0)
    weights = np.clip(part - np.arange(len(values)), 0.0, 1.0)
    return float(weights @ np.sort(values)[::-1] / part)


def episodes_to_decide(mean: float, bounds: Bounds, limit: float, n: int) -> int | None:
    """Estimate how many values put the limit outside of the bounds, if mean and spread stay as they are; None: too many.

    A bound comes nearer to the mean as 1 / sqrt(n) does, so n times (bound - mean)² / (limit - mean)²; to two digits.
    """
    width, gap = (bounds.upper if mean < limit else bounds.lower) - mean, limit - mean
    if gap == 0.0 or not n * (width / gap) ** 2 <= MOST_EPISODES:
        return None
    needed = max(n * (width / gap) ** 2, n + 1)
    unit = 10 ** (math.floor(math.log10(needed)) - 1)
    return math.ceil(needed / unit) * unit if unit > 1 else math.ceil(needed)
