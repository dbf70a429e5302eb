"""When a statement holds, by how much it fails, and how far its sides are from the truth."""

import numpy as np

from cuprl.theory.registry import STATEMENTS, holds, looseness, violation
from cuprl.theory.statements import Sides


def test_violation_is_relative_to_the_larger_side():
    sides = Sides(*(np.array(v, dtype=float) for v in ([-np.inf, 1.0, 30.0], [5.0, 2.0, 10.0], [4.0, 3.0, np.inf])))
    np.testing.assert_allclose(violation(sides), [1 / 5, 0, 20 / 30])
    assert holds(sides).tolist() == [False, True, False]


def test_looseness_is_the_mean_distance_of_the_sides_that_are_given():
    sides = Sides(
        *(np.array(v, dtype=float) for v in ([1.0, -np.inf, -1.0, -np.inf], [2.0, -4.0, 0.0, 1.0], [5.0, -3.0, 1.0, np.inf]))
    )
    np.testing.assert_allclose(looseness(sides), [(1 + 3) / 2 / 2, 1 / 4, np.nan, np.nan])


def test_each_statement_is_listed_under_its_own_name_with_its_source():
    assert all(statement.name == name and statement.says for name, statement in STATEMENTS.items())
    assert {statement.source for statement in STATEMENTS.values()} == {"paper", "classical", "corrected"}
