"""The corrected statements: equal to the classical bound, attained, and true where the printed ones fail."""

import numpy as np
import pytest

from cuprl.theory import CMDP, STATEMENTS, Pair, exact
from cuprl.theory.registry import holds
from cuprl.theory.sampling import random_pairs
from theory.pairs import LAMBDAS, TRUE, late_difference, trap, turncoat


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


@pytest.mark.parametrize("lam", LAMBDAS)
@pytest.mark.parametrize("make", [trap, turncoat, late_difference])
@pytest.mark.parametrize("name", TRUE)
def test_corrected_statements_survive_the_counterexamples(name, make, lam):
    assert holds(STATEMENTS[name].sides(make(lam)))


@pytest.mark.parametrize("lam", LAMBDAS)
def test_the_corrected_lemma_is_attained(lam):
    """From state 0 pi goes to 1 and pi' to 2, both for ever: the distance is 2 gamma~, and so is the bound."""
    stay = np.eye(3)
    cmdp = CMDP([stay[[1, 2]], stay[[1, 1]], stay[[2, 2]]], np.zeros((3, 2)), np.zeros((3, 2)), [np.inf], stay[0], 0.9)
    x = Pair.of(cmdp, [[1, 0]] * 3, [[0, 1], [1, 0], [1, 0]], lam)
    sides = STATEMENTS["lemma-corrected"].sides(x)
    distance = 2 * 0.9 * (1 - lam) / (1 - 0.9 * lam)
    assert (float(sides.middle), float(sides.upper)) == pytest.approx((distance, distance))
