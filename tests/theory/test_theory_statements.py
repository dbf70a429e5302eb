"""Which statements hold: the corrected ones everywhere, the printed ones not, with counterexamples worked by hand."""

import numpy as np
import pytest

from cuprl.theory import CMDP, STATEMENTS, Pair, exact, run_study
from cuprl.theory.registry import holds, violation
from cuprl.theory.sampling import random_pairs

LAMBDAS = (0.0, 0.5, 0.95, 1.0)
TRUE = [name for name, statement in STATEMENTS.items() if statement.source != "paper"]
TRUE += ["objective-identity", "lambda-return"]


def test_true_statements_hold_on_ten_thousand_problems_at_every_lambda():
    rows = run_study(instances=10_000, seed=1, lambdas=LAMBDAS, statements=TRUE)
    assert {row.lam for row in rows} == set(LAMBDAS)
    assert {row.instances for row in rows} == {10_000}
    assert {(row.statement, row.lam): row.worst for row in rows if row.held < row.instances} == {}


@pytest.mark.parametrize("lam", LAMBDAS)
def test_corrected_bounds_equal_the_classical_one(lam):
    """The classical bound is written out here once more, from d, A and TV alone."""
    x = random_pairs(np.random.default_rng(5), 500, 5, 3).at(lam)
    d = (1 - x.gamma)[:, None] * np.stack(
        [rho @ np.linalg.inv(np.eye(5) - g * P) for rho, g, P in zip(x.rho, x.gamma, x.P_ref)]
    )
    surplus = (x.pi * exact.advantages(x.P, x.r, x.gamma, x.ref)).sum(axis=-1)
    tv = np.abs(x.pi - x.ref).sum(axis=-1) / 2
    slack = 2 * x.gamma / (1 - x.gamma) * np.abs(surplus).max(axis=-1) * (d * tv).sum(axis=-1)
    classical = ((d * surplus).sum(axis=-1) - slack) / (1 - x.gamma)
    np.testing.assert_allclose(STATEMENTS["return-corrected"].sides(x).lower, classical, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(STATEMENTS["cpo-return"].sides(x).lower, classical, rtol=1e-8, atol=1e-8)


def test_printed_statements_fail_where_we_say():
    """Far from 100%, so that no choice of random problems explains it; at lambda = 0 some are true."""
    rows = run_study(instances=1000, seed=2, lambdas=(0.0, 0.5, 0.95))
    share = {(row.statement, row.lam): row.share for row in rows}
    for name in ("theorem-1", "theorem-1-2-2", "theorem-1-any-phi", "lemma", "lemma-first-form"):
        assert share[name, 0.0] == 1
        assert share[name, 0.5] < 0.97
        assert share[name, 0.95] < 0.7
    for name in ("proposition-1", "proposition-2", "proposition-3-return", "proposition-3-cost", "theorem-2-cost"):
        assert share[name, 0.5] < 0.85
        assert share[name, 0.95] < 0.8
    assert share["theorem-2-return", 0.95] < 0.99


def one_state(pi, ref, lam, gamma=0.5):
    """A bandit: action 0 pays (and costs) 1, action 1 nothing."""
    cmdp = CMDP([[[1], [1]]], [[1, 0]], [[1, 0]], [np.inf], [1], gamma)
    return Pair.of(cmdp, [pi], [ref], lam)


def trap(lam):
    """pi' stays in state 0 for ever; pi falls into state 1 with chance 0.1 and there loses (and costs) 1 each step.

    With gamma = 0.9: V_pi' = 0, d_pi' = (1, 0), A = 0 in state 0, epsilon = 1, D_TV = 0.1 in state 0, and
    J(pi) = -(1/0.1 - 1/(1 - 0.9 * 0.9)) = -90/19.
    """
    stay, fall = [1, 0], [0, 1]
    reward = np.array([[0, 0], [0, -1]])
    cmdp = CMDP([[stay, fall], [fall, fall]], reward, -reward, [np.inf], [1, 0], 0.9)
    return Pair.of(cmdp, [[0.9, 0.1], [0, 1]], [[1, 0], [1, 0]], lam)


def turncoat(lam):
    """Action 0 pays 1 and leads to state 0, action 1 leads to state 1; pi stays where it is, pi' always leaves."""
    cmdp = CMDP([[[1, 0], [0, 1]]] * 2, [[1, 0], [1, 0]], [[0, 0], [0, 0]], [np.inf], [1, 0], 0.5)
    return Pair.of(cmdp, [[1, 0], [0, 1]], [[0, 1], [1, 0]], lam)


def late_difference(lam):
    """Both policies go to state 1 at once; pi stays there, pi' comes back."""
    cmdp = CMDP([[[0, 1], [0, 1]], [[0, 1], [1, 0]]], [[0, 0], [0, 0]], [[0, 0], [0, 0]], [np.inf], [1, 0], 0.5)
    return Pair.of(cmdp, [[1, 0], [1, 0]], [[1, 0], [0, 1]], lam)


KL_OF_TRAP = -np.log(0.9)
# What each statement claims: lower, truth, upper, worked out by hand.
COUNTEREXAMPLES = {
    # d^l_pi = (1, 0), d^l_pi' = (7, 2)/9, E_pi[A'] = (2, -2)/3, and pi' swaps the states at each step, so that
    # sum_t (1/4)^t Delta_t = (8, -8)/15; the norms of delta_{pi,t} sum to 8/9; 1/(1-gamma~) = 3/2.
    "theorem-1 at 0.5": ("theorem-1", turncoat(0.5), -4 / 27, 4 / 3, 28 / 27),
    # At lambda = 1 both d are rho_0, so the error is 0 and only sum_t (1/2)^t Delta_t[0] = 4/9 is left.
    "theorem-1 at 1": ("theorem-1", turncoat(1.0), 4 / 9, 4 / 3, 4 / 9),
    # gamma~ = 1/21: d^l_pi = (20, 1)/21, d^l_pi' = (61, 2)/63; factor 0.525^2/0.5/2.8 on E[2 D_TV] = 4/63.
    "lemma at 0.95": ("lemma", late_difference(0.95), -np.inf, 2 / 63, 0.525**2 / 0.5 / 2.8 * 4 / 63),
    # One state: the distributions are equal, but 1 - gamma lambda ||Pi - Pi'|| = 1 - 0.9 * 2 is negative.
    "lemma-first-form at 1": ("lemma-first-form", one_state([1, 0], [0, 1], 1.0, 0.9), -np.inf, 0, 0.1 / (1 - 1.8) * 2),
    # One state, lambda = 1: the penalty is 0 and 1/(1-gamma~) = 1, so one step stands for all of them.
    "proposition-1 at 1": ("proposition-1", one_state([0, 1], [1, 0], 1.0), -1, -2, np.inf),
    "proposition-2 at 1": ("proposition-2", one_state([1, 0], [0, 1], 1.0), -np.inf, 2, 1),
    "proposition-3-return at 1": ("proposition-3-return", one_state([0.5, 0.5], [1, 0], 1.0), -0.5, -1, np.inf),
    "proposition-3-cost at 1": ("proposition-3-cost", one_state([0.5, 0.5], [0, 1], 1.0), -np.inf, 1, 0.5),
    # lambda = 0: 1/(1-gamma) (0 -+ 2 gamma epsilon D_TV), with sqrt(KL/2) for D_TV in Proposition 3.
    "proposition-1 at 0": ("proposition-1", trap(0.0), -1.8, -90 / 19, np.inf),
    "proposition-1-summed at 0": ("proposition-1-summed", trap(0.0), -1.8, -90 / 19, np.inf),
    "proposition-2 at 0": ("proposition-2", trap(0.0), -np.inf, 90 / 19, 1.8),
    "proposition-3-return at 0": ("proposition-3-return", trap(0.0), -18 * np.sqrt(KL_OF_TRAP / 2), -90 / 19, np.inf),
    "proposition-3-cost at 0": ("proposition-3-cost", trap(0.0), -np.inf, 90 / 19, 18 * np.sqrt(KL_OF_TRAP / 2)),
    # epsilon as a norm: in state 0 the next state is 1 with chance 0.1, in state 1 surely, so it is 1 too.
    "proposition-1-norm at 0": ("proposition-1-norm", trap(0.0), -1.8, -90 / 19, np.inf),
}


@pytest.mark.parametrize(("name", "pair", "lower", "truth", "upper"), COUNTEREXAMPLES.values(), ids=COUNTEREXAMPLES)
def test_counterexamples_by_hand(name, pair, lower, truth, upper):
    sides = STATEMENTS[name].sides(pair)
    np.testing.assert_allclose([float(side) for side in sides], [lower, truth, upper], rtol=1e-9, atol=1e-12)
    assert not lower <= truth <= upper
    assert not holds(sides)


@pytest.mark.parametrize("lam", LAMBDAS)
@pytest.mark.parametrize("make", [trap, turncoat, late_difference])
@pytest.mark.parametrize("name", TRUE)
def test_corrected_statements_survive_the_counterexamples(name, make, lam):
    assert holds(STATEMENTS[name].sides(make(lam)))


def test_the_return_is_not_the_mean_value_under_the_visitation():
    """The identity holds for J = E_rho[V]; the paper's Section 2 prints J = E_d[V], for which it is false."""
    x = turncoat(0.5)
    identity = STATEMENTS["objective-identity"].sides(x)
    assert float(identity.lower) == pytest.approx(float(exact.dot(x.rho, exact.state_values(x.P, x.r, x.gamma, x.pi))))
    y = x.moved_to(x.ref)  # pi' visits both states, so the two definitions differ: 2/3 and 8/9
    d = exact.visitation(y.P, y.gamma, y.rho, y.pi)
    assert float(exact.dot(d, y.V_ref)) == pytest.approx(8 / 9)
    assert float(STATEMENTS["objective-identity"].sides(y).lower) == pytest.approx(2 / 3)


@pytest.mark.parametrize("lam", LAMBDAS)
def test_the_corrected_lemma_is_attained(lam):
    """From state 0 pi goes to 1 and pi' to 2, both for ever: the distance is 2 gamma~, and so is the bound."""
    stay = np.eye(3)
    cmdp = CMDP([stay[[1, 2]], stay[[1, 1]], stay[[2, 2]]], np.zeros((3, 2)), np.zeros((3, 2)), [np.inf], stay[0], 0.9)
    x = Pair.of(cmdp, [[1, 0]] * 3, [[0, 1], [1, 0], [1, 0]], lam)
    sides = STATEMENTS["lemma-corrected"].sides(x)
    distance = 2 * 0.9 * (1 - lam) / (1 - 0.9 * lam)
    assert (float(sides.middle), float(sides.upper)) == pytest.approx((distance, distance))


def test_violation_is_relative_to_the_larger_side():
    from cuprl.theory.statements import Sides

    sides = Sides(*(np.array(v, dtype=float) for v in ([-np.inf, 1.0, 30.0], [5.0, 2.0, 10.0], [4.0, 3.0, np.inf])))
    np.testing.assert_allclose(violation(sides), [1 / 5, 0, 20 / 30])
    assert holds(sides).tolist() == [False, True, False]


def test_equal_policies_make_every_statement_true():
    """The bounds are claimed to be tight for pi = pi': all three sides are 0."""
    x = random_pairs(np.random.default_rng(0), 50, 3, 2)
    x = x.moved_to(x.ref)
    for name, statement in STATEMENTS.items():
        if statement.new_policy is None:
            assert holds(statement.sides(x.at(0.5))).all(), name
