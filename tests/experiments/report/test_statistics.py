"""The statistics against rliable's own numbers, against SciPy, and where the answer is known."""

import numpy as np
import pytest
import scipy.stats

from cuprl.experiments.report import statistics
from cuprl.experiments.report.statistics import (
    arrival,
    band,
    bootstrap,
    half,
    improvement,
    iqm,
    proportion,
    share_in_violation,
)

# Scores [runs, tasks] and what rliable 1.2.0 (with arch 7.2.0, NumPy 2.4.6, SciPy 1.17.1) gave for them:
# metrics.aggregate_iqm and metrics.probability_of_improvement through library.get_interval_estimates,
# 50,000 and 10,000 resamples, RandomState(0).
OURS = np.array([[0.91, 0.42, 1.30], [0.85, 0.55, 1.12], [1.02, 0.13, 0.97], [0.77, 0.61, 1.44], [0.95, 0.38, 1.05]])
THEIRS = np.array([[0.88, 0.50, 0.99], [0.79, 0.58, 1.01], [0.93, 0.49, 0.97], [0.81, 0.52, 1.20], [0.90, 0.47, 0.90]])
RLIABLE = {
    "iqm of ours": (0.8533333333333334, 0.79444444, 0.91),
    "iqm of theirs": (0.8088888888888889, 0.77666667, 0.84111111),
    "improvement": (0.5933333333333334, 0.38666667, 0.8),
}


@pytest.mark.parametrize(
    "name, statistic, groups",
    [
        ("iqm of ours", iqm, [OURS.T]),
        ("iqm of theirs", iqm, [THEIRS.T]),
        ("improvement", improvement, [OURS.T, THEIRS.T]),
    ],
)
def test_intervals_agree_with_rliable(name, statistic, groups):
    found, (value, low, high) = bootstrap(statistic, *map(list, groups)), RLIABLE[name]
    assert found.value == pytest.approx(value, abs=1e-12)
    # The draws differ; between seeds an end moves by less than this.
    assert found.low == pytest.approx(low, abs=0.006) and found.high == pytest.approx(high, abs=0.006)
    assert found == bootstrap(statistic, *map(list, groups))  # the same numbers every time


@pytest.mark.parametrize("runs", [1, 2, 3, 4, 5, 10, 11])
def test_iqm_is_scipys_trimmed_mean(runs):
    scores = np.random.default_rng(runs).normal(size=(3, runs))
    assert iqm(list(scores)) == pytest.approx(scipy.stats.trim_mean(scores, 0.25, axis=None))


def test_improvement_is_mann_whitneys_u():
    random = np.random.default_rng(0)
    x, y = random.integers(5, size=7).astype(float), random.integers(5, size=4).astype(float)  # with ties
    assert improvement([x], [y]) == pytest.approx(scipy.stats.mannwhitneyu(x, y).statistic / (7 * 4))
    assert improvement([x], [y]) + improvement([y], [x]) == pytest.approx(1.0)
    broken = np.array([-np.inf, -np.inf])
    assert improvement([broken], [broken]) == 0.5 and improvement([x], [broken]) == 1.0


@pytest.mark.filterwarnings("error")
def test_a_run_that_never_gets_there_is_beyond_every_time():
    two_of_three = bootstrap(half, [np.array([3.0, 8.0, np.inf])])
    assert two_of_three == (8.0, 3.0, np.inf)
    assert bootstrap(half, [np.full(4, np.inf)]) == (np.inf,) * 3
    assert bootstrap(half, [np.array([3.0, 8.0])]).value == 5.5  # half of the seeds between the two


@pytest.mark.parametrize("seeds, covered", [(3, 0.73), (4, 0.88), (5, 0.90), (10, 0.93)])
def test_an_interval_of_few_seeds_covers_less_than_it_says(seeds, covered):
    """As docs/experiments.md tells, of normal data; a share of 300 data sets is known to within 0.06."""
    data = np.random.default_rng(seeds).normal(size=(300, seeds))
    intervals = [bootstrap(iqm, [runs]) for runs in data]
    assert np.mean([found.low <= 0.0 <= found.high for found in intervals]) == pytest.approx(covered, abs=0.06)


def test_strata_are_kept_apart():
    """Tasks far apart: resampling across them would spread the interval over both, resampling within must not."""
    tasks = [np.array([0.0, 0.1, 0.2]), np.array([10.0, 10.1, 10.2])]
    found = bootstrap(lambda scores: np.mean([x.mean(axis=-1) for x in scores], axis=0), tasks)
    assert 4.9 < found.low < found.value < found.high < 5.3


@pytest.mark.parametrize("yes, n", [(0, 3), (1, 3), (3, 3), (0, 10), (4, 10), (1, 1)])
def test_proportion_is_wilsons(yes, n):
    found = proportion(np.arange(n) < yes)
    theirs = scipy.stats.binomtest(yes, n).proportion_ci(method="wilson")
    assert found == pytest.approx((yes / n, theirs.low, theirs.high), abs=1e-12)


def test_band_is_the_bootstrap_of_the_mean():
    curves = np.random.default_rng(0).normal(size=(8, 3)) + np.array([0.0, 5.0, 50.0])
    low, high = band(curves)
    for i in range(3):
        one = bootstrap(lambda scores: scores[0].mean(axis=-1), [curves[:, i]])
        assert low[i] == pytest.approx(one.low, abs=0.1) and high[i] == pytest.approx(one.high, abs=0.1)


def test_mean_and_deviation():
    assert statistics.mean_std(np.array([1.0, 3.0])) == (2.0, 1.0)


def test_violations_count_any_constraint_and_only_what_is_known():
    limits = np.array([1.0, 2.0])
    costs = np.array([[np.nan, np.nan], [1.0, 2.0], [1.1, 0.0], [0.0, 2.1]])
    assert share_in_violation(costs, limits) == pytest.approx(2 / 3)
    assert np.isnan(share_in_violation(costs[:1], limits))
    assert statistics.in_violation(costs, limits).tolist() == [False, False, True, True]


@pytest.mark.parametrize(
    "curve, where",
    [
        ([0, 5, 8.9, 9, 10], 3),
        ([0, 9.5, 2, 10], 1),
        ([100, 100, 190, 200], 2),
        ([np.nan, 0, 10], 2),
        ([-10, -1, 0], 1),
        ([5, 9, 5], None),
        ([5, 3], None),
        ([np.nan], None),
        ([0, np.nan], None),
    ],
)
def test_arrival_at_90_percent_of_the_way(curve, where):
    assert arrival(np.array(curve, float)) == where
