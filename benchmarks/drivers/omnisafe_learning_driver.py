"""OmniSafe with its own settings on one of its velocity tasks, with the mean of its last 100 training episodes.

As shipped: one environment, 16 threads. Best: ten environments in processes, one thread. Nothing of what is learnt or how is
changed; its own log has the mean of 50 episodes.
"""

from __future__ import annotations

import sys
from collections import deque

import omnisafe
from omnisafe_driver import TASKS
from turns import Turns

MACHINES = {"shipped": {}, "best": {"torch_threads": 1, "vector_env_nums": 10}}
MEASURED = {"Metrics/EpRet": "episode_return", "Metrics/EpCost": "episode_cost"}


def main(algo: str, task: str, setting: str, seed: str, steps: str) -> None:
    settings = {"seed": int(seed), "train_cfgs": {"total_steps": int(steps), **MACHINES[setting]}}
    agent = omnisafe.Agent(algo, TASKS[task], custom_cfgs=settings)
    machine, batch = agent.cfgs.train_cfgs, agent.cfgs.algo_cfgs.steps_per_epoch
    turns = Turns(machine.vector_env_nums, machine.torch_threads, ("omnisafe", "torch", "safety-gymnasium", "mujoco"))
    environment, logger = agent.agent._env, agent.agent._logger
    rollout, store = environment.rollout, logger.store
    last = {name: deque(maxlen=100) for name in MEASURED.values()}

    def store_and_keep(data=None, /, **more):
        for key, name in MEASURED.items():
            if data and key in data:
                last[name].append(float(data[key]))
        store(data, **more)

    def rollout_in_turn(**arguments):
        turns.begin()
        rollout(**arguments)
        turns.collected(batch)
        turns.learnt(**{name: sum(values) / max(len(values), 1) for name, values in last.items()})

    logger.store, environment.rollout = store_and_keep, rollout_in_turn
    agent.learn()
    turns.begin()  # answers for the last


if __name__ == "__main__":
    main(*sys.argv[1:6])
