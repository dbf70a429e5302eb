"""TRPO-L: TRPO on the Lagrangian (Ray et al. 2019, "Benchmarking Safe Exploration in Deep Reinforcement Learning").

As PPO-L, with TRPO's step: the policy climbs the advantage of J - nu (J^C - b) within the trust region while nu follows
the measured excess J^C - b. The line search asks for improvement of that sum, not for the limit itself.

    paper                here
    lambda               multiplier nu (one for each cost)
    J^C, d               batch.cost_return, batch.limits

Differs from Ray et al.: nu follows by plain ascent with a bound, as in the table of the CUP paper (multiplier = adam or
pid gives the other rules).
"""

from __future__ import annotations

from dataclasses import dataclass

from cuprl.algorithms import trpo
from cuprl.core.spec import Spec
from cuprl.learn.fields import setting
from cuprl.learn.lagrangian import improve_lagrangian
from cuprl.learn.settings import LagrangianAdvantage
from cuprl.learn.types import Batch, Metrics, State


@dataclass(frozen=True)
class Config(trpo.Config, LagrangianAdvantage):
    """TRPO's settings, and those of the multipliers."""

    init_log_std: float = setting(-1.0, "initial log standard deviation of a Gaussian policy", "-20 to 20")
    critic_l2: float = setting(3e-3, "weight of the sum of squared parameters in the critics' loss", "0 or more")


init = trpo.init


def update(state: State, batch: Batch, config: Config, spec: Spec) -> tuple[State, Metrics]:
    """Learn from one batch: TRPO's iteration on the Lagrangian's advantage."""
    return improve_lagrangian(trpo.improve, state, batch, config, spec)
