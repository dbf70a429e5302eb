"""PCPO: Projection-Based Constrained Policy Optimization (Yang, Rosca, Narasimhan and Ramadge 2020).

Each iteration takes TRPO's step for the reward, then projects it onto the linearised constraints, in the KL (L = H) or
in the plain distance of parameters (L = I):

    theta_k+1 = theta_k + sqrt(2 delta / g^T H^-1 g) H^-1 g - nu L^-1 a,
    nu = max( 0, ( sqrt(2 delta / g^T H^-1 g) a^T H^-1 g + c ) / a^T L^-1 a )

    paper                here
    g, a                 local.gradients[0], local.gradients[1:]
    H^-1 g, H^-1 a       local.directions.natural
    b (c in CUP's)       c: (1 - gamma_C) (J^C - limit), the scale of a mean surrogate (scaled_constraints)
    nu                   nu [m]: with several constraints, the dual of the projection onto all of them
    L                    config.projection
    delta                config.delta, of the mean over states of KL(pi, pi_k)

(The CUP paper's appendix prints the first step with a minus: it should climb.) Differs from the paper: a projection may
lead far out of the trust region, so the step is shortened to its edge and then goes through a line search.

train/case: 0 the reward step keeps the limits, 1 it was projected onto them, 2 no step keeps them all (they exclude one
another, or no parameter moves a cost) and each broken one was followed down by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp

from cuprl.core.spec import Spec
from cuprl.learn.dual import nearest, refuse_too_many
from cuprl.learn.fields import choice, setting
from cuprl.learn.natural import trust_region_length
from cuprl.learn.settings import SecondOrder
from cuprl.learn.state import init_state
from cuprl.learn.trust_region import Local, around_limits, keeps_limits, take
from cuprl.learn.types import Batch, Metrics, State


@dataclass(frozen=True)
class Config(SecondOrder):
    critic_l2: float = setting(3e-3, "weight of the sum of squared parameters in the critics' loss", "0 or more")
    projection: str = choice("kl", "distance in which the reward step is projected", ("kl", "l2"))


def init(key: jax.Array, config: Config, spec: Spec) -> State:
    refuse_too_many(len(spec.constraints))
    return init_state(key, config, spec)


class Projected(NamedTuple):
    """A reward step, projected onto what keeps the limits."""

    step: jax.Array  # [n]
    nu: jax.Array  # [m]
    exists: jax.Array  # [] some step keeps all limits


def project(local: Local, reward_step: jax.Array, c: jax.Array, projection: str) -> Projected:
    """Find the point nearest to `reward_step` in the metric L among those with c + A x <= 0."""
    A = local.gradients[1:]
    if projection == "kl":
        A_inverse, S = local.directions.natural[1:], local.directions.gram[1:, 1:]  # H^-1 A^T, A H^-1 A^T
    else:
        A_inverse, S = A, A @ A.T
    nu, exists = nearest(S, c + A @ reward_step)
    return Projected(reward_step - nu @ A_inverse, nu, exists)


def update(state: State, batch: Batch, config: Config, spec: Spec) -> tuple[State, Metrics]:
    local, c = around_limits(state, batch, config, spec)

    reward_step = trust_region_length(local.directions.gram[0, 0], config.delta) * local.directions.natural[0]
    step, nu, exists = project(local, reward_step, c, config.projection)
    # Differs from the paper: no further than the edge of the trust region
    step = step * jnp.minimum(1.0, trust_region_length(step @ local.product(step), config.delta))

    def accept(changes: jax.Array, kl: jax.Array) -> jax.Array:
        """A projection may cost reward; otherwise the step must pay."""
        improves = (changes[0] >= 0.0) | (nu > 0.0).any()
        return improves & keeps_limits(changes[1:], c) & (kl <= config.delta)

    state, metrics = take(local, step, accept, state, batch, config)
    case = jnp.where(exists, (nu > 0.0).any().astype(jnp.int32), 2)
    return state, {**metrics, "train/multiplier": nu, "train/case": case, "train/constraint": c}
