"""PPO-L: PPO on the Lagrangian (Ray et al. 2019, "Benchmarking Safe Exploration in Deep Reinforcement Learning").

The constrained problem max J s.t. J^C <= b becomes min over nu >= 0 of max over pi of J - nu (J^C - b): the policy
climbs the advantage of that sum by PPO while nu follows the measured excess J^C - b.

    paper                here
    lambda               multiplier nu (one for each cost)
    J^C, d               batch.cost_return, batch.limits

Differs from Ray et al.: the clip holds the whole Lagrangian advantage, not the reward's part alone, and nu follows by
plain ascent with a bound, as in the table of the CUP paper (multiplier = adam or pid gives the other rules).
"""

from __future__ import annotations

from dataclasses import dataclass

from cuprl.algorithms import ppo
from cuprl.core.spec import Spec
from cuprl.learn.fields import setting
from cuprl.learn.lagrangian import improve_lagrangian
from cuprl.learn.settings import LagrangianAdvantage
from cuprl.learn.types import Batch, Metrics, State


@dataclass(frozen=True)
class Config(ppo.Config, LagrangianAdvantage):
    """PPO's settings, and those of the multipliers."""

    critic_l2: float = setting(3e-3, "weight of the sum of squared parameters in the critics' loss", "0 or more")
    multiplier_max: float = setting(1.0, "largest nu", "0 to inf")


init = ppo.init


def update(state: State, batch: Batch, config: Config, spec: Spec) -> tuple[State, Metrics]:
    """Learn from one batch: PPO's iteration on the Lagrangian's advantage."""
    return improve_lagrangian(ppo.improve, state, batch, config, spec)
