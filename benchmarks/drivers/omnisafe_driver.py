"""OmniSafe on its own speed-limited robots.

As shipped: one environment, 16 threads. One: the same with one thread. Best: ten environments in processes, one thread; all
on one core, if it is to be.
"""

from __future__ import annotations

import os
import sys

import omnisafe
from turns import BATCH, EPOCHS, FOREVER, HIDDEN, MINIBATCH, Turns

TASKS = {"hopper": "SafetyHopperVelocity-v1", "humanoid": "SafetyHumanoidVelocity-v1"}


def settings(setting: str) -> dict:
    machine = {} if setting == "shipped" else {"torch_threads": 1}
    if setting in ("best", "core"):
        machine["vector_env_nums"] = 10
    network = {"hidden_sizes": [HIDDEN, HIDDEN], "activation": "tanh"}
    return {
        "train_cfgs": {"total_steps": FOREVER // BATCH * BATCH, **machine},
        "algo_cfgs": {
            "steps_per_epoch": BATCH,
            "batch_size": MINIBATCH,
            "update_iters": EPOCHS,
            "kl_early_stop": False,
        },
        "model_cfgs": {"actor": network, "critic": network},
        "logger_cfgs": {"save_model_freq": FOREVER},
    }


def main(algo: str, task: str, setting: str) -> None:
    if setting == "core":
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # the environments' processes inherit it
    agent = omnisafe.Agent(algo, TASKS[task], custom_cfgs=settings(setting))
    machine = agent.cfgs.train_cfgs
    packages = ("omnisafe", "torch", "safety-gymnasium", "mujoco")
    turns = Turns(machine.vector_env_nums, machine.torch_threads, packages)
    environment = agent.agent._env
    rollout = environment.rollout

    def rollout_in_turn(**arguments):
        turns.begin()
        rollout(**arguments)
        turns.collected()

    environment.rollout = rollout_in_turn
    agent.learn()


if __name__ == "__main__":
    main(*sys.argv[1:4])
