"""An algorithm of your own is one file with a Config, `init` and `update`. This one is PPO with a fixed price on the costs.

python examples/own_algorithm.py                                                      (from anywhere)
cup train hopper-speed --algo python:own_algorithm --price 0.5 --steps 100_000        (in this folder)
"""

import sys
from dataclasses import dataclass

import jax

import cuprl
from cuprl.algorithms import ppo
from cuprl.core.spec import Spec
from cuprl.learn.estimate import standardise
from cuprl.learn.fields import setting
from cuprl.learn.types import Batch, Metrics, State
from cuprl.training.display import Silent


@dataclass(frozen=True)
class Config(ppo.Config):  # each setting is a flag of `cup train`, with this help text
    price: float = setting(0.2, "what a standard deviation of cost advantage costs in those of reward's", "0 or more")


init = ppo.init


def update(state: State, batch: Batch, config: Config, spec: Spec) -> tuple[State, Metrics]:
    """Pure and compiled: a batch in, the next state and what to report out. Costs are [B, m]."""
    cost: jax.Array = standardise(batch.adv_c).sum(axis=1)  # [B]
    state, metrics = ppo.improve(state, batch, standardise(batch.adv_r - config.price * cost), config, spec)
    return state, {**metrics, "train/price": config.price}


def main(steps: float = 100_000, **settings) -> None:
    for price in (0.0, 1.0):
        run = cuprl.train("hopper-speed", "python:own_algorithm", steps=steps, price=price, display=Silent(), **settings)
        found = cuprl.evaluate(run, episodes=10)
        print(f"price {price}: return {found['return_mean']:.1f}, cost {found['cost_mean']:.1f} / {found['cost_limit']:g}")


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
