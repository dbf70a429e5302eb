"""cuprl as it is shipped, on a velocity task, with the mean of its last 100 training episodes."""

from __future__ import annotations

import sys

from turns import Turns

from cuprl.runs.config import RunConfig
from cuprl.training.training import Training


def main(algo: str, task: str, seed: str, steps: str) -> None:
    training = Training(RunConfig(f"{task}-velocity", algo, seed=int(seed), steps=int(steps)))
    settings = training.learner.config
    turns = Turns(settings.num_envs, 1, ("cuprl", "jax", "mujoco"))
    collect = training.collector.collect

    def collect_and_tell(*args, **kwargs):
        collected = collect(*args, **kwargs)
        turns.collected(settings.batch_size)
        return collected

    training.collector.collect = collect_and_tell
    while not training.done:
        turns.begin()
        row = training.iterate()
        turns.learnt(episode_return=row["rollout/ep_rew_mean"], episode_cost=row["rollout/ep_cost_mean"])
    turns.begin()  # answers for the last


if __name__ == "__main__":
    algo, task, _, seed, steps = sys.argv[1:6]
    main(algo, task, seed, steps)
