"""Every statement that can be checked, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from cuprl.theory import corrected, statements, update
from cuprl.theory.cmdp import Array
from cuprl.theory.pair import Pair
from cuprl.theory.statements import Sides

TOLERANCE = 1e-9  # a statement holds where it is violated by no more than this, relative to the size of its sides


@dataclass(frozen=True)
class Statement:
    """A claim `lower <= middle <= upper` about two policies."""

    name: str
    source: str  # "paper" as printed, "classical" from the literature, "corrected" ours
    says: str
    sides: Callable[[Pair], Sides]
    new_policy: Callable[[Pair], Array] | None = None  # the policy it speaks about, where that is not pi but a step
    about_cost: bool = False
    note: str = ""


def violation(sides: Sides) -> Array:
    """Tell how far the claim is missed, relative to its largest side (or to 1); 0 where it holds exactly."""
    finite = [np.where(np.isfinite(side), np.abs(side), 0.0) for side in sides]
    missed = np.maximum(sides.lower - sides.middle, sides.middle - sides.upper)
    return np.maximum(missed, 0.0) / np.maximum.reduce([*finite, np.ones_like(sides.middle)])


def holds(sides: Sides) -> NDArray[np.bool_]:
    """Tell where the claim is true up to rounding."""
    return violation(sides) <= TOLERANCE


def looseness(sides: Sides) -> Array:
    """Give the mean distance of the given sides from the true value, over that value's size: 0 is a perfect bound.

    NaN where the true value is 0, for nothing can be compared with it.
    """
    below = np.where(np.isfinite(sides.lower), sides.middle - sides.lower, np.nan)
    above = np.where(np.isfinite(sides.upper), sides.upper - sides.middle, np.nan)
    given = np.isfinite(below).astype(float) + np.isfinite(above)
    size = np.where(np.abs(sides.middle) > 1e-12, np.abs(sides.middle), np.nan)
    return np.nansum([below, above], axis=0) / np.where(given > 0, given, np.nan) / size


def _any_phi(statement: Callable[..., Sides]) -> Callable[[Pair], Sides]:
    """The statement for the pair's own, arbitrary phi in the place of V_{pi'}."""
    return lambda x: statement(x, phi=x.phi)


def _project(x: Pair) -> Array:
    return update.projection(x, update.improvement(x))


_ALL = (
    Statement("objective-identity", "paper", "J in TD errors, any phi", statements.objective_identity),
    Statement("lambda-return", "paper", "J in lambda-returns", statements.lambda_return_objective),
    Statement("theorem-1", "paper", "p, q = 1, inf; phi = V", statements.theorem_1),
    Statement("theorem-1-2-2", "paper", "p, q = 2, 2; phi = V", partial(statements.theorem_1, p=2, q=2)),
    Statement("theorem-1-any-phi", "paper", "p, q = 1, inf; any phi", _any_phi(statements.theorem_1)),
    Statement("lemma", "paper", "visitation, |1-2gl|S||A||", statements.visitation_lemma),
    Statement("lemma-first-form", "paper", "visitation, L11 norm", statements.visitation_lemma_first_form),
    Statement("proposition-1", "paper", "return, below, TV", statements.proposition_1),
    Statement("proposition-1-norm", "paper", "epsilon as a norm", statements.proposition_1_norm),
    Statement("proposition-1-summed", "paper", "Theorem 1's sum for GAE", statements.proposition_1_summed),
    Statement("proposition-2", "paper", "cost, above, TV", statements.proposition_2, about_cost=True),
    Statement("proposition-3-return", "paper", "return, below, KL", statements.proposition_3_return),
    Statement("proposition-3-cost", "paper", "cost, above, KL", statements.proposition_3_cost, about_cost=True),
    Statement(
        "theorem-2-return",
        "paper",
        "exact CUP step",
        update.theorem_2_return,
        _project,
        note=f"pi is the exact step from pi', alpha = {update.ALPHA:g}, beta = 0, with the limit J^c(pi')",
    ),
    Statement(
        "theorem-2-cost",
        "paper",
        "exact CUP step",
        update.theorem_2_cost,
        update.improvement,
        about_cost=True,
        note=f"pi is the exact step from pi', alpha = beta = {update.ALPHA:g}, with the least limit that allows it",
    ),
    Statement("performance-difference", "classical", "Kakade & Langford 2002", statements.performance_difference),
    Statement("cpo-return", "classical", "Achiam et al. 2017, below", corrected.return_classical),
    Statement("cpo-cost", "classical", "Achiam et al. 2017, above", corrected.cost_classical, about_cost=True),
    Statement("theorem-1-corrected", "corrected", "p, q = 1, inf; phi = V", corrected.theorem_1_corrected),
    Statement(
        "theorem-1-corrected-2-2", "corrected", "p, q = 2, 2; phi = V", partial(corrected.theorem_1_corrected, p=2, q=2)
    ),
    Statement("theorem-1-corrected-any-phi", "corrected", "p, q = 1, inf; any phi", _any_phi(corrected.theorem_1_corrected)),
    Statement("lemma-corrected", "corrected", "visitation, telescoped", corrected.visitation_corrected),
    Statement("return-corrected", "corrected", "return, below", corrected.return_corrected),
    Statement("cost-corrected", "corrected", "cost, above", corrected.cost_corrected, about_cost=True),
    Statement("corrected-is-cpo", "corrected", "return-corrected = cpo-return", corrected.corrected_is_classical),
)

STATEMENTS: dict[str, Statement] = {statement.name: statement for statement in _ALL}
