"""CPO: Constrained Policy Optimization (Achiam, Held, Tamar and Abbeel 2017).

Each iteration solves, around pi_k, the linear problem with one quadratic constraint (Eq. 11)

    max g^T x   s.t.   c_i + a_i^T x <= 0,   x^T H x / 2 <= delta

and backtracks along its solution until surrogates and KL themselves keep what the model promised.

    paper                       here
    theta_k, x                  local.vector, step
    g, b_i (a_i in CUP's)       local.gradients[0], local.gradients[1:]
    H^-1 g, H^-1 b_i            local.directions.natural
    q, r, S                     local.directions.gram
    c_i                         c: (1 - gamma_C) (J^C_i - limit), the scale of a mean surrogate (scaled_constraints)
    lambda*, nu*                inside cpo_step; train/multiplier is nu*
    delta                       config.delta, of the mean over states of KL(pi, pi_k)

train/case: 0 recovery (no step in the trust region reaches the limits), 1 over a limit but within reach, 2 under the
limits, which cut the trust region, 3 under the limits all over the trust region.
"""

from __future__ import annotations

from dataclasses import dataclass

import jax

from cuprl.core.spec import Spec
from cuprl.learn.dual import SAFE, cpo_step, refuse_too_many
from cuprl.learn.fields import setting
from cuprl.learn.settings import SecondOrder
from cuprl.learn.state import init_state
from cuprl.learn.trust_region import around_limits, keeps_limits, take
from cuprl.learn.types import Batch, Metrics, State


@dataclass(frozen=True)
class Config(SecondOrder):
    critic_l2: float = setting(3e-3, "weight of the sum of squared parameters in the critics' loss", "0 or more")


def init(key: jax.Array, config: Config, spec: Spec) -> State:
    refuse_too_many(len(spec.constraints))
    return init_state(key, config, spec)


def update(state: State, batch: Batch, config: Config, spec: Spec) -> tuple[State, Metrics]:
    local, c = around_limits(state, batch, config, spec)

    # Eq. 13, or Eq. 14 in recovery
    solution = cpo_step(local.directions.gram, c, config.delta)
    natural = local.directions.natural
    step = solution.along_reward * natural[0] - solution.along_costs @ natural[1:]

    def accept(changes: jax.Array, kl: jax.Array) -> jax.Array:
        """Over a limit, the way back may cost reward; otherwise the step must pay."""
        improves = (changes[0] >= 0.0) | (solution.case < SAFE)
        return improves & keeps_limits(changes[1:], c) & (kl <= config.delta)

    state, metrics = take(local, step, accept, state, batch, config)
    return state, {**metrics, "train/multiplier": solution.nu, "train/case": solution.case, "train/constraint": c}
