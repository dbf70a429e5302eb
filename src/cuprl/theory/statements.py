"""The paper's statements about two policies, as printed; each function returns the sides of its inequality.

pi is the new policy pi_theta, pi' the old one pi_theta' (`ref`). What replaces the false ones is in
`cuprl.theory.corrected`, Theorem 2 in `cuprl.theory.update`, and `cuprl.theory.registry` lists them all by name.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cuprl.theory import exact
from cuprl.theory.cmdp import Array
from cuprl.theory.pair import Pair

ROUNDING = 1e-13  # relative size of what the tail of an infinite sum of norms may still move
LONGEST_SUM = 20_000  # terms; (gamma lambda)^t is below 1e-80 there for gamma = 0.99


class Sides(NamedTuple):
    """lower <= middle <= upper is claimed; a side the statement does not give is infinite."""

    lower: Array
    middle: Array
    upper: Array


def at_least(middle: Array, lower: Array) -> Sides:
    """Claim that the middle is at least the lower side."""
    return Sides(lower, middle, np.full_like(middle, np.inf))


def at_most(middle: Array, upper: Array) -> Sides:
    """Claim that the middle is at most the upper side."""
    return Sides(np.full_like(middle, -np.inf), middle, upper)


def equal(left: Array, right: Array) -> Sides:
    """Claim that both sides are the same."""
    return Sides(right, left, right)


def objective_identity(x: Pair) -> Sides:
    """State J(pi) = E[phi(s_0)] + 1/(1-g~) sum_t (gl)^t <d^l_pi, delta^phi_{pi,t}>  (Prop. objective-td-error-version)."""
    errors = exact.average(x.pi, exact.mean_td_error(x.P, x.r, x.gamma, x.phi))
    summed = exact.discounted_sum(x.P_pi, errors, x.gl)
    return equal(x.J_pi, exact.dot(x.rho, x.phi) + exact.dot(x.d_pi, summed) / (1 - x.g))


def lambda_return_objective(x: Pair) -> Sides:
    """State J(pi) = 1/(1-g~) E_{s ~ d^lambda_pi}[R^(lambda)(s)]  (Lemma lam-return-objective)."""
    returns = exact.lambda_reward(x.P, x.r, x.gamma, x.lam, x.pi)
    return equal(x.J_pi, exact.dot(x.d_pi, returns) / (1 - x.g))


def performance_difference(x: Pair) -> Sides:
    """State J(pi) - J(pi') = 1/(1-gamma) E_{s ~ d_pi, a ~ pi}[A_{pi'}(s, a)]  (Kakade & Langford 2002)."""
    d = exact.visitation(x.P, x.gamma, x.rho, x.pi)
    return equal(x.gain, exact.dot(d, x.surplus) / (1 - x.gamma))


def summed_norms(M: Array, v: Array, discount: Array, order: float) -> Array:
    """Give sum_t discount^t ||M^t v||_order for stochastic M, shape [...].

    There is no closed form. M^t v settles to a constant vector, so the sum stops once the spread of M^t v can no
    longer move the rest of it, and the rest is a geometric series.
    """
    total, weight = np.zeros(v.shape[:-1]), np.ones(v.shape[:-1])
    scale = np.maximum(np.abs(v).max(axis=-1), np.finfo(float).tiny)
    for _ in range(LONGEST_SUM):
        rest = weight / (1 - discount)
        spread = v.max(axis=-1) - v.min(axis=-1)
        if np.all(rest * spread <= ROUNDING * scale):
            break
        total = total + weight * np.linalg.norm(v, ord=order, axis=-1)
        weight = weight * discount
        v = np.einsum("...sp,...p->...s", M, v)
    return total + rest * np.linalg.norm(v, ord=order, axis=-1)


def distribution_error(x: Pair, phi: Array, p: float, q: float) -> Array:
    """Give sum_t (gl)^t epsilon_{p,q,t}, epsilon = ||d^l_pi - d^l_pi'||_p ||delta^phi_{pi,t}||_q  (Eq. error-01)."""
    errors = exact.average(x.pi, exact.mean_td_error(x.P, x.r, x.gamma, phi))
    return np.linalg.norm(x.d_pi - x.d_ref, ord=p, axis=-1) * summed_norms(x.P_pi, errors, x.gl, q)


def theorem_1(x: Pair, p: float = 1, q: float = np.inf, phi: Array | None = None) -> Sides:
    """State L^- <= J(pi) - J(pi') <= L^+  (Eq. bound-diff-01) with Delta_t as printed; phi = V_{pi'} unless given."""
    phi = x.V_ref if phi is None else phi
    Delta_0 = exact.average(x.pi - x.ref, exact.mean_td_error(x.P, x.r, x.gamma, phi))
    centre = exact.dot(x.d_ref, exact.discounted_sum(x.P_ref, Delta_0, x.gl))  # sum_t (gl)^t <d', Delta_t>
    error = distribution_error(x, phi, p, q)
    return Sides((centre - error) / (1 - x.g), x.gain, (centre + error) / (1 - x.g))


def _size_factor(x: Pair) -> Array:
    """|1 - 2 gamma lambda |S||A||, the factor below the fraction in the Lemma and in everything after it."""
    return np.abs(1 - 2 * x.gl * x.pi.shape[-2] * x.pi.shape[-1])


def visitation_lemma(x: Pair) -> Sides:
    """State ||d^l_pi - d^l_pi'||_1 <= (1-gl) / ((1-g~) |1 - 2gl|S||A||) E_{s ~ d^l_pi'}[2 D_TV]  (Lemma difference-distri).

    The Lemma also prints the expectation under d^lambda_pi: that is this statement with the policies exchanged.
    """
    return _visitation_bound(x, (1 - x.gl) * exact.dot(x.d_ref, x.two_tv), (1 - x.g) * _size_factor(x))


def visitation_lemma_first_form(x: Pair) -> Sides:
    """State the Lemma's first form: the factor is (1-gl)^2 / ((1-gamma)(1 - gl ||Pi_pi' - Pi_pi||_{1,1}))."""
    denominator = (1 - x.gamma) * (1 - x.gl * x.two_tv.sum(axis=-1))
    return _visitation_bound(x, (1 - x.gl) ** 2 * exact.dot(x.d_ref, x.two_tv), denominator)


def _visitation_bound(x: Pair, numerator: Array, denominator: Array) -> Sides:
    with np.errstate(divide="ignore", invalid="ignore"):
        bound = np.where(numerator == 0, 0.0, numerator / denominator)
    return at_most(np.abs(x.d_pi - x.d_ref).sum(axis=-1), bound)


def epsilon(x: Pair) -> Array:
    """Give epsilon_pi(pi') = max_s E_{a ~ pi, s'}[|delta(s, a, s')|] with phi = V_{pi'}.

    The paper equates this with ||delta_{pi,t}||_inf, which has the absolute value outside the expectation and is
    never larger. The larger one makes every printed bound weaker, so a bound that fails here fails either way.
    """
    size = np.abs(exact.td_error(x.r, x.gamma, x.V_ref))
    return exact.average(x.pi, exact.mean_reward(x.P, size)).max(axis=-1)


def epsilon_as_norm(x: Pair) -> Array:
    """Give sup_{t >= 1} ||delta_{pi,t}||_inf with phi = V_{pi'}: the other definition; its supremum is at t = 1."""
    return np.abs(np.einsum("...sp,...p->...s", x.P_pi, x.surplus)).max(axis=-1)


def penalty(x: Pair, eps: Array, distance: Array) -> Array:
    """Give 2 gamma (1-lambda) epsilon / ((1-gl) |1 - 2gl|S||A||) times E[D_TV], or times what Proposition 3 puts there."""
    numerator = 2 * x.gamma * (1 - x.lam) * eps
    with np.errstate(divide="ignore", invalid="ignore"):
        size = numerator * distance / ((1 - x.gl) * _size_factor(x))
    return np.where((numerator == 0) | (distance == 0), 0.0, size)  # 0 times an infinite KL, or over 0, is 0


def _mean_tv(x: Pair) -> Array:
    return exact.dot(x.d_ref, x.two_tv) / 2


def _pinsker(x: Pair) -> Array:
    """sqrt(1/2 E[KL(pi', pi)]), which is at least E[D_TV]  (Eq. inequlities)."""
    return np.sqrt(x.mean_kl / 2)


def _surrogate(x: Pair) -> Array:
    """E_{s ~ d^lambda_pi', a ~ pi}[A^GAE_{pi'}(s, a)]."""
    return exact.dot(x.d_ref, exact.average(x.pi, x.gae_ref))


def proposition_1(x: Pair) -> Sides:
    """State J(pi) - J(pi') >= 1/(1-g~) (E[A^GAE] - penalty)  (Eq. pro1-bound-01)."""
    return at_least(x.gain, (_surrogate(x) - penalty(x, epsilon(x), _mean_tv(x))) / (1 - x.g))


def proposition_1_norm(x: Pair) -> Sides:
    """State Proposition 1 with epsilon read as sup_{t >= 1} ||delta_{pi,t}||_inf."""
    return at_least(x.gain, (_surrogate(x) - penalty(x, epsilon_as_norm(x), _mean_tv(x))) / (1 - x.g))


def proposition_1_summed(x: Pair) -> Sides:
    """State Proposition 1 with sum_t (gl)^t Delta_t, what Theorem 1 has in the place of A^GAE: it differs for lambda > 0."""
    summed = exact.dot(x.d_ref, exact.discounted_sum(x.P_ref, x.surplus, x.gl))
    return at_least(x.gain, (summed - penalty(x, epsilon(x), _mean_tv(x))) / (1 - x.g))


def proposition_2(x: Pair) -> Sides:
    """State J^c(pi) - J^c(pi') <= 1/(1-g~) (E[A^GAE_C] + penalty)  (Eq. pro2-bound-02)."""
    y = x.on_cost
    return at_most(y.gain, (_surrogate(y) + penalty(y, epsilon(y), _mean_tv(y))) / (1 - y.g))


def proposition_3_return(x: Pair) -> Sides:
    """State Proposition 1 with sqrt(1/2 E[KL]) for E[D_TV]  (Proposition propo-03)."""
    return at_least(x.gain, (_surrogate(x) - penalty(x, epsilon(x), _pinsker(x))) / (1 - x.g))


def proposition_3_cost(x: Pair) -> Sides:
    """State Proposition 2 with sqrt(1/2 E[KL]) for E[D_TV]  (Proposition propo-03)."""
    y = x.on_cost
    return at_most(y.gain, (_surrogate(y) + penalty(y, epsilon(y), _pinsker(y))) / (1 - y.g))
