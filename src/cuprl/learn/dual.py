"""The small convex problems inside CPO and PCPO, solved through their duals in the m multipliers nu.

With gradients g (reward) and A = [a_1 … a_m]^T (costs), v = H^-1 g and W = H^-1 A^T, everything depends on

    q = g^T H^-1 g    r = A H^-1 g [m]    S = A H^-1 A^T [m, m]    c [m] constraint values    delta

The optimum touches some set I of the constraints. Each of the 2^m sets gives one candidate in closed form; the best
of those that keep all constraints is the optimum, exactly. For m = 1 the papers' own closed forms are used.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from cuprl.errors import UserError
from cuprl.learn.natural import trust_region_length

MOST = 8  # constraints: 256 candidates
RECOVERY, REACHABLE, SAFE, INSIDE = 0, 1, 2, 3  # CPO's cases


class Dual(NamedTuple):
    """The step (v - nu W) / lam (Achiam et al. 2017, Eq. 13)."""

    lam: jax.Array  # [] multiplier of the trust region
    nu: jax.Array  # [m] multipliers of the constraints


class CpoStep(NamedTuple):
    """The step along_reward v - along_costs W."""

    along_reward: jax.Array  # []
    along_costs: jax.Array  # [m]
    nu: jax.Array  # [m] multipliers of the constraints; 0 in recovery
    case: jax.Array  # [] RECOVERY, REACHABLE, SAFE or INSIDE


def refuse_too_many(m: int) -> None:
    """Refuse a task of more constraints than their sets can be listed."""
    if m > MOST:
        raise UserError(f"the task has {m} constraints, this algorithm takes at most {MOST}; use cup, focops or ppo-lag.")


def active_sets(m: int) -> np.ndarray:
    """List every subset of the constraints [2^m, m]."""
    refuse_too_many(m)
    return (np.arange(2**m)[:, None] >> np.arange(m)) & 1 == 1


def solve_on(active: jax.Array, S: jax.Array, x: jax.Array) -> jax.Array:
    """Solve for S_II^-1 x_I on the active set I, 0 elsewhere [m]; not finite where S_II is singular."""
    restricted = jnp.where(active[:, None] & active[None, :], S, jnp.eye(len(x), dtype=S.dtype))
    return eliminate(restricted, jnp.where(active, x, 0.0))


def eliminate(S: jax.Array, x: jax.Array) -> jax.Array:
    """Solve for S^-1 x by Gauss-Jordan elimination, for a small S that is symmetric and positive: no pivoting is needed.

    Plain arithmetic, because LAPACK's batched solver can wait for ever inside a compiled program on a CPU (jaxlib 0.10).
    """
    table = jnp.column_stack((S, x))
    for i in range(len(x)):
        row = table[i] / table[i, i]
        table = (table - jnp.outer(table[:, i], row)).at[i].set(row)
    return table[:, -1]


def slack(S: jax.Array, x: jax.Array, radius: jax.Array | float) -> jax.Array:
    """Tell how far over 0 a constraint may come out of rounding [m]: a hair of the numbers it is the difference of."""
    return jnp.sqrt(jnp.finfo(x.dtype).eps) * (jnp.abs(x) + radius * jnp.sqrt(jnp.maximum(jnp.diag(S), 0.0)))


def no_price_below_zero(nu: jax.Array) -> jax.Array:
    """Tell whether no multiplier [m] is below 0, but for rounding.

    The optimum's never are. Those of constraints that are nearly one another's copies may come out huge, of opposite signs.
    """
    return (nu >= -10.0 * jnp.finfo(nu.dtype).eps * jnp.abs(nu).max()).all()


def best(score: jax.Array, valid: jax.Array, candidates: Any) -> tuple[Any, jax.Array]:
    """Choose the valid candidate of the highest score, and tell whether there is one."""
    index = jnp.argmax(jnp.where(valid, score, -jnp.inf))
    return jax.tree.map(lambda x: x[index], candidates), valid.any()


def nearest_one(s: jax.Array, d: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Solve `nearest` for one constraint, all scalars: nu = max(0, d / s)."""
    possible = (d <= 0.0) | (s > 0.0)
    return jnp.where(possible & (d > 0.0), d / jnp.where(s > 0.0, s, 1.0), 0.0), possible


def nearest_many(S: jax.Array, d: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Solve `nearest` for any m: of max over nu >= 0 of nu d - nu S nu / 2, the candidates are nu_I = S_II^-1 d_I."""

    def on(active: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
        nu = solve_on(active, S, d)
        length = nu @ S @ nu
        valid = jnp.isfinite(length) & (d - S @ nu <= slack(S, d, jnp.sqrt(jnp.maximum(length, 0.0)))).all()
        return nu, -length, valid & no_price_below_zero(nu)

    nu, score, valid = jax.vmap(on)(jnp.asarray(active_sets(len(d))))
    nu, found = best(score, valid, nu)
    return jnp.maximum(nu, 0.0), found


def nearest(S: jax.Array, d: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Find nu >= 0 [m] whose step -nu A L^-1 is the shortest (in L) that brings all constraint values d [m] to 0 or below.

    Here S = A L^-1 A^T. Also whether such a step exists; where it does not, because constraints exclude one another
    or cannot be moved, nu leads down each violated one by itself.
    """
    if len(d) == 1:
        nu, exists = nearest_one(S[0, 0], d[0])
        return nu[None], exists
    nu, exists = nearest_many(S, d)
    squares = jnp.diag(S)
    down = jnp.where(squares > 0.0, jnp.maximum(d, 0.0) / jnp.where(squares > 0.0, squares, 1.0), 0.0)
    return jnp.where(exists, nu, down), exists


def off_constraints(q: jax.Array, part: jax.Array) -> jax.Array:
    """Give q - part: the square of g's part orthogonal to the active constraints; kept off 0, where g lies in their span."""
    return jnp.maximum(q - part, 100.0 * jnp.finfo(q.dtype).eps * q + 1e-30)


def cpo_dual_many(q: jax.Array, r: jax.Array, S: jax.Array, c: jax.Array, delta: float) -> Dual:
    """Solve max g^T x s.t. c + A x <= 0, x^T H x / 2 <= delta (Eq. 11), given that some x exists; any m.

    If the constraints in I hold with equality, lam² = (q - r S^-1 r) / (2 delta - c S^-1 c) and nu = S^-1 (r + lam c).
    """

    def on(active: jax.Array) -> tuple[Dual, jax.Array, jax.Array]:
        r_solved, c_solved = solve_on(active, S, r), solve_on(active, S, c)
        room = 2.0 * delta - c @ c_solved
        lam = jnp.sqrt(off_constraints(q, r @ r_solved) / room)
        nu = r_solved + lam * c_solved
        value = c + (r - S @ nu) / lam  # [m] of the constraints after the step
        square = (q - 2.0 * nu @ r + nu @ S @ nu) / lam**2
        allowed = 2.0 * delta * (1.0 + jnp.sqrt(jnp.finfo(q.dtype).eps))
        valid = (value <= slack(S, c, jnp.sqrt(2.0 * delta))).all() & (square <= allowed) & (room > 0.0)
        return Dual(lam, nu), (q - nu @ r) / lam, valid & no_price_below_zero(nu)  # g^T x is the score

    duals, score, valid = jax.vmap(on)(jnp.asarray(active_sets(len(c))))
    (lam, nu), found = best(score, valid, duals)
    return Dual(jnp.where(found, lam, jnp.inf), jnp.where(found, jnp.maximum(nu, 0.0), 0.0))


def cpo_dual_one(q: jax.Array, r: jax.Array, s: jax.Array, c: jax.Array, delta: float) -> Dual:
    """Solve the same for one constraint, all scalars (Theorem 2 of Achiam et al. 2017).

    Their two intervals of lam say whether the plain step to the edge of the trust region (lam_b, nu = 0) keeps the
    limit; if not, the limit holds with equality (lam_a).
    """
    lam_b = jnp.sqrt(off_constraints(q, jnp.zeros_like(q)) / (2.0 * delta))
    safe_s, room = jnp.where(s > 0.0, s, 1.0), 2.0 * delta - c**2 / jnp.where(s > 0.0, s, 1.0)
    lam_a = jnp.sqrt(off_constraints(q, r**2 / safe_s) / jnp.where(room > 0.0, room, jnp.inf))
    keeps = c + r / lam_b <= 0.0
    return Dual(jnp.where(keeps, lam_b, lam_a), jnp.where(keeps, 0.0, jnp.maximum((r + lam_a * c) / safe_s, 0.0)))


def cpo_dual(q: jax.Array, r: jax.Array, S: jax.Array, c: jax.Array, delta: float) -> Dual:
    """Solve Eq. 11 by its dual, for one constraint or many."""
    if len(c) == 1:
        lam, nu = cpo_dual_one(q, r[0], S[0, 0], c[0], delta)
        return Dual(lam, nu[None])
    return cpo_dual_many(q, r, S, c, delta)


def cpo_step(gram: jax.Array, c: jax.Array, delta: float) -> CpoStep:
    """Choose CPO's step in its case, from the Gram matrix [[q, r], [r, S]] [1 + m, 1 + m] and constraint values c [m].

    RECOVERY   no step in the trust region reaches the limits: go straight for them (Eq. 14)
    REACHABLE  over a limit now, but within reach
    SAFE       under the limits, which cut the trust region
    INSIDE     under the limits wherever in the trust region: the step is TRPO's
    With several constraints, recovery heads for the nearest point that keeps them all.
    """
    q, r, S = gram[0, 0], gram[0, 1:], gram[1:, 1:]
    lam, nu = cpo_dual(q, r, S, c, delta)
    away, exists = nearest(S, c)
    square = away @ S @ away  # of the way to the limits, 0 under them
    reach = jnp.sqrt(2.0 * delta * jnp.maximum(jnp.diag(S), 0.0))  # [m] the most a step can change each value
    possible = exists & (square <= 2.0 * delta) & jnp.isfinite(lam)
    under = jnp.where((c + reach <= 0.0).all(), INSIDE, SAFE)
    case = jnp.where(possible, jnp.where((c > 0.0).any(), REACHABLE, under), RECOVERY)
    return CpoStep(
        jnp.where(possible, 1.0 / lam, 0.0),
        jnp.where(possible, nu / lam, trust_region_length(square, delta) * away),
        jnp.where(possible, nu, 0.0),
        case,
    )
