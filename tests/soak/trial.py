"""One try: the pair of a task and an algorithm it is made on, its chance, its folder, and what the run is without attack."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from math import lcm
from pathlib import Path

import cuprl

from .compare import expect_same, last_row
from .processes import SOON, Command, Failed, Host

# So small that a run takes seconds, most of them to start.
SETTINGS = {"batch_size": 40, "num_envs": 2, "hidden": 4, "minibatch": 20, "critic_epochs": 1}
ITERATIONS, EVERY = 30, 4
STEPS = ITERATIONS * SETTINGS["batch_size"]
FLAGS = [word for name, value in SETTINGS.items() for word in (f"--{name.replace('_', '-')}", str(value))]


class Pairs:
    """All tasks with all algorithms that come with cuprl, in an order that a seed gives."""

    def __init__(self, host: Host, seed: int):
        listed = host.start("tasks").end().expect(0).out.splitlines()[1:]
        self.tasks, self.algos = sorted({line.split()[0] for line in listed if line.strip()}), sorted(cuprl.ALGORITHMS)
        chance = random.Random(seed)
        chance.shuffle(self.tasks)
        chance.shuffle(self.algos)

    def __getitem__(self, number: int) -> tuple[str, str]:
        """Each task and each algorithm soon, each with each other in time."""
        again = number // lcm(len(self.tasks), len(self.algos))
        return self.tasks[number % len(self.tasks)], self.algos[(number + again) % len(self.algos)]


def train_words(task: str, algo: str, run: Path, seed: int = 0, *more: str) -> list[str]:
    return [
        "train",
        task,
        "--algo",
        algo,
        "--seed",
        str(seed),
        "--steps",
        str(STEPS),
        "--checkpoint-every",
        str(EVERY),
        "--out",
        str(run),
        *FLAGS,
        *more,
    ]


class References:
    """Runs that nobody disturbs, each trained when it is first asked for."""

    def __init__(self, host: Host, folder: Path):
        self.host, self.folder = host, folder
        self.seconds = 0.0  # that the last one took

    def of(self, task: str, algo: str, seed: int = 0, *words: str, kind: str = "") -> Path:
        """words: more of `cup train`; kind: what such runs of a pair are called that is known without these words too"""
        path = self.folder / f"{task}-{algo}-{seed}{kind}".replace(":", "-").replace("/", "-")
        if not path.exists():
            train = train_words(task, algo, path, seed, *words)
            self.seconds = self.host.calibrate(lambda: self.host.start(*train).end().expect(0))
        return path


@dataclass
class Trial:
    host: Host
    references: References
    folder: Path
    random: random.Random
    task: str
    algo: str
    place: Path | None = None  # where the run goes, if not into the folder

    @property
    def run(self) -> Path:
        return (self.place or self.folder) / "run"

    def reference(self, seed: int = 0) -> Path:
        return self.references.of(self.task, self.algo, seed)

    def go_on(self, *words: str, before: Callable[[], None] | None = None) -> Command:
        """`cup resume`, or `cup train` where no run was begun; words: more of `cup train`"""
        if (self.run / "config.json").exists():
            return self.host.start("resume", self.run, before=before)
        return self.host.start(*train_words(self.task, self.algo, self.run, 0, *words), before=before)

    def await_moment(self, command: Command, *runs: Path, first: int = 0) -> None:
        """A random moment of a command that trains into these folders: as it starts, or some time after a random row.

        first: the rows that were there before.
        """
        starting, share, row, pause = (self.random.random() for _ in range(4))
        if starting < 0.25:
            time.sleep(share * self.references.seconds)
            return
        wanted = (first + int(row * ITERATIONS)) * len(runs)
        while command.running() and sum(map(last_row, runs)) < wanted:
            time.sleep(0.002)
        time.sleep(0.1 * pause)

    def finish(self, reference: Path | None = None, *words: str) -> None:
        """The last time it goes on: to its end, and equal to the reference; words: as of `go_on`."""
        self.go_on(*words).end().expect(0)
        self.host.expect_nothing_left(SOON)
        expect_same(self.run, reference or self.reference())


def expect(condition: bool, sentence: str) -> None:
    if not condition:
        raise Failed(sentence)
