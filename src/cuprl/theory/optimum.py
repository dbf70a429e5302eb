"""The best policy of a CMDP under its limits, by linear programming over occupancy measures (Altman 1999).

The unknown is x(s, a) = sum_t gamma^t P(s_t = s, a_t = a), in which return and costs are linear:

    maximise  sum r x     such that   sum_a x(s', a) - gamma sum_{s,a} P(s'|s, a) x(s, a) = rho_0(s')   for every s'
                                      sum c_i x <= b_i                                                  for every i
                                      x >= 0

The policy is pi(a|s) = x(s, a) / sum_a x(s, a); the multiplier of a limit is the return one more unit of it would buy.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import OptimizeResult, linprog

from cuprl.errors import UserError
from cuprl.theory.cmdp import CMDP, Array
from cuprl.theory.exact import evaluate

INFEASIBLE = 2  # linprog's status
ACCURACY = 1e-10  # the finest HiGHS accepts
MET = 1e-9  # a limit below the smallest achievable cost by less than this counts as met: both are rounded


class InfeasibleError(UserError):
    """No policy meets the limits; the message names them and the smallest cost that can be achieved."""


@dataclass(frozen=True, eq=False)
class Optimum:
    """The solution, with a certificate: no policy within the limits returns more than `value + gap`."""

    value: float  # J of `policy`, evaluated exactly
    costs: Array  # [m] J^c of `policy`
    policy: Array  # [S, A]
    multipliers: Array  # [m], at least 0
    occupancy: Array  # [S, A], x above
    gap: float  # dual bound less `value`


def solve(cmdp: CMDP) -> Optimum:
    """Find the constrained optimum; raises InfeasibleError when no policy meets the limits."""
    _refuse_unreachable_limits(cmdp)
    limited = np.isfinite(cmdp.limits)
    result = _program(cmdp, -cmdp.mean_reward.ravel(), _cost_rows(cmdp), limited)
    if result.status == INFEASIBLE:
        raise _jointly_infeasible(cmdp)
    if result.status != 0:
        raise RuntimeError(f"the linear program of {cmdp.name} was not solved: {result.message}")
    occupancy = np.maximum(result.x, 0).reshape(cmdp.n_states, cmdp.n_actions)
    multipliers = np.zeros(cmdp.n_costs)
    multipliers[limited] = np.maximum(-result.ineqlin.marginals, 0)  # linprog minimises, so its signs are turned
    lagrangian = cmdp.mean_reward - np.einsum("m,msa->sa", multipliers, cmdp.mean_costs)
    bound_policy, bound = best_policy(cmdp, lagrangian)
    dual = bound + float(multipliers[limited] @ cmdp.limits[limited])
    policy = _policy_of(occupancy, bound_policy)
    value, costs = evaluate(cmdp, policy)
    return Optimum(value, costs, policy, multipliers, occupancy, gap=dual - value)


def best_policy(cmdp: CMDP, reward: Array) -> tuple[Array, float]:
    """Find the unconstrained best policy for a reward [S, A] and its value, by policy iteration."""
    P, states = cmdp.transition, np.arange(cmdp.n_states)
    chosen = reward.argmax(axis=1)
    while True:
        values = np.linalg.solve(np.eye(cmdp.n_states) - cmdp.gamma * P[states, chosen], reward[states, chosen])
        action_values = reward + cmdp.gamma * P @ values
        better = action_values.argmax(axis=1)
        # A tie, broken anew by rounding in every round, must not keep the loop going.
        gain = action_values[states, better] - action_values[states, chosen]
        improves = gain > 1e-12 * max(1.0, float(np.abs(values).max()))
        if not improves.any():
            return np.eye(cmdp.n_actions)[chosen], float(cmdp.initial @ values)
        chosen = np.where(improves, better, chosen)


def smallest_cost(cmdp: CMDP, cost: int = 0) -> float:
    """Find the least J^c that any policy achieves for this cost, the others left free."""
    return 0.0 - best_policy(cmdp, -cmdp.mean_costs[cost])[1]


def pareto_front(cmdp: CMDP, limits: Iterable[float], cost: int = 0) -> list[tuple[float, Optimum | None]]:
    """Find the optimum for each limit on one cost, the other limits as they are; None where no policy meets them."""
    front: list[tuple[float, Optimum | None]] = []
    for limit in limits:
        try:
            front.append((float(limit), solve(_with_limit(cmdp, limit, cost))))
        except InfeasibleError:
            front.append((float(limit), None))
    return front


def front_limits(cmdp: CMDP, points: int = 9, cost: int = 0) -> Array:
    """Choose limits worth sweeping: from the smallest achievable cost to that of the optimum without this limit."""
    free = solve(_with_limit(cmdp, np.inf, cost))
    return np.linspace(smallest_cost(cmdp, cost), free.costs[cost], points)


def _with_limit(cmdp: CMDP, limit: float, cost: int) -> CMDP:
    limits = cmdp.limits.copy()
    limits[cost] = limit
    return cmdp.with_limits(limits)


def _cost_rows(cmdp: CMDP) -> Array:
    """One row [S A] for each cost that has a finite limit."""
    return cmdp.mean_costs[np.isfinite(cmdp.limits)].reshape(-1, cmdp.n_states * cmdp.n_actions)


def _program(cmdp: CMDP, objective: Array, rows: Array, limited: Array) -> OptimizeResult:
    """Minimise `objective` over occupancies (and any further columns) with `rows` kept under the finite limits."""
    states, actions = cmdp.n_states, cmdp.n_actions
    flow = np.repeat(np.eye(states), actions, axis=1)  # [S', S A]: what leaves s' ...
    flow = flow - cmdp.gamma * cmdp.transition.reshape(states * actions, states).T  # ... less what comes in
    further = np.zeros((states, len(objective) - states * actions))
    return linprog(
        objective,
        A_ub=rows if len(rows) else None,
        b_ub=cmdp.limits[limited] if len(rows) else None,
        A_eq=np.hstack([flow, further]),
        b_eq=cmdp.initial,
        method="highs",
        options={"primal_feasibility_tolerance": ACCURACY, "dual_feasibility_tolerance": ACCURACY},
    )


def _policy_of(occupancy: Array, elsewhere: Array) -> Array:
    """pi(a|s) from the occupancy; in states never visited, the policy that is best for the Lagrangian."""
    visits = occupancy.sum(axis=1, keepdims=True)
    return np.where(visits > 1e-12, occupancy / np.where(visits > 1e-12, visits, 1.0), elsewhere)


def _refuse_unreachable_limits(cmdp: CMDP) -> None:
    for i, limit in enumerate(cmdp.limits):
        least = smallest_cost(cmdp, i)
        if limit < least - MET * max(1.0, abs(least)):
            raise InfeasibleError(
                f"the limit {limit:g} on {cmdp.cost_names[i]!r} cannot be met: the smallest cost any policy of "
                f"{cmdp.name!r} achieves is {least:.6g}. Raise the limit to that or more."
            )


def _jointly_infeasible(cmdp: CMDP) -> InfeasibleError:
    """Each limit can be met alone, but not all together: say by how much all must rise."""
    limited = np.isfinite(cmdp.limits)
    rows = np.hstack([_cost_rows(cmdp), -np.ones((limited.sum(), 1))])
    excess = _program(cmdp, np.append(np.zeros(cmdp.n_states * cmdp.n_actions), 1.0), rows, limited).fun
    named = ", ".join(f"{name!r} <= {b:g}" for name, b in zip(cmdp.cost_names, cmdp.limits) if np.isfinite(b))
    alone = ", ".join(f"{smallest_cost(cmdp, i):.6g}" for i in range(cmdp.n_costs) if limited[i])
    return InfeasibleError(
        f"the limits {named} cannot be met together, though each can alone (smallest costs {alone}). "
        f"Raise each by {excess:.6g}, or one of them by more."
    )
