"""Theorem 2: one exact CUP step, and the two inequalities the paper claims for it.

Both halves of the step are solved with exact expectations, d = d^lambda_{pi_k}, over all tabular policies that take only
actions pi_k takes (the importance ratio pi / pi_k in Eq. performance-improvement needs that):

    improvement   pi_{k+1/2} = argmax_pi  E_{s ~ d, a ~ pi}[A(s, a)] - alpha sqrt(E_{s ~ d}[KL(pi_k, pi)[s]])
    projection    pi_{k+1}   = argmin_pi  E_{s ~ d}[KL(pi_{k+1/2}, pi)[s]]
                  such that  J^c(pi_k) + E_{s ~ d, a ~ pi}[A_C(s, a)] / (1-g~) + beta sqrt(E[KL(pi_k, pi)]) <= b

A square root of x is the smallest of x/(2y) + y/2 over y > 0, so the improvement is found among the policies that
maximise E[A] - kappa E[KL], known state by state whatever d is:

    pi_kappa(a|s) = kappa pi_k(a|s) / (nu_s - A(s, a)),     nu_s such that they sum to 1.

kappa = infinity is pi_k itself, kappa = 0 the greedy policy; what remains is a search over one number. The projection
with beta = 0, the one the paper's Algorithm 1 runs, belongs to the same family with -A_C for A and pi_{k+1/2} for pi_k.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from cuprl.theory import exact
from cuprl.theory.cmdp import Array
from cuprl.theory.pair import Pair
from cuprl.theory.statements import Sides, at_least, at_most, epsilon, penalty

ALPHA = 0.2  # the middle of the paper's 0.1 to 0.3
BETA = ALPHA
NEWTON_STEPS = 40  # at most; it is usually done in ten
WIDEST = np.log(1e6)  # kappa is looked for between 1e-6 and 1e6 times the largest advantage
SEARCH_POINTS = 61  # values of kappa looked at in each round of the search: fine enough for the narrowest peaks
SEARCH_ROUNDS = 4
BISECTIONS = 60
NO_MOVE = np.log(1e15)  # a kappa this large (times the largest advantage) leaves a policy where it is


def penalised_policy(A: Array, old: Array, kappa: Array) -> Array:
    """Give argmax_pi E_{a ~ pi}[A(s, a)] - kappa KL(old, pi)[s] in every state; A, old [..., S, A], kappa [...] > 0."""
    weight = np.asarray(kappa)[..., None, None] * old
    possible = old > 0  # an action that old never takes stays without probability, see above
    best = np.where(possible, A, -np.inf).max(axis=-1, keepdims=True)
    behind = np.where(possible, best - A, np.inf)  # kept apart from nu, so that small differences survive
    ahead = (weight - behind).max(axis=-1, keepdims=True)  # nu_s - best, from below
    for _ in range(NEWTON_STEPS):  # on 1/sum = 1: increasing and concave in nu, so from the left it never overshoots
        share = weight / (ahead + behind)
        total = share.sum(axis=-1, keepdims=True)
        if total.max() <= 1 + 1e-13:
            break
        ahead = ahead + total * (total - 1) / (share / (ahead + behind)).sum(axis=-1, keepdims=True)
    policy = weight / (ahead + behind)
    return policy / policy.sum(axis=-1, keepdims=True)


def _largest(A: Array) -> Array:
    """The size of the largest advantage, or 1 where there is none to scale by."""
    size = np.abs(A).max(axis=(-1, -2))
    return np.where(size > 0, size, 1.0)


@lru_cache(maxsize=1)  # the two statements below ask for the same step
def improvement(x: Pair, alpha: float = ALPHA) -> Array:
    """Give pi_{k+1/2} for pi_k = x.ref, shape [..., S, A]."""
    A, scale = x.gae_ref, _largest(x.gae_ref)

    def value(policy: Array) -> Array:
        distance = np.sqrt(exact.mean_kl(x.d_ref, x.ref, policy))
        return exact.dot(x.d_ref, exact.average(policy, A)) - alpha * distance

    centre, reach = np.zeros(scale.shape), WIDEST
    for _ in range(SEARCH_ROUNDS):
        steps = np.linspace(-reach, reach, SEARCH_POINTS).reshape(-1, *[1] * scale.ndim)
        grid = centre + steps  # [points, ...]
        best = value(penalised_policy(A, x.ref, scale * np.exp(grid))).argmax(axis=0)
        centre = np.take_along_axis(grid, best[None], 0)[0]
        reach = 2 * reach / (SEARCH_POINTS - 1)
    policy = penalised_policy(A, x.ref, scale * np.exp(centre))
    moves = value(policy) > 1e-9 * scale  # staying at pi_k has the value 0
    return np.where(moves[..., None, None], policy, x.ref)


def projection(x: Pair, half: Array) -> Array:
    """Give pi_{k+1} with beta = 0 and b = J^c(pi_k), the tightest limit under which pi_k is feasible; [..., S, A]."""
    A = x.on_cost.gae_ref
    scale = _largest(A)

    def surrogate(policy: Array) -> Array:
        return exact.dot(x.d_ref, exact.average(policy, A))

    low, high = np.full(scale.shape, -WIDEST), np.full(scale.shape, NO_MOVE)
    for _ in range(BISECTIONS):  # the surrogate cost rises with kappa: the largest allowed one moves the least
        middle = (low + high) / 2
        allowed = surrogate(penalised_policy(-A, half, scale * np.exp(middle))) <= 0
        low, high = np.where(allowed, middle, low), np.where(allowed, high, middle)
    projected = penalised_policy(-A, half, scale * np.exp(low))
    return np.where((surrogate(half) <= 0)[..., None, None], half, projected)


def theorem_2_return(x: Pair, alpha: float = ALPHA) -> Sides:
    """State J(pi_{k+1}) - J(pi_k) >= -gamma (1-lambda) alpha sqrt(2 chi) eps^V / ((1-gamma) |1 - 2gl|S||A||).

    Under b = J^c(pi_k), so that the projection has something to do whenever the improvement raises the cost.
    """
    half = improvement(x, alpha)
    chi = exact.mean_kl(x.d_ref, x.ref, half)
    y = x.moved_to(projection(x, half))
    return at_least(y.gain, -_slack(y, chi, alpha))


def theorem_2_cost(x: Pair, alpha: float = ALPHA, beta: float = BETA) -> Sides:
    """State J^c(pi_{k+1}) <= b + gamma (1-lambda) beta sqrt(2 chi) eps^C / ((1-gamma) |1 - 2gl|S||A||), less J^c(pi_k).

    The limit is b = max(J^c(pi_k), left side of the projection's constraint at pi_{k+1/2}). Then pi_k is feasible and
    pi_{k+1/2} its own projection under any distance: pi_{k+1} = pi_{k+1/2}, and no premise is in doubt.
    """
    y = x.moved_to(improvement(x, alpha))
    chi, cost = y.mean_kl, y.on_cost
    surrogate = exact.dot(y.d_ref, exact.average(y.pi, cost.gae_ref)) / (1 - y.g)
    room = np.maximum(surrogate + beta * np.sqrt(chi), 0)  # b - J^c(pi_k)
    return at_most(cost.gain, room + _slack(cost, chi, beta))


def _slack(y: Pair, chi: Array, coefficient: float) -> Array:
    """What Theorem 2 allows: Proposition 3's penalty at chi, over 1 - g~, times alpha or beta."""
    return coefficient * penalty(y, epsilon(y), np.sqrt(chi / 2)) / (1 - y.g)
