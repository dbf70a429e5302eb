"""Experiments as data: tasks x algorithms x seeds, and the cells they expand to."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from cuprl.errors import UserError, unknown
from cuprl.runs import Run

ALL = ("ppo", "trpo", "ppo-lag", "trpo-lag", "cpo", "pcpo", "focops", "cup")


@dataclass(frozen=True)
class Experiment:
    name: str
    summary: str
    tasks: tuple[str, ...]
    algos: tuple[str, ...]
    seeds: tuple[int, ...]
    steps: int
    settings: tuple[tuple[str, str], ...] = ()  # changes of every algorithm's defaults


@dataclass(frozen=True)
class Cell:
    """One run of a grid."""

    task: str
    algo: str
    seed: int
    steps: int
    settings: tuple[tuple[str, str], ...]
    limits: tuple[str, ...] = ()  # as given to --limit
    flags: tuple[str, ...] = ()  # further words for `cup train` that change no result

    def path(self, root: Path) -> Path:
        return root / self.task.replace(":", "-") / self.algo / f"seed{self.seed}"

    def command(self, root: Path) -> list[str]:
        """What `cup` is called with: train, or resume where a run was begun."""
        path = self.path(root)
        if (path / "config.json").is_file():
            return ["resume", str(path)]
        flags = [word for name, value in self.settings for word in (f"--{name.replace('_', '-')}", value)]
        limits = [word for limit in self.limits for word in ("--limit", limit)]
        return ["train", self.task, "--algo", self.algo, "--seed", str(self.seed), "--steps", str(self.steps),
                "--out", str(path), *flags, *limits, *self.flags]  # fmt: skip

    def fraction(self, root: Path) -> float:
        """How much of the run is checkpointed, 0 to 1."""
        path = self.path(root)
        if not (path / "config.json").is_file():
            return 0.0
        run = Run(path)
        self.check_same(run)
        done = int(run.checkpoints()[0].name[:8]) if run.checkpoints() else 0
        return done / (run.config["steps"] // run.config["settings"]["batch_size"])


    def check_same(self, run: Run) -> None:
        """A run made with other settings must not pass for this cell's."""
        from cuprl.algorithms import load
        from cuprl.envs import find as find_task
        from cuprl.envs import with_limits
        from cuprl.learn.settings import parse_limits

        task = find_task(self.task)
        _, config = load(self.algo, dict(self.settings), getattr(task, "settings", {}))
        limits = {c.name: c.limit for c in with_limits(task.constraints, parse_limits(list(self.limits)))}
        wanted = {"steps": self.steps, "limits": limits, **json.loads(json.dumps(dataclasses.asdict(config)))}
        found = {"steps": run.config["steps"], "limits": run.config["limits"], **run.config["settings"]}
        for name, value in wanted.items():
            if found.get(name) != value:
                raise UserError(
                    f"{run.path} was made with {name} {found.get(name)}, not {value}; give another folder, or remove it."
                )


EXPERIMENTS = {
    experiment.name: experiment
    for experiment in (
        Experiment("quick", "two tasks, two algorithms, minutes", ("hopper-speed", "swimmer-speed"), ("cup", "ppo-lag"),
                   (0, 1), 100_000),
        Experiment("baselines", "all algorithms on Hopper and Swimmer, half a million steps",
                   ("hopper-speed", "swimmer-speed"), ALL, (0, 1), 500_000),
        Experiment("spine", "CUP on Hopper and Swimmer, the paper's 2.5 million steps",
                   ("hopper-speed", "swimmer-speed"), ("cup",), (0, 1, 2), 2_500_000),
    )
}  # fmt: skip


def find(name: str) -> Experiment:
    if name not in EXPERIMENTS:
        raise unknown("experiment", name, EXPERIMENTS)
    return EXPERIMENTS[name]


def expand(experiment: Experiment, only: str | None = None) -> list[Cell]:
    """The cells of a grid, those of `only` ("task=hopper-speed,algo=cup,seed=0") if given; names are checked first."""
    from cuprl.algorithms import ALGORITHMS
    from cuprl.envs import find as find_task

    for task in experiment.tasks:
        find_task(task)
    for algo in experiment.algos:
        if algo not in ALGORITHMS:
            raise unknown("algorithm", algo, ALGORITHMS)
    cells = [
        Cell(task, algo, seed, experiment.steps, experiment.settings)
        for seed in experiment.seeds for task in experiment.tasks for algo in experiment.algos
    ]  # fmt: skip
    for key, value in parse_only(only):
        accepted = list(dict.fromkeys(str(getattr(cell, key)) for cell in cells))
        if value not in accepted:
            raise unknown(f"{key} of {experiment.name}", value, accepted)
        cells = [cell for cell in cells if str(getattr(cell, key)) == value]
    return cells


def parse_only(only: str | None) -> Iterable[tuple[str, str]]:
    for part in only.split(",") if only else ():
        key, equals, value = part.partition("=")
        if not equals or key not in ("task", "algo", "seed"):
            raise UserError(f"--only {only}: give task=NAME, algo=NAME or seed=K, with commas between them.")
        yield key, value
