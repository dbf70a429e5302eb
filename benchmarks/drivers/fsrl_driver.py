"""FSRL on Gymnasium's robots, cost = speed. As shipped: four threads. Best: ten environments in this process, one thread.

Its collector knows whole episodes only, so an iteration asks for as many as last made 5000 steps and counts the steps.
"""

from __future__ import annotations

import sys

import gymnasium
from fsrl.agent import FOCOPSAgent, PPOLagAgent
from fsrl.data import FastCollector
from fsrl.trainer import OnpolicyTrainer
from tianshou.data import VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from turns import BATCH, EPOCHS, FOREVER, HIDDEN, MINIBATCH, Turns

TASKS = {"hopper": "Hopper-v5", "humanoid": "Humanoid-v5"}
OBSERVATION = {"humanoid": {"include_cfrc_ext_in_observation": False}}  # as in humanoid-speed
AGENTS = {"FOCOPS": (FOCOPSAgent, {"delta": 1e9}), "PPOLag": (PPOLagAgent, {"target_kl": 1e9})}  # no KL reaches these


class SpeedCost(gymnasium.Wrapper):
    def step(self, action):
        obs, reward, terminated, truncated, info = self.env.step(action)
        return obs, reward, terminated, truncated, {"cost": abs(info["x_velocity"])}

    def reset(self, **arguments):
        return self.env.reset(**arguments)[0], {"cost": 0.0}


def main(algo: str, task: str, setting: str) -> None:
    environments, threads = (1, 4) if setting == "shipped" else (10, 1)

    def make() -> gymnasium.Env:
        return SpeedCost(gymnasium.make(TASKS[task], **OBSERVATION.get(task, {})))

    agent_class, no_stop = AGENTS[algo]
    agent = agent_class(make(), thread=threads, hidden_sizes=(HIDDEN, HIDDEN), **no_stop)
    collector = FastCollector(
        agent.policy,
        DummyVectorEnv([make] * environments),
        VectorReplayBuffer(20 * BATCH, environments),
        exploration_noise=True,
    )
    trainer = OnpolicyTrainer(
        agent.policy,
        collector,
        max_epoch=FOREVER,
        batch_size=MINIBATCH,
        step_per_epoch=1,
        repeat_per_collect=EPOCHS,
        episode_per_test=1,
        episode_per_collect=200,
        verbose=False,
        show_progress=False,
    )
    turns = Turns(environments, threads, ("fast-safe-rl", "tianshou", "torch", "gymnasium", "mujoco"))
    collect = collector.collect

    def collect_in_turn(episodes: int) -> dict:
        turns.begin()
        result = collect(episodes)
        turns.collected(int(result["n/st"]))
        trainer.episode_per_collect = max(environments, round(BATCH * result["n/ep"] / result["n/st"]))
        return result

    collector.collect = collect_in_turn
    trainer.run()


if __name__ == "__main__":
    main(*sys.argv[1:4])
