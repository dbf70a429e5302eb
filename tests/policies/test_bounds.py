"""The bounds hold as often as they say, on a problem whose true costs are known exactly; and each is its definition."""

import math
import re
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from cuprl.core.spec import Constraint
from cuprl.policies import bounds
from cuprl.theory import GENERATORS, solve
from cuprl.theory.exact import average, evaluate, mean_reward, transition_matrix

HORIZON = 50
REPETITIONS = 1000


def gridworld():
    """The problem and its best policy, which costs just what is allowed."""
    cmdp = GENERATORS["gridworld"]()
    return cmdp, solve(cmdp).policy


def chain():
    cmdp = GENERATORS["chain"]()
    return cmdp, np.full((cmdp.n_states, cmdp.n_actions), 0.5)


def episode_costs(cmdp, policy, count, random, horizon=None):
    """Costs of episodes [count]: cut by chance, as the tabular task's are, or discounted and cut at the horizon."""

    def drawn(cumulative):
        return (random.random(len(cumulative))[:, None] >= cumulative[:, :-1]).sum(axis=1)

    first, acts, leads = (x.cumsum(axis=-1) for x in (cmdp.initial, policy, cmdp.transition))
    costs, going, t = np.zeros(count), np.arange(count), 0
    state = drawn(np.broadcast_to(first, (count, cmdp.n_states)))
    while len(going) and t != horizon:
        action = drawn(acts[state])
        successor = drawn(leads[state, action])
        costs[going] += cmdp.costs[0, state, action, successor] * (1.0 if horizon is None else cmdp.gamma**t)
        stay = random.random(len(going)) < cmdp.gamma if horizon is None else np.ones(len(going), bool)
        going, state, t = going[stay], successor[stay], t + 1
    return costs


def true_cost(cmdp, policy, horizon=None):
    """The mean of `episode_costs`, exactly."""
    if horizon is None:
        return evaluate(cmdp, policy)[1][0]
    steps, cost = transition_matrix(cmdp.transition, policy), average(policy, mean_reward(cmdp.transition, cmdp.costs[0]))
    value = np.zeros(cmdp.n_states)
    for _ in range(horizon):
        value = cost + cmdp.gamma * steps @ value
    return cmdp.initial @ value


def populations():
    """name: (a function that draws episodes, their true mean, the largest value if there is one)"""
    found: dict[str, tuple[Any, float, float | None]] = {}
    for name, (cmdp, policy) in {"gridworld": gridworld(), "chain": chain()}.items():
        largest = Constraint("cost", 1.0, cmdp.gamma, step_bound=1.0).largest_sum(HORIZON)
        for label, horizon, top in ((name, None, None), (f"{name}, {HORIZON} steps", HORIZON, largest)):
            draw = partial(episode_costs, cmdp, policy, horizon=horizon)
            found[label] = draw, true_cost(cmdp, policy, horizon), top
    found["lognormal"] = lambda count, random: random.lognormal(size=count), math.exp(0.5), None
    return found


def student(values, alpha):
    """What textbooks do; it is here to be compared with."""
    n = values.shape[-1]
    return values.mean(axis=-1) + stats.t.ppf(1 - alpha, n - 1) * values.std(axis=-1, ddof=1) / math.sqrt(n)


def share_that_hold(name, method, n, alpha=0.05, repetitions=REPETITIONS):
    """How many of the repetitions, of n fresh episodes each, have an upper bound that is no lower than the true mean."""
    draw, mean, largest = populations()[name]
    values = draw(repetitions * n, np.random.default_rng(n)).reshape(repetitions, n)
    upper = {
        "betting": lambda: bounds.betting_upper(values, alpha, largest),
        "bootstrap-t": lambda: bounds.bootstrap_t_upper(values, alpha),
        "Student's t": lambda: student(values, alpha),
    }[method]()
    return float((upper >= mean).mean())


# --- how often they hold --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, method",
    [
        ("gridworld", "bootstrap-t"),
        ("gridworld, 50 steps", "betting"),
        ("chain, 50 steps", "betting"),
    ],
)
def test_the_upper_bounds_hold(name, method):
    assert share_that_hold(name, method, 50) >= 0.94


@pytest.mark.parametrize("n, p", [(20, 0.4619), (50, 0.2836), (100, 0.7708), (300, 0.2404), (300, 0.01)])
def test_betting_holds_for_costs_of_all_or_nothing(n, p):
    """Where a bound is tightest. Were the values sorted and then shuffled, always alike, it would hold in 55% at n = 50."""
    values = (np.random.default_rng(n).random((1000, n)) < p).astype(float)
    assert (bounds.betting_upper(values, 0.05, 1.0) >= p).mean() >= 0.935
    assert (1.0 - bounds.betting_upper(1.0 - values, 0.05, 1.0) <= p).mean() >= 0.935


def test_the_lower_bounds_hold():
    draw, mean, largest = populations()["gridworld, 50 steps"]
    for values in draw(100 * 60, np.random.default_rng(3)).reshape(100, 60):
        betting, bootstrap = bounds.mean_bounds(values, 0.01, largest), bounds.mean_bounds(values, 0.01)
        assert betting.method == "betting" and betting.lower <= mean <= betting.upper
        assert bootstrap.method == "bootstrap-t" and bootstrap.lower <= mean


@pytest.mark.slow
def test_the_documented_shares_are_those_measured():
    """docs/certify.md prints them; what certificates are made of is to hold in 94 of 100."""
    page = (Path(__file__).parents[2] / "docs" / "certify.md").read_text()
    rows = re.findall(r"^\| (.+?) \| (\S+|Student's t) \| ([\d.]+)% \| ([\d.]+)% \| ([\d.]+)% \|$", page, re.M)
    assert len(rows) >= 10
    for name, method, *documented in rows:
        for n, share in zip((50, 200, 1000), documented):
            measured = share_that_hold(name, method, n)
            assert 100 * measured == pytest.approx(float(share), abs=0.15), (name, method, n)
            assert measured >= 0.94 or method == "Student's t"


# --- what they are -----------------------------------------------------------------------------------------------------


def capital(values, m, alpha):
    """The gambler's capital after each value, one value after the other, as the definition has it."""
    money, path, seen = 1.0, [], []
    for x in values:
        mean = [(0.5 + sum(seen[: i + 1])) / (i + 2) for i in range(len(seen))]
        variance = (0.25 + sum((seen[i] - mean[i]) ** 2 for i in range(len(seen)))) / (len(seen) + 1)
        money *= 1 - min(math.sqrt(2 * math.log(1 / alpha) / (len(values) * variance)), 0.75 / (1 - m)) * (x - m)
        path.append(money)
        seen.append(x)
    return np.array(path)


def test_betting_against_a_slow_loop():
    values = np.random.default_rng(1).beta(1, 4, size=40)
    upper = float(bounds.betting_upper(10 * values, 0.05, 10.0)) / 10
    assert capital(values, upper + 1e-9, 0.05).max() >= 20 > capital(values, upper - 1e-9, 0.05).max()


def test_bootstrap_t_against_a_slow_loop(monkeypatch):
    monkeypatch.setattr(bounds, "RESAMPLES", 199)
    values = np.sort(np.random.default_rng(1).exponential(size=30))
    random, ratios = np.random.default_rng(0), []
    for drawn in random.integers(30, size=(199, 30)):
        ratios.append((values[drawn].mean() - values.mean()) / (values[drawn].std(ddof=1) / math.sqrt(30)))
    expected = values.mean() - np.sort(ratios)[8 - 1] * values.std(ddof=1) / math.sqrt(30)  # 0.4 of 0.1, of 200
    assert float(bounds.bootstrap_t_upper(values, 0.1)) == pytest.approx(expected, rel=1e-12)


def test_the_company_that_episodes_are_in_does_not_matter_nor_their_order_to_bootstrap_t(monkeypatch):
    random = np.random.default_rng(2)
    many = random.beta(1, 4, size=(3, 50))
    for upper, order in (
        (bounds.bootstrap_t_upper, random.permutation),
        (lambda x, alpha: bounds.betting_upper(x, alpha, 1.0), np.array),
    ):
        together = upper(many, 0.05)
        np.testing.assert_allclose(together, [upper(order(row), 0.05) for row in many], rtol=1e-9)
    at_once = bounds.bootstrap_t_upper(many, 0.05)
    monkeypatch.setattr(bounds, "AT_ONCE", 1000)
    np.testing.assert_allclose(bounds.bootstrap_t_upper(many, 0.05), at_once, rtol=1e-9)


@pytest.mark.parametrize(
    "values, alpha",
    [(np.zeros(100), 0.05), (np.full(7, 0.1), 0.05), (np.ones(1), 0.05), (np.eye(60)[0], 0.05), (np.arange(50.0), 1e-6)],
)
def test_without_a_bound_nothing_follows_from_episodes_that_hardly_differ(values, alpha):
    assert bounds.mean_bounds(values, alpha).upper == math.inf


def test_with_a_bound_something_follows_from_episodes_that_cost_nothing():
    found = bounds.mean_bounds(np.zeros(1000), 0.05, 100.0)
    assert found.lower == pytest.approx(0.0, abs=1e-9) and 100 * -math.log(0.05) / 1000 < found.upper < 0.5
    full = bounds.mean_bounds(np.full(1000, 100.0), 0.05, 100.0)
    assert full.upper == 100.0 and full.lower == pytest.approx(100.0 - found.upper)


@pytest.mark.parametrize("count, n", [(0, 20), (20, 20), (3, 50)])
def test_the_share_is_that_of_clopper_and_pearson(count, n):
    interval = stats.binomtest(count, n).proportion_ci(0.9, method="exact")
    assert bounds.share_interval(count, n, 0.9) == pytest.approx((interval.low, interval.high), abs=1e-9)


def test_the_worst_are_averaged():
    values = np.arange(1000.0)
    assert bounds.worst(values) == pytest.approx(np.arange(990, 1000).mean())
    assert bounds.worst(values[:50]) == 49.0  # less than one: the largest
    assert bounds.worst(values[:250]) == pytest.approx((249 + 248 + 0.5 * 247) / 2.5)


@pytest.mark.parametrize(
    "mean, lower, upper, limit, expected",
    [
        (20.0, 19.0, 21.0, 20.5, 400),  # the bound must come twice as near
        (20.0, 19.0, 21.0, 19.7, 1200),
        (20.0, 19.0, 21.0, 20.0, None),
        (20.0, 19.0, 21.0, 20.0001, None),
        (20.0, -math.inf, math.inf, 21.0, None),
        (20.0, 19.0, 21.0, 20.999999, 110),
    ],
)
def test_how_many_episodes_would_decide(mean, lower, upper, limit, expected):
    assert bounds.episodes_to_decide(mean, bounds.Bounds(lower, upper, "betting"), limit, 100) == expected
