"""cuprl itself, early stops switched off. Ours: its own number of environments, one thread. Threads: with two. Best: ten
environments, one thread."""

from __future__ import annotations

import sys
from math import inf

from turns import BATCH, EPOCHS, FOREVER, HIDDEN, MINIBATCH, Turns

from cuprl.runs.config import RunConfig
from cuprl.training.training import Training

SAME_WORK = {"batch_size": BATCH, "minibatch": MINIBATCH, "critic_epochs": EPOCHS, "hidden": (HIDDEN, HIDDEN)}
FIRST_ORDER = {"epochs": EPOCHS}
NO_STOP = {
    "cup": {**FIRST_ORDER, "projection_epochs": EPOCHS, "delta": inf, "projection_delta": inf},
    "focops": {**FIRST_ORDER, "delta": inf},
    "ppo": FIRST_ORDER,
    "ppo-lag": FIRST_ORDER,
}


def main(algo: str, task: str, setting: str) -> None:
    threads = 2 if setting == "threads" else 1
    environments = {"num_envs": 10} if setting == "best" else {}
    settings = {**SAME_WORK, **NO_STOP.get(algo, {}), **environments, "anneal": False}
    training = Training(RunConfig(f"{task}-speed", algo, steps=FOREVER, threads=threads, settings=settings))
    turns = Turns(training.learner.config.num_envs, threads, ("cuprl", "jax", "mujoco"))
    collect = training.collector.collect

    def collect_and_tell(*args, **kwargs):
        collected = collect(*args, **kwargs)
        turns.collected()
        return collected

    training.collector.collect = collect_and_tell
    while True:
        turns.begin()
        training.iterate()


if __name__ == "__main__":
    main(*sys.argv[1:4])
