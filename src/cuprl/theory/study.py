"""On what share of random problems does each statement hold? Thousands of problems, every statement, every lambda."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from cuprl.errors import UserError, unknown
from cuprl.theory.pair import Pair
from cuprl.theory.registry import STATEMENTS, TOLERANCE, Statement, looseness, violation
from cuprl.theory.sampling import SIZES, random_pairs, round_pairs

INSTANCES = 2000
LAMBDAS = (0.0, 0.5, 0.95, 1.0)
LARGEST_BATCH = 100  # problems evaluated together: enough to amortise NumPy's calls, small enough for the cache


@dataclass(frozen=True)
class Row:
    """One statement at one lambda."""

    statement: str
    source: str
    says: str
    lam: float
    instances: int
    held: int  # instances on which it holds
    worst: float  # the largest violation, relative to the largest side of the inequality
    tightness: float  # median of |bound - true value| / |true value| where it holds; NaN if that is not defined

    @property
    def share(self) -> float:
        """Give the share of instances in which the statement held."""
        return self.held / self.instances


def run_study(
    instances: int = INSTANCES,
    seed: int = 0,
    lambdas: Sequence[float] = LAMBDAS,
    statements: Sequence[str] = tuple(STATEMENTS),
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> list[Row]:
    """Draw `instances` problems and check each statement on all of them at each lambda.

    A tenth of the problems have two states, two actions and round numbers; the others are spread over 2 to 8 states and
    2 to 4 actions. The same problems serve every lambda. `on_progress(done, total)` is called as the work goes on.
    """
    check(instances, seed, lambdas, statements)
    chosen = [STATEMENTS[name] for name in statements]
    found: dict[tuple[str, float], list[tuple[np.ndarray, np.ndarray]]] = {}
    for done, total, batch in _batches(instances, seed):
        for i, lam in enumerate(lambdas):
            pair = batch.at(lam)
            for statement in chosen:
                sides = statement.sides(pair)
                found.setdefault((statement.name, lam), []).append((violation(sides), looseness(sides)))
            on_progress(done * len(lambdas) + i + 1, total * len(lambdas))
    return [_row(statement, lam, found[statement.name, lam]) for statement in chosen for lam in lambdas]


def _batches(instances: int, seed: int) -> Iterator[tuple[int, int, Pair]]:
    """(number of batches before this one, number in all, the problems)."""
    rng = np.random.default_rng(seed)
    handmade = instances // 10
    spread = np.full(len(SIZES), (instances - handmade) // len(SIZES))
    spread[: (instances - handmade) % len(SIZES)] += 1
    plan: list[tuple[int, tuple[int, int] | None]] = [(part, None) for part in _parts(handmade)]
    plan += [(part, size) for size, count in zip(SIZES, spread) for part in _parts(int(count))]
    for done, (count, size) in enumerate(plan):
        batch = round_pairs(rng, count, 2, 2, parts=10) if size is None else random_pairs(rng, count, *size)
        yield done, len(plan), batch


def _parts(count: int) -> list[int]:
    return [min(LARGEST_BATCH, count - start) for start in range(0, count, LARGEST_BATCH)]


def _row(statement: Statement, lam: float, found: list[tuple[np.ndarray, np.ndarray]]) -> Row:
    violations = np.concatenate([missed for missed, _ in found])
    held = violations <= TOLERANCE
    gaps = np.concatenate([gap for _, gap in found])[held]
    gaps = gaps[~np.isnan(gaps)]  # 0 over 0: nothing to be tight about
    return Row(
        statement=statement.name,
        source=statement.source,
        says=statement.says,
        lam=lam,
        instances=len(violations),
        held=int(held.sum()),
        worst=float(violations.max()),
        tightness=float(np.median(gaps)) if len(gaps) else float("nan"),
    )


def check(instances: int, seed: int, lambdas: Sequence[float], statements: Sequence[str]) -> None:
    """Refuse what nothing can be studied with."""
    if instances < 1:
        raise UserError(f"instances is {instances}; accepted is 1 or more. Try {INSTANCES}.")
    if seed < 0:
        raise UserError(f"seed is {seed}; accepted is 0 or a larger whole number.")
    if not lambdas:
        raise UserError("no lambda is given; accepted are numbers from 0 to 1, as in 0,0.5,0.95,1.")
    for lam in lambdas:
        if not 0 <= lam <= 1:
            raise UserError(f"lambda is {lam:g}; accepted is 0 to 1. Try 0,0.5,0.95,1.")
    for name in statements:
        if name not in STATEMENTS:
            raise unknown("statement", name, STATEMENTS)
