"""Stable-Baselines3's PPO on Gymnasium's robots; `sbx_driver` hands its own PPO to the same `train`.

As shipped: one environment, torch's own number of threads. One: the same with one thread. Best: ten environments in this
process, one thread. Workers: ten environments, each in a process of its own, one thread.
"""

from __future__ import annotations

import sys

import torch
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv
from turns import BATCH, EPOCHS, FOREVER, HIDDEN, MINIBATCH, Turns

TASKS = {"hopper": "Hopper-v5", "humanoid": "Humanoid-v5"}
OBSERVATION = {"humanoid": {"include_cfrc_ext_in_observation": False}}  # as in humanoid-speed


class InTurn(BaseCallback):
    def __init__(self, turns: Turns):
        super().__init__()
        self.turns = turns

    def _on_rollout_start(self) -> None:
        self.turns.begin()

    def _on_rollout_end(self) -> None:
        self.turns.collected()

    def _on_step(self) -> bool:
        return True


def train(algorithm: type, policy_settings: dict, packages: tuple[str, ...], task: str, setting: str) -> None:
    environments = 1 if setting in ("shipped", "one") else 10
    if setting != "shipped":
        torch.set_num_threads(1)
    processes = SubprocVecEnv if setting == "workers" else DummyVecEnv
    env = make_vec_env(TASKS[task], environments, seed=0, vec_env_cls=processes, env_kwargs=OBSERVATION.get(task))
    model = algorithm(
        "MlpPolicy",
        env,
        n_steps=BATCH // environments,
        batch_size=MINIBATCH,
        n_epochs=EPOCHS,
        target_kl=None,
        policy_kwargs={"net_arch": [HIDDEN, HIDDEN], **policy_settings},
        seed=0,
        device="cpu",
    )
    model.learn(FOREVER, callback=InTurn(Turns(environments, torch.get_num_threads(), packages)))


def main(task: str, setting: str) -> None:
    from stable_baselines3 import PPO

    packages = ("stable-baselines3", "torch", "gymnasium", "mujoco")
    train(PPO, {"activation_fn": torch.nn.Tanh}, packages, task, setting)


if __name__ == "__main__":
    main(*sys.argv[2:4])
