"""An environment of your own, with two costs, as a constrained task: check it, train on it, look at the result.

A boat crosses a lake. It is paid for speed along x, and pays with fuel; near the shore (|y| > 1) it is a danger.
"""

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Dict

import cuprl
from cuprl.envs.gymnasium.check import check


class Lake(gymnasium.Env):
    observation_space = Dict({"place": Box(-np.inf, np.inf, (2,)), "wind": Box(-1.0, 1.0, (1,))})
    action_space = Box(-1.0, 1.0, (2,))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place = np.zeros(2, np.float32)
        self.wind = self.np_random.uniform(-1.0, 1.0, 1).astype(np.float32)
        return self.look(), {}

    def look(self):
        return {"place": self.place.copy(), "wind": self.wind}

    def step(self, action):
        drift = np.array([0.0, 0.5 * self.wind[0]])
        self.place += (0.1 * (action + drift)).astype(np.float32)
        return self.look(), float(action[0]), False, False, {"fuel": float(np.square(action).sum())}


def near_shore(obs, action, next_obs, info):
    return abs(next_obs["place"][1]) > 1.0


def main(steps: int = 100_000, **settings) -> dict:
    task = cuprl.from_gymnasium(
        Lake,
        costs={"shore": near_shore, "fuel": "info:fuel"},
        limits={"shore": 5.0, "fuel": 40.0},
        discount=1.0,  # the limits bound the plain sums over an episode
        horizon=100,  # the lake has no time limit of its own
        num_envs=10,
    )
    for finding in check(task):
        print(f"{finding.kind:<6} {finding.sentence}")
    run = cuprl.train(task, steps=steps, **settings)
    result = cuprl.evaluate(cuprl.load(run, task))
    print(result["return_mean"], result["cost_mean"], result["cost_limit"])
    return result


if __name__ == "__main__":
    main(batch_size=2000, policy_lr=1e-3, critic_lr=1e-3, multiplier="pid", multiplier_lr=0.002)
