"""What holds in the place of the paper's bounds: short proofs in docs/theory.md.

Notation as in `cuprl.theory.statements`; with every expectation under d^lambda_pi' and paths drawn by pi',

    S = sum_t (gl)^t E[E_{a ~ pi} A_{pi'}(s_t, a)]       G = max_s |E_{a ~ pi} A_{pi'}(s, a)|
    T = sum_t (gl)^t E[2 D_TV(pi', pi)[s_t]]             g~ = gamma (1-lambda) / (1 - gamma lambda)
"""

from __future__ import annotations

import numpy as np

from cuprl.theory import exact
from cuprl.theory.cmdp import Array
from cuprl.theory.pair import Pair
from cuprl.theory.statements import Sides, at_least, at_most, distribution_error, equal


def theorem_1_corrected(x: Pair, p: float = 1, q: float = np.inf, phi: Array | None = None) -> Sides:
    """State Theorem 1 with Delta_t := delta^phi_{pi,t} - delta^phi_{pi',t}, so that the path changes with the policy too."""
    phi = x.V_ref if phi is None else phi
    errors = exact.mean_td_error(x.P, x.r, x.gamma, phi)  # [..., S, A]
    of_pi = exact.discounted_sum(x.P_pi, exact.average(x.pi, errors), x.gl)  # sum_t (gl)^t delta_{pi,t}
    of_ref = exact.discounted_sum(x.P_ref, exact.average(x.ref, errors), x.gl)
    centre = exact.dot(x.d_ref, of_pi - of_ref)
    error = distribution_error(x, phi, p, q)
    return Sides((centre - error) / (1 - x.g), x.gain, (centre + error) / (1 - x.g))


def visitation_corrected(x: Pair) -> Sides:
    """State ||d^lambda_pi - d^lambda_pi'||_1 <= g~/(1-g~) T, by telescoping P_pi^{t+1} - P_pi'^{t+1}."""
    return at_most(np.abs(x.d_pi - x.d_ref).sum(axis=-1), x.g / (1 - x.g) * x.path_tv)


def _summed_surplus(x: Pair) -> Array:
    """S, in closed form."""
    return exact.dot(x.d_ref, exact.discounted_sum(x.P_ref, x.surplus, x.gl))


def _slack(x: Pair) -> Array:
    """gamma/(1-gamma) G T."""
    return x.gamma / (1 - x.gamma) * x.largest_surplus * x.path_tv


def return_corrected(x: Pair) -> Sides:
    """State J(pi) - J(pi') >= 1/(1-g~) (S - gamma/(1-gamma) G T)."""
    return at_least(x.gain, (_summed_surplus(x) - _slack(x)) / (1 - x.g))


def cost_corrected(x: Pair) -> Sides:
    """State J^c(pi) - J^c(pi') <= 1/(1-g~) (S + gamma/(1-gamma) G T), everything for the cost."""
    y = x.on_cost
    return at_most(y.gain, (_summed_surplus(y) + _slack(y)) / (1 - y.g))


def _classical(x: Pair, sign: int) -> Array:
    """1/(1-gamma) E_{s ~ d_pi'}[E_{a ~ pi} A_{pi'} + sign gamma/(1-gamma) G 2 D_TV]."""
    slack = x.gamma / (1 - x.gamma) * x.largest_surplus * exact.dot(x.d0_ref, x.two_tv)
    return (exact.dot(x.d0_ref, x.surplus) + sign * slack) / (1 - x.gamma)


def return_classical(x: Pair) -> Sides:
    """State the lower bound of Achiam et al. (2017), Corollary 1, which CPO rests on."""
    return at_least(x.gain, _classical(x, -1))


def cost_classical(x: Pair) -> Sides:
    """State the upper bound of Achiam et al. (2017), Corollary 2, for the cost."""
    y = x.on_cost
    return at_most(y.gain, _classical(y, +1))


def corrected_is_classical(x: Pair) -> Sides:
    """State return_corrected = return_classical at every lambda, since I - g~ P^(lambda) = (I - gamma P)(I - gl P)^{-1}."""
    return equal(return_corrected(x).lower, return_classical(x).lower)
