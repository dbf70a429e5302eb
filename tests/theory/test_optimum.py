"""The linear program against brute force, against value iteration, and against its own dual."""

import itertools

import numpy as np
import pytest

from cuprl.theory import CMDP, GENERATORS, InfeasibleError, evaluate, front_limits, pareto_front, solve
from cuprl.theory.generators import random_cmdp
from cuprl.theory.optimum import smallest_cost


def deterministic_points(cmdp):
    """(return, cost) of every deterministic policy."""
    choices = itertools.product(range(cmdp.n_actions), repeat=cmdp.n_states)
    return [(value, costs[0]) for value, costs in (evaluate(cmdp, np.eye(cmdp.n_actions)[list(c)]) for c in choices)]


def best_mixture(points, limit):
    """Returns and costs of mixed policies fill the convex hull of the deterministic ones: look along every edge."""
    best = -np.inf
    for (value, cost), (other_value, other_cost) in itertools.product(points, repeat=2):
        if cost <= limit:
            best = max(best, value)
            if other_cost > limit:
                share = (limit - cost) / (other_cost - cost)
                best = max(best, (1 - share) * value + share * other_value)
    return best


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("tightness", [0.1, 0.5, 0.9])
def test_lp_is_the_best_mixture_of_deterministic_policies(seed, tightness):
    cmdp = random_cmdp(states=3, actions=3, sparsity=0.3, tightness=tightness, seed=seed)
    best = solve(cmdp)
    assert best.value == pytest.approx(best_mixture(deterministic_points(cmdp), cmdp.limits[0]), abs=1e-9)
    assert best.costs[0] <= cmdp.limits[0] + 1e-9


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("costs", [1, 2])
def test_no_stochastic_policy_on_a_grid_beats_the_lp(seed, costs):
    cmdp = random_cmdp(states=2, actions=2, costs=costs, seed=seed)
    cmdp = cmdp.with_limits(1.05 * cmdp.limits)  # room for a grid to find policies that meet both limits
    grid = np.linspace(0, 1, 41)
    found = -np.inf
    for p, q in itertools.product(grid, repeat=2):
        value, paid = evaluate(cmdp, [[p, 1 - p], [q, 1 - q]])
        if np.all(paid <= cmdp.limits):
            found = max(found, value)
    best = solve(cmdp).value
    assert found <= best + 1e-9
    assert found >= 0.97 * best  # the grid comes close, so the program does not promise too much


@pytest.mark.parametrize("name", GENERATORS)
def test_without_limits_it_is_value_iteration(name):
    cmdp = GENERATORS[name]()
    values = np.zeros(cmdp.n_states)
    for _ in range(600):  # 0.95^600 is below 1e-13
        values = (cmdp.mean_reward + cmdp.gamma * np.einsum("sap,p->sa", cmdp.transition, values)).max(axis=1)
    free = solve(cmdp.with_limits([np.inf]))
    assert free.value == pytest.approx(cmdp.initial @ values, abs=1e-8)
    assert free.multipliers[0] == 0
    slack = solve(cmdp.with_limits(free.costs + 1))
    assert slack.value == pytest.approx(free.value, abs=1e-8)
    assert slack.multipliers[0] == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("name", GENERATORS)
def test_default_limits_bind(name):
    cmdp = GENERATORS[name]()
    best, free = solve(cmdp), solve(cmdp.with_limits([np.inf]))
    assert best.value < free.value - 0.02 * abs(free.value)
    assert best.costs[0] == pytest.approx(cmdp.limits[0], rel=1e-8)
    assert best.value > 0


@pytest.mark.parametrize("name", GENERATORS)
def test_the_multiplier_is_the_slope_of_the_front(name):
    cmdp = GENERATORS[name]()
    step = 1e-4 * cmdp.limits[0]
    less, more = (solve(cmdp.with_limits(cmdp.limits + sign * step)).value for sign in (-1, 1))
    assert solve(cmdp).multipliers[0] == pytest.approx((more - less) / (2 * step), rel=1e-4)


@pytest.mark.parametrize("seed", range(10))
def test_duality_gap_and_occupancy(seed):
    cmdp = random_cmdp(states=7, actions=3, costs=2, sparsity=0.5, gamma=0.97, seed=seed)
    best = solve(cmdp)
    assert abs(best.gap) < 1e-8
    assert np.all(best.multipliers >= 0)
    assert np.all(best.costs <= cmdp.limits + 1e-8)
    assert np.all(best.multipliers * (cmdp.limits - best.costs) < 1e-7)  # complementary slackness
    flow = cmdp.initial + cmdp.gamma * np.einsum("sa,sap->p", best.occupancy, cmdp.transition)
    np.testing.assert_allclose(best.occupancy.sum(axis=1), flow, atol=1e-8)
    assert (best.occupancy * cmdp.mean_reward).sum() == pytest.approx(best.value, abs=1e-8)


def test_an_unreachable_limit_names_the_smallest_cost():
    cmdp = GENERATORS["queue"](limit=2.0)
    with pytest.raises(InfeasibleError) as error:
        solve(cmdp)
    assert "limit 2 on 'waiting' cannot be met" in str(error.value)
    assert f"{smallest_cost(cmdp):.6g}" in str(error.value)
    cheapest = min(cost for _, cost in deterministic_points(random_cmdp(states=3, actions=2, seed=1)))
    assert smallest_cost(random_cmdp(states=3, actions=2, seed=1)) == pytest.approx(cheapest)


def test_limits_that_only_conflict_together_are_said_to():
    """One state, two actions: the first costs (1, 0), the second (0, 1); together a step costs 1, so 10 in all."""
    cmdp = CMDP([[[1], [1]]], [[1, 1]], [[[1, 0]], [[0, 1]]], [4, 4], [1], 0.9, cost_names=("heat", "noise"))
    with pytest.raises(InfeasibleError) as error:
        solve(cmdp)
    message = str(error.value)
    assert "'heat' <= 4, 'noise' <= 4 cannot be met together" in message
    assert "Raise each by 1," in message  # 5 and 5 make 10
    assert solve(cmdp.with_limits([5, 5])).value == pytest.approx(10)


def test_front_rises_and_bends_down():
    cmdp = GENERATORS["chain"]()
    limits = front_limits(cmdp, points=11)
    values = [best.value for _, best in pareto_front(cmdp, limits)]
    assert np.all(np.diff(values) > 0)
    assert np.all(np.diff(values, n=2) < 1e-9)
    assert values[-1] == pytest.approx(solve(cmdp.with_limits([np.inf])).value)


def test_front_marks_limits_nobody_can_meet():
    front = pareto_front(GENERATORS["queue"](), [1.0, 15.0])
    assert front[0] == (1.0, None)
    assert front[1][1].costs[0] == pytest.approx(15.0)
