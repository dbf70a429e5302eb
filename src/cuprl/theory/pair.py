"""Two policies on one problem, and everything the paper's statements say about them.

`Pair` holds plain arrays with an optional batch axis in front (see `cuprl.theory.exact`), so that one call checks a
statement on thousands of problems of equal size. Quantities are computed when first asked for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from cuprl.theory import exact
from cuprl.theory.cmdp import CMDP, Array, check_policy


@dataclass(frozen=True, eq=False)
class Pair:
    """pi (the new policy, pi_theta) and ref (the old one, pi_theta'), at one lambda."""

    P: Array  # [..., S, A, S]
    r: Array  # [..., S, A, S]
    c: Array  # [..., S, A, S], one cost
    rho: Array  # [..., S]
    gamma: Array  # [...]
    pi: Array  # [..., S, A]
    ref: Array  # [..., S, A]
    phi: Array  # [..., S], an arbitrary function of the state
    lam: float = 0.0

    @classmethod
    def of(
        cls, cmdp: CMDP, pi: ArrayLike, ref: ArrayLike, lam: float = 0.0, phi: ArrayLike | None = None, cost: int = 0
    ) -> Pair:
        """Give the pair on one CMDP; phi defaults to 0, `cost` chooses among the CMDP's costs."""
        chosen = np.zeros(cmdp.n_states) if phi is None else np.asarray(phi, dtype=float)
        new, old = check_policy(cmdp, pi), check_policy(cmdp, ref)
        gamma = np.asarray(cmdp.gamma)
        return cls(cmdp.transition, cmdp.reward, cmdp.costs[cost], cmdp.initial, gamma, new, old, chosen, lam)

    def at(self, lam: float) -> Pair:
        """Give the same pair at another lambda."""
        return replace(self, lam=lam)

    @cached_property
    def on_cost(self) -> Pair:
        """Give the same pair with the cost in the place of the reward, for the statements about J^c."""
        return replace(self, r=self.c)

    def moved_to(self, pi: Array) -> Pair:
        """Give the same problem and old policy with another new policy."""
        return replace(self, pi=pi)

    @cached_property
    def gl(self) -> Array:
        """Give gamma lambda."""
        return self.gamma * self.lam

    @cached_property
    def g(self) -> Array:
        """Give gamma tilde."""
        return exact.gamma_tilde(self.gamma, self.lam)

    @cached_property
    def P_pi(self) -> Array:
        """Give P_pi of the new policy, shape [..., S, S]."""
        return exact.transition_matrix(self.P, self.pi)

    @cached_property
    def P_ref(self) -> Array:
        """Give P_pi' of the old policy, shape [..., S, S]."""
        return exact.transition_matrix(self.P, self.ref)

    @cached_property
    def V_ref(self) -> Array:
        """Give V_pi', shape [..., S]."""
        return exact.state_values(self.P, self.r, self.gamma, self.ref)

    @cached_property
    def A_ref(self) -> Array:
        """Give A_pi'(s, a), shape [..., S, A]."""
        return exact.mean_td_error(self.P, self.r, self.gamma, self.V_ref)

    @cached_property
    def gae_ref(self) -> Array:
        """Give A^GAE_{pi'}(s, a) with the exact value function, shape [..., S, A]."""
        return exact.gae(self.P, self.r, self.gamma, self.lam, self.V_ref, self.ref)

    @cached_property
    def surplus(self) -> Array:
        """Give E_{a ~ pi}[A_{pi'}(s, a)], what one step of pi gains over pi' in each state, shape [..., S]."""
        return exact.average(self.pi, self.A_ref)

    @cached_property
    def largest_surplus(self) -> Array:
        """Give G = max_s |E_{a ~ pi} A_{pi'}(s, a)|: the epsilon of Achiam et al. (2017), Corollary 1."""
        return np.abs(self.surplus).max(axis=-1)

    @cached_property
    def J_pi(self) -> Array:
        """Give J(pi), shape [...]."""
        return exact.objective(self.P, self.r, self.gamma, self.rho, self.pi)

    @cached_property
    def J_ref(self) -> Array:
        """Give J(pi'), shape [...]."""
        return exact.dot(self.rho, self.V_ref)

    @cached_property
    def gain(self) -> Array:
        """Give J(pi) - J(pi')."""
        return self.J_pi - self.J_ref

    @cached_property
    def d_pi(self) -> Array:
        """Give d^lambda of pi."""
        return exact.lambda_visitation(self.P, self.gamma, self.lam, self.rho, self.pi)

    @cached_property
    def d_ref(self) -> Array:
        """Give d^lambda of pi'."""
        return exact.lambda_visitation(self.P, self.gamma, self.lam, self.rho, self.ref)

    @cached_property
    def d0_ref(self) -> Array:
        """Give the usual discounted distribution of pi', which is d^lambda at lambda = 0."""
        return exact.visitation(self.P, self.gamma, self.rho, self.ref)

    @cached_property
    def two_tv(self) -> Array:
        """Give 2 D_TV(pi', pi)[s], shape [..., S]."""
        return 2 * exact.total_variation(self.ref, self.pi)

    @cached_property
    def mean_kl(self) -> Array:
        """Give E_{s ~ d^lambda_{pi'}}[KL(pi', pi)[s]]."""
        return exact.mean_kl(self.d_ref, self.ref, self.pi)

    @cached_property
    def path_tv(self) -> Array:
        """Give T = sum_k (gamma lambda)^k E[2 D_TV(s_k)], s_0 ~ d^lambda_{pi'} and the path drawn by pi'."""
        return exact.dot(self.d_ref, exact.discounted_sum(self.P_ref, self.two_tv, self.gl))
