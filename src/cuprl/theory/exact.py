"""Every quantity of the paper's appendices, exactly, by linear solves instead of samples.

All functions take plain arrays and allow leading batch axes, written "..." below:

    P      [..., S, A, S]   P(s'|s,a)             pi     [..., S, A]   policy pi(a|s)
    r      [..., S, A, S]   r(s'|s,a)             rho    [..., S]      initial distribution
    gamma  [...]            discount              lam    number        lambda in [0, 1]
    phi    [..., S]         any function of the state

A distribution over states is a row vector here: one step of P_pi maps d to d P_pi. (The paper writes P_pi d;
with P_pi[s, s'] the probability of going from s to s', its formulas need the transpose.)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from cuprl.theory.cmdp import CMDP, Array, check_policy


def transition_matrix(P: Array, pi: Array) -> Array:
    """Give P_pi[s, s'] = sum_a pi(a|s) P(s'|s, a)  (Section 2), shape [..., S, S]."""
    return np.einsum("...sa,...sap->...sp", pi, P)


def mean_reward(P: Array, r: Array) -> Array:
    """Give r(s, a) = sum_s' P(s'|s, a) r(s'|s, a), shape [..., S, A].

    The paper's table of notations leaves the factor P(s'|s, a) out; its proofs, Eq. (app-022), have it.
    """
    return np.einsum("...sap,...sap->...sa", P, r)


def average(pi: Array, f: Array) -> Array:
    """Give E_{a ~ pi(.|s)}[f(s, a)], shape [..., S]."""
    return np.einsum("...sa,...sa->...s", pi, f)


def dot(d: Array, f: Array) -> Array:
    """Give <d, f> = sum_s d(s) f(s), shape [...]."""
    return np.einsum("...s,...s->...", d, f)


def discounted_sum(M: Array, f: Array, discount: ArrayLike) -> Array:
    """Give sum_t discount^t M^t f = (I - discount M)^{-1} f, shape [..., S]."""
    step = np.asarray(discount, dtype=float)[..., None, None] * M
    return np.asarray(np.linalg.solve(np.eye(M.shape[-1]) - step, f[..., None])[..., 0], dtype=float)


def discounted_flow(M: Array, d: Array, discount: ArrayLike) -> Array:
    """Give sum_t discount^t d M^t = d (I - discount M)^{-1}, the same sum acting on a distribution, shape [..., S]."""
    return discounted_sum(np.swapaxes(M, -1, -2), d, discount)


def state_values(P: Array, r: Array, gamma: ArrayLike, pi: Array) -> Array:
    """Give V_pi = (I - gamma P_pi)^{-1} r_pi, the fixed point of the Bellman operator (Eq. bellman-eq-matrix)."""
    return discounted_sum(transition_matrix(P, pi), average(pi, mean_reward(P, r)), gamma)


def td_error(r: Array, gamma: ArrayLike, phi: Array) -> Array:
    """Give delta^phi(s, a, s') = r(s'|s, a) + gamma phi(s') - phi(s), shape [..., S, A, S]."""
    ahead = np.asarray(gamma)[..., None, None, None] * phi[..., None, None, :]
    return r + ahead - phi[..., :, None, None]


def mean_td_error(P: Array, r: Array, gamma: ArrayLike, phi: Array) -> Array:
    """Give E_{s'}[delta^phi(s, a, s')], shape [..., S, A]. With phi = V_pi it is the advantage A_pi(s, a)."""
    return mean_reward(P, td_error(r, gamma, phi))


def advantages(P: Array, r: Array, gamma: ArrayLike, pi: Array) -> Array:
    """Give A_pi(s, a) = Q_pi(s, a) - V_pi(s), shape [..., S, A]."""
    return mean_td_error(P, r, gamma, state_values(P, r, gamma, pi))


def action_values(P: Array, r: Array, gamma: ArrayLike, pi: Array) -> Array:
    """Give Q_pi(s, a) = r(s, a) + gamma E_{s'}[V_pi(s')], shape [..., S, A]."""
    V = state_values(P, r, gamma, pi)
    return mean_reward(P, r) + np.asarray(gamma)[..., None, None] * np.einsum("...sap,...p->...sa", P, V)


def objective(P: Array, r: Array, gamma: ArrayLike, rho: Array, pi: Array) -> Array:
    """Give J(pi) = E_{s ~ rho}[V_pi(s)] = E[sum_t gamma^t r_{t+1}]  (Eq. app-objective-fun-01), shape [...].

    Section 2 prints J = E_{s ~ d_pi}[V_pi(s)], another number, for which the paper's own identities do not hold.
    """
    return dot(rho, state_values(P, r, gamma, pi))


def visitation(P: Array, gamma: ArrayLike, rho: Array, pi: Array) -> Array:
    """Give d_pi = (1 - gamma) rho (I - gamma P_pi)^{-1}, the discounted state distribution, shape [..., S]."""
    return (1 - np.asarray(gamma))[..., None] * discounted_flow(transition_matrix(P, pi), rho, gamma)


def gamma_tilde(gamma: ArrayLike, lam: float) -> Array:
    """Give gamma (1 - lambda) / (1 - gamma lambda)  (Eq. def:matrix-p-lam-return); 0 at lambda = 1."""
    gamma = np.asarray(gamma, dtype=float)
    return gamma * (1 - lam) / (1 - gamma * lam)


def lambda_transition(P: Array, gamma: ArrayLike, lam: float, pi: Array) -> Array:
    """Give P^(lambda) = (1 - gamma lambda) sum_t (gamma lambda)^t P_pi^{t+1}  (Eq. def:matrix-p-lam-return)."""
    P_pi = transition_matrix(P, pi)
    discount = (np.asarray(gamma) * lam)[..., None, None]
    return (1 - discount) * np.linalg.solve(np.eye(P_pi.shape[-1]) - discount * P_pi, P_pi)


def lambda_visitation(P: Array, gamma: ArrayLike, lam: float, rho: Array, pi: Array) -> Array:
    """Give d^lambda = (1 - g~) rho (I - g~ P^(lambda))^{-1}  (Eq. matrixversion-lambda-dis-state-distribution).

    The series printed beside that equation has gamma where its definition has g~; the definition is used here.
    """
    g = gamma_tilde(gamma, lam)
    return (1 - g)[..., None] * discounted_flow(lambda_transition(P, gamma, lam, pi), rho, g)


def lambda_reward(P: Array, r: Array, gamma: ArrayLike, lam: float, pi: Array) -> Array:
    """Give R^(lambda) = sum_t (gamma lambda P_pi)^t r_pi  (Eq. lam-pro-value-03), shape [..., S]."""
    return discounted_sum(transition_matrix(P, pi), average(pi, mean_reward(P, r)), np.asarray(gamma) * lam)


def td_vector(P: Array, r: Array, gamma: ArrayLike, phi: Array, pi: Array, t: int) -> Array:
    """Give delta^phi_{pi,t}[s] = E[delta_t^phi | s_0 = s], everything drawn by pi: P_pi^t times its value at t = 0."""
    vector = average(pi, mean_td_error(P, r, gamma, phi))
    for _ in range(t):
        vector = np.einsum("...sp,...p->...s", transition_matrix(P, pi), vector)
    return vector


def delta_vector(P: Array, r: Array, gamma: ArrayLike, phi: Array, pi: Array, ref: Array, t: int) -> Array:
    """Give Delta_t^phi(pi, pi')[s] as printed: the path s_1..s_t is drawn by pi' = ref, only a_t is reweighted to pi."""
    vector = average(pi - ref, mean_td_error(P, r, gamma, phi))
    for _ in range(t):
        vector = np.einsum("...sp,...p->...s", transition_matrix(P, ref), vector)
    return vector


def gae(P: Array, r: Array, gamma: ArrayLike, lam: float, phi: Array, pi: Array) -> Array:
    """Give A^GAE(s, a) = E[sum_l (gamma lambda)^l delta^phi_{t+l} | s_t = s, a_t = a], then acting by pi; [..., S, A].

    phi is the value estimate. With phi = V_pi all later terms vanish and it is A_pi(s, a) for every lambda.
    """
    first = mean_td_error(P, r, gamma, phi)  # [..., S, A]
    discount = np.asarray(gamma) * lam
    later = discounted_sum(transition_matrix(P, pi), average(pi, first), discount)  # [..., S]
    return first + discount[..., None, None] * np.einsum("...sap,...p->...sa", P, later)


def total_variation(pi: Array, ref: Array) -> Array:
    """Give D_TV(pi, ref)[s] = 1/2 sum_a |pi(a|s) - ref(a|s)|, shape [..., S]."""
    return 0.5 * np.abs(pi - ref).sum(axis=-1)


def kl(pi: Array, ref: Array) -> Array:
    """Give KL(pi, ref)[s] = sum_a pi(a|s) log(pi(a|s) / ref(a|s)); infinite where ref misses an action of pi; [..., S]."""
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(pi > 0, pi * (np.log(pi) - np.log(ref)), 0.0)
    return terms.sum(axis=-1)


def mean_kl(d: Array, pi: Array, ref: Array) -> Array:
    """Give E_{s ~ d}[KL(pi, ref)[s]], never below 0; a state of weight 0 counts 0 even where its KL is infinite; [...]."""
    with np.errstate(invalid="ignore"):
        return np.where(d > 0, d * kl(pi, ref), 0.0).sum(axis=-1).clip(0)


def evaluate(cmdp: CMDP, policy: ArrayLike) -> tuple[float, Array]:
    """Give the return J(pi) and the costs J^c(pi) [m] of a policy of one CMDP."""
    pi = check_policy(cmdp, policy)
    signals = np.concatenate([cmdp.reward[None], cmdp.costs])  # [1 + m, S, A, S]
    values = objective(cmdp.transition, signals, cmdp.gamma, cmdp.initial, pi)
    return float(values[0]), values[1:]
