"""Which statements hold: the corrected ones everywhere, the printed ones not, with counterexamples worked by hand."""

import numpy as np
import pytest

from cuprl.theory import STATEMENTS, run_study
from cuprl.theory.registry import holds
from theory.pairs import LAMBDAS, TRUE, late_difference, one_state, trap, turncoat


def test_true_statements_hold_on_ten_thousand_problems_at_every_lambda():
    rows = run_study(instances=10_000, seed=1, lambdas=LAMBDAS, statements=TRUE)
    assert {row.lam for row in rows} == set(LAMBDAS)
    assert {row.instances for row in rows} == {10_000}
    assert {(row.statement, row.lam): row.worst for row in rows if row.held < row.instances} == {}


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
