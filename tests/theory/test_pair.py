"""Two policies on one problem."""

import numpy as np
import pytest

from cuprl.theory import STATEMENTS, exact
from cuprl.theory.registry import holds
from cuprl.theory.sampling import random_pairs
from theory.pairs import turncoat


def test_the_return_is_not_the_mean_value_under_the_visitation():
    """The identity holds for J = E_rho[V]; the paper's Section 2 prints J = E_d[V], for which it is false."""
    x = turncoat(0.5)
    identity = STATEMENTS["objective-identity"].sides(x)
    assert float(identity.lower) == pytest.approx(float(exact.dot(x.rho, exact.state_values(x.P, x.r, x.gamma, x.pi))))
    y = x.moved_to(x.ref)  # pi' visits both states, so the two definitions differ: 2/3 and 8/9
    d = exact.visitation(y.P, y.gamma, y.rho, y.pi)
    assert float(exact.dot(d, y.V_ref)) == pytest.approx(8 / 9)
    assert float(STATEMENTS["objective-identity"].sides(y).lower) == pytest.approx(2 / 3)


def test_equal_policies_make_every_statement_true():
    """The bounds are claimed to be tight for pi = pi': all three sides are 0."""
    x = random_pairs(np.random.default_rng(0), 50, 3, 2)
    x = x.moved_to(x.ref)
    for name, statement in STATEMENTS.items():
        if statement.new_policy is None:
            assert holds(statement.sides(x.at(0.5))).all(), name
