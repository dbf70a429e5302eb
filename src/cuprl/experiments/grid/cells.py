"""Experiments as data: blocks of tasks x algorithms x seeds x sweeps, and the cells they expand to."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from cuprl.algorithms import as_now
from cuprl.core.encoder import NO_ENCODER, find_encoder
from cuprl.core.parse import parse_numbers
from cuprl.core.task import Task
from cuprl.core.user_modules import named_by
from cuprl.envs import find as find_task
from cuprl.errors import UserError
from cuprl.experiments.grid.differences import differing, numerics_reason
from cuprl.policies.start import Origin, read_start
from cuprl.runs.config import RunConfig
from cuprl.runs.config_checks import planned_iterations
from cuprl.runs.folder import Run, iteration_of
from cuprl.runs.provenance import modules_of


@dataclass(frozen=True)
class Block:
    """Every task with every algorithm, every seed and every point of the sweeps."""

    tasks: tuple[str, ...]
    algos: tuple[str, ...]
    seeds: tuple[int, ...]
    steps: int
    settings: tuple[tuple[str, str], ...] = ()  # (name, text): changes of every algorithm's defaults
    limits: tuple[str, ...] = ()  # as given to --limit; none: the task's own
    sweep: tuple[tuple[str, tuple[str, ...]], ...] = ()  # (a setting or "limit", its values)
    label: str = ""  # what its settings are called, where they are not a sweep's
    start_from: Origin | None = None  # the policy that they begin from; {seed} in its name is the seed
    evaluate: int = 0  # episodes of the mode of the last policy, run when a run is stored; changes no result

    def cells(self) -> Iterable[Cell]:
        """Expand the block, a run each."""
        axes = [[(name, value) for value in values] for name, values in self.sweep]
        for seed, task, algo, point in itertools.product(self.seeds, self.tasks, self.algos, itertools.product(*axes)):
            changes = tuple(change for change in point if change[0] != "limit")
            limits = tuple(value for name, value in point if name == "limit") or self.limits
            variant = self.label or variant_of(point)
            start = self.start_from and self.start_from._replace(
                source=str(self.start_from.source).replace("{seed}", str(seed))
            )
            settings = (*self.settings, *changes)
            more: dict[str, Any] = {"variant": variant, "start_from": start, "evaluate": self.evaluate}
            yield Cell(task, algo, seed, self.steps, settings, limits, **more)


@dataclass(frozen=True)
class Experiment:
    """A grid with a name: the cells of all its blocks."""

    name: str
    summary: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Cell:
    """One run of a grid."""

    task: str
    algo: str
    seed: int
    steps: int
    settings: tuple[tuple[str, str], ...] = ()
    limits: tuple[str, ...] = ()  # as given to --limit
    flags: tuple[str, ...] = ()  # further words for `cup train` that change no result
    variant: str = ""  # its point in a sweep, as alpha=0.1
    start_from: Origin | None = None
    evaluate: int = 0  # as a block's

    def __str__(self) -> str:
        return " ".join(part for part in (self.task, self.algo, self.variant, f"seed {self.seed}") if part)

    def path(self, root: Path) -> Path:
        """Say where the run's folder is."""
        return root / file_name(self.task) / self.algo / self.variant / f"seed{self.seed}"

    def modules(self) -> list[str]:
        """Find the modules of one's own that it names."""
        return modules_of(self.task, self.algo, dict(self.settings).get("encoder", NO_ENCODER))

    def command(self, root: Path) -> list[str]:
        """Give the words `cup` is called with: train, or resume where a run was begun."""
        path = self.path(root)
        if (path / "config.json").is_file():
            return ["resume", str(path), *(word for module in self.modules() for word in ("--import", module))]
        return self.train_words("--out", str(path), *self.flags)

    def train_words(self, *more: str) -> list[str]:
        """Give the words of `cup train` that make this run, wherever it lies."""
        which = ["--algo", self.algo, "--seed", str(self.seed), "--steps", str(self.steps)]
        limits = [word for limit in self.limits for word in ("--limit", limit)]
        begun = self.start_from.words() if self.start_from else ()
        return ["train", self.task, *which, *words_of(dict(self.settings)), *limits, *begun, *more]

    def resolved(self) -> dict[str, Any]:
        """Give what the run's config.json will say of the run itself; names, settings and limits are checked on the way."""
        return resolve(self.config())

    def config(self) -> RunConfig:
        """Give what the run is made with, as far as the cell says it."""
        limits = parse_numbers(self.limits, "limit")
        config = RunConfig(self.task, self.algo, self.seed, self.steps, limits=limits, settings=dict(self.settings))
        if not self.start_from:
            return config
        return read_start(self.start_from, find_encoder(config.settings.get("encoder"))).begun(config)

    def fraction(self, root: Path) -> float:
        """Tell how much of the run is done, 0 to 1: up to the intact checkpoint it would be resumed from."""
        path = self.path(root)
        if not (path / "config.json").is_file():
            return 0.0
        run = Run(path)
        self.check_same(run)
        try:
            done = iteration_of(run.read(run.to_resume_from())[0])
        except UserError:  # none is intact
            done = 0
        return done / planned_iterations(run.config)

    def check_same(self, run: Run) -> None:
        """Refuse a run made with other settings, or when its algorithm had other numbers: it is not this cell's."""
        found, asked = as_now(run.config), self.resolved()
        reason = numerics_reason(found)
        if reason:
            raise UserError(f"{run.path} was {reason}; give another folder, or remove it.")
        with named_by(run.path, False):  # its folder may be anyone's; what the cell names is named already
            different = differing(resolve(RunConfig.from_json(found)), asked)
        if different:
            raise UserError(f"{run.path} was made with {different[0]}; give another folder, or remove it.")


def resolve(config: RunConfig) -> dict[str, Any]:
    """Fill in every limit and setting, and give what makes the run that is asked for."""
    return config.plan(task_called(config.task)).config.identity()


@lru_cache(maxsize=256)  # a grid asks for the same few tasks again and again, and some take long to make
def task_called(name: str) -> Task:
    """Find a task by its name, as `envs.find` does."""
    return find_task(name)


def words_of(settings: dict[str, Any]) -> tuple[str, ...]:
    """Write settings as words of a command line: --hidden 8."""
    return tuple(word for name, value in settings.items() for word in (f"--{name.replace('_', '-')}", str(value)))


def file_name(text: str) -> str:
    """Write a text with letters that any file system takes."""
    return re.sub(r"[^\w.=+-]+", "-", text)


def variant_of(point: Iterable[tuple[str, str]]) -> str:
    """Name a point, as alpha=0.1, or alpha=0.1+limit=15 of two sweeps; fit for a folder's name and for --only."""
    return "+".join(file_name(f"{name}={value.replace(',', 'x')}") for name, value in point)
