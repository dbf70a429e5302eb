"""The smallest problem on which a statement fails, in numbers a person can check by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cuprl.theory.pair import Pair
from cuprl.theory.registry import STATEMENTS, Statement, violation
from cuprl.theory.sampling import random_pairs, round_pairs
from cuprl.theory.statements import Sides, epsilon
from cuprl.theory.study import LAMBDAS, check

SMALL_SIZES = ((1, 2), (2, 2), (2, 3), (3, 2))  # states, actions; with one action there is only one policy
ROUNDNESS = (2, 10, 100)  # probabilities are multiples of one over this; the coarsest are tried first
DRAWS = 2000
CLEAR = 1e-3  # relative violation below which an example convinces nobody


@dataclass(frozen=True)
class Counterexample:
    """One problem, two policies and the sides of the inequality that is false for them."""

    statement: Statement
    pair: Pair  # without a batch axis; `pi` is the policy the statement speaks about
    sides: Sides


def find_counterexample(name: str, lambdas: Sequence[float] = LAMBDAS, seed: int = 0) -> Counterexample | None:
    """Find the simplest clear failure: fewest states times actions, then the roundest numbers; None if there is none."""
    check(1, seed, lambdas, (name,))
    statement = STATEMENTS[name]
    for states, actions in SMALL_SIZES:
        rng = np.random.default_rng([seed, states, actions])
        draws = [round_pairs(rng, DRAWS, states, actions, parts) for parts in ROUNDNESS]
        draws.append(random_pairs(rng, DRAWS, states, actions))
        for batch in draws:
            for lam in lambdas:
                found = _simplest_failure(statement, batch.at(lam))
                if found is not None:
                    return found
    return None


def _simplest_failure(statement: Statement, batch: Pair) -> Counterexample | None:
    missed = violation(statement.sides(batch))
    failing = np.flatnonzero(missed > CLEAR)
    if not len(failing):
        return None
    # Fewest numbers other than 0 and 1; among equals the largest violation.
    best = min(failing.tolist(), key=lambda i: (_fractions(statement, batch, i), -missed[i]))
    pair = one_of(batch, best)
    sides = statement.sides(pair)
    if statement.new_policy is not None:
        pair = pair.moved_to(statement.new_policy(pair))
    return Counterexample(statement, pair, sides)


def one_of(batch: Pair, i: int) -> Pair:
    """Take problem i out of a batch, without the batch axis."""
    P, r, c, rho, gamma, pi, ref, phi = (
        np.asarray(array[i]) for array in (batch.P, batch.r, batch.c, batch.rho, batch.gamma, batch.pi, batch.ref, batch.phi)
    )
    return Pair(P, r, c, rho, gamma, pi, ref, phi, batch.lam)


def _fractions(statement: Statement, batch: Pair, i: int) -> int:
    signal = batch.c if statement.about_cost else batch.r
    numbers = [batch.P[i], signal[i][..., 0], batch.rho[i], batch.ref[i]]
    numbers += [batch.pi[i]] if statement.new_policy is None else []
    return sum(int(((n != 0) & (n != 1)).sum()) for n in numbers)


def describe(example: Counterexample) -> str:
    """Write everything needed to check it by hand, as text."""
    statement, x = example.statement, example.pair
    y = x.on_cost if statement.about_cost else x
    lower, middle, upper = (float(side) for side in example.sides)
    claim = " <= ".join(_number(side) for side in (lower, middle, upper) if np.isfinite(side))
    states, actions = x.ref.shape
    signals = {"reward": x.r, "cost": x.c}
    if statement.new_policy is None:  # a step needs both
        signals.pop("reward" if statement.about_cost else "cost")
    lines = [
        f"{statement.name} ({statement.says}) fails at lambda = {_number(x.lam)}:",
        f"  it claims {claim}, which is false by {_number(max(lower - middle, middle - upper))}",
        "",
        f"The problem: {states} state{'s' * (states > 1)}, {actions} actions, gamma = {_number(float(x.gamma))}",
        f"  initial distribution {_vector(x.rho)}",
    ]
    for s in range(states):
        for a in range(actions):
            pays = ", ".join(f"{name} {_number(float(signal[s, a, 0]))}" for name, signal in signals.items())
            lines.append(f"  state {s}, action {a}: {pays}, next state {_vector(x.P[s, a])}")
    if statement.name.endswith("any-phi"):
        lines.append(f"  phi {_vector(x.phi)}")
    lines += ["", "The policies, probabilities of the actions in each state:"]
    lines += [f"  state {s}: pi {_vector(x.pi[s])}, pi' {_vector(x.ref[s])}" for s in range(states)]
    lines += [f"  {statement.note}"] if statement.note else []
    lines += [
        "",
        f"On the way (V, A and J of the {'cost' if statement.about_cost else 'reward'}):",
        f"  gamma~ = {_number(float(y.g))}, J(pi) = {_number(float(y.J_pi))}, J(pi') = {_number(float(y.J_ref))}",
        f"  V of pi' {_vector(y.V_ref)}, E_pi[A of pi'] {_vector(y.surplus)}",
        f"  d^lambda of pi {_vector(y.d_pi)}, of pi' {_vector(y.d_ref)}",
        f"  2 D_TV {_vector(y.two_tv)}, epsilon = max_s E_pi|delta| = {_number(float(epsilon(y)))}",
    ]
    return "\n".join(lines)


def _number(value: float) -> str:
    return f"{value:.6g}" if abs(value) > 1e-12 else "0"  # rounding noise of a solve is not a number to check


def _vector(values: np.ndarray) -> str:
    return "(" + ", ".join(_number(float(value)) for value in values) + ")"
