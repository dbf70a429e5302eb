"""The exact CUP step of Theorem 2 against a general-purpose optimiser."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from cuprl.theory import CMDP, STATEMENTS, Pair, exact
from cuprl.theory.counterexample import one_of
from cuprl.theory.registry import holds
from cuprl.theory.sampling import random_pairs
from cuprl.theory.update import improvement, penalised_policy, projection


def softmax(z, shape):
    z = np.exp(z.reshape(shape) - z.reshape(shape).max(axis=1, keepdims=True))
    return z / z.sum(axis=1, keepdims=True)


def problems(count=6):
    """Random ones, the old policy away from the border, where a general optimiser does well."""
    batch = random_pairs(np.random.default_rng(11), count, 3, 3).at(0.5)
    batch = replace(batch, ref=0.7 * batch.ref + 0.1)
    return [one_of(batch, i) for i in range(count)]


def mean_kl(d, p, q):
    return float(d @ (p * np.log(p / q)).sum(axis=1))


@pytest.mark.parametrize("x", problems(), ids=range(6))
def test_improvement_is_the_maximum(x):
    def value(policy):
        return float(x.d_ref @ (policy * x.A_ref).sum(axis=1)) - 0.2 * np.sqrt(max(mean_kl(x.d_ref, x.ref, policy), 0))

    found = improvement(x, 0.2)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    rng = np.random.default_rng(0)
    others = [
        minimize(
            lambda z: -value(softmax(z, (3, 3))),
            np.log(x.ref).ravel() + rng.normal(size=9),
            method="Nelder-Mead",
            options={"maxiter": 6000, "xatol": 1e-9, "fatol": 1e-12},
        )
        for _ in range(3)
    ]
    best = -min(other.fun for other in others)
    assert value(found) >= best - 1e-7
    assert value(found) <= max(best, 0) + 1e-3 * max(1, abs(best))


@pytest.mark.parametrize("x", problems(), ids=range(6))
def test_projection_is_the_nearest_safe_policy(x):
    half = 0.5 * x.ref + 0.5 * x.pi  # any policy will do
    half = 0.8 * half + 0.2 / 3
    found = projection(x, half)
    A = x.on_cost.A_ref

    def surrogate(policy):
        return float(x.d_ref @ (policy * A).sum(axis=1))

    assert surrogate(found) <= 1e-9
    if surrogate(half) <= 0:
        np.testing.assert_array_equal(found, half)
        return
    assert surrogate(found) == pytest.approx(0, abs=1e-7)
    result = minimize(
        lambda z: mean_kl(x.d_ref, half, softmax(z, (3, 3))),
        np.log(half).ravel(),
        method="SLSQP",
        constraints={"type": "ineq", "fun": lambda z: -surrogate(softmax(z, (3, 3)))},
        options={"ftol": 1e-12, "maxiter": 500},
    )
    assert mean_kl(x.d_ref, half, found) == pytest.approx(result.fun, abs=1e-5)


def test_penalised_policy_between_greedy_and_old():
    A, old = np.array([[1.0, 0.0, -1.0]]), np.array([[0.2, 0.5, 0.3]])
    np.testing.assert_allclose(penalised_policy(A, old, np.array(1e9)), old, atol=1e-8)
    np.testing.assert_allclose(penalised_policy(A, old, np.array(1e-9)), [[1, 0, 0]], atol=1e-8)
    ratio = old / penalised_policy(A, old, np.array(0.7))  # kappa old / pi = nu - A: differences of A come back
    np.testing.assert_allclose(-0.7 * np.diff(ratio), np.diff(A))


def test_a_large_alpha_stays_put():
    x = problems(1)[0]
    np.testing.assert_array_equal(improvement(x, 1e3), x.ref)


def bandit():
    """One state, equal chances; action 1 pays 1 and costs 1. Any gain in return is the same gain in cost."""
    return Pair.of(CMDP([[[1], [1]]], [[0, 1]], [[0, 1]], [np.inf], [1], 0.5), [[0.5, 0.5]], [[0.5, 0.5]], 1.0)


def test_theorem_2_cost_fails_on_a_bandit():
    """At lambda = 1 it claims J^c <= b = J^c(pi_k) + E_pi[A_C] + beta sqrt(chi); but J^c rises by 2 E_pi[A_C]."""
    x = bandit()
    p = improvement(x)[0, 1]
    chi = -0.5 * np.log(4 * p * (1 - p))
    sides = STATEMENTS["theorem-2-cost"].sides(x)
    assert float(sides.middle) == pytest.approx(2 * (p - 0.5))
    assert float(sides.upper) == pytest.approx((p - 0.5) + 0.2 * np.sqrt(chi))
    assert not holds(sides)
    # p maximises p - 1/2 - 0.2 sqrt(chi)
    around = np.linspace(p - 1e-3, p + 1e-3, 9)
    values = around - 0.2 * np.sqrt(-0.5 * np.log(4 * around * (1 - around)))
    assert values.argmax() == 4


def test_theorem_2_return_fails_when_the_projection_gives_the_gain_away():
    """Found by `cup theory --counterexample theorem-2-return`: pi_k is uniform, feasible, and pi_{k+1} worse."""
    cmdp = CMDP([[[0, 1], [0.5, 0.5]], [[0, 1], [1, 0]]], [[1, 0], [0, 1]], [[0, 0], [0, 1]], [np.inf], [1, 0], 0.5)
    x = Pair.of(cmdp, [[0.5, 0.5]] * 2, [[0.5, 0.5]] * 2, 0.95)
    new = projection(x, improvement(x))
    surrogate = float(x.d_ref @ (new * exact.advantages(cmdp.transition, cmdp.costs[0], 0.5, x.ref)).sum(axis=1))
    assert surrogate <= 1e-9  # the projection's constraint is met
    sides = STATEMENTS["theorem-2-return"].sides(x)
    assert float(x.J_ref) == pytest.approx(1)
    assert float(sides.middle) < -0.2
    assert float(sides.lower) > -0.01
    assert not holds(sides)
