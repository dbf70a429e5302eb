"""How the cost of an iteration grows: collecting and updating against one thing at a time, all in one run, interleaved."""

from __future__ import annotations

import dataclasses
import math
import statistics
import subprocess
import time
from collections.abc import Callable
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from cuprl import algorithms, envs
from cuprl.core.spec import Constraint
from cuprl.core.user_modules import python
from cuprl.envs.mujoco.env import MujocoTask
from cuprl.envs.mujoco.physics import Motion, Physics
from cuprl.envs.mujoco.scores import reads_what
from cuprl.errors import UserError
from cuprl.learn.fields import field_names
from cuprl.measure.speed import FOREVER
from cuprl.runs.config import RunConfig
from cuprl.training.training import Training

AXES: dict[str, tuple[int, ...]] = {
    "batch size": (2500, 5000, 10_000, 20_000),
    "network width": (32, 64, 128, 256),
    "constraints": (1, 2, 4, 8),
    "environments": (1, 5, 10, 20),
    "threads, 5 environments": (1, 2),  # 3 + 2 robots: at best 5/3 as fast
    "threads, 20 environments": (1, 2),
}
SETTINGS: dict[str, Callable[[int], dict[str, Any]]] = {
    "batch size": lambda n: {"batch_size": n},
    "network width": lambda n: {"hidden": (n, n)},
    "environments": lambda n: {"num_envs": n},
    "threads, 20 environments": lambda n: {"num_envs": 20},
}
# A KL stop would change the work from one iteration to the next.
NEVER_STOP = {"delta": math.inf, "projection_delta": math.inf}


class Point(NamedTuple):
    """One iteration's times at one value of an axis."""

    axis: str
    value: int
    collect: float  # seconds
    update: float


def with_constraints(task: MujocoTask, m: int) -> MujocoTask:
    """Give the task its first cost m times."""
    first = task.constraints[0]

    @reads_what(task.costs)
    def costs(physics: Physics, motion: Motion) -> np.ndarray:
        return np.repeat(task.costs(physics, motion)[:, :1], m, axis=1)

    return dataclasses.replace(
        task,
        name=f"{task.name}, {m} constraints",
        constraints=tuple(Constraint(f"{first.name}{i}", first.limit, first.discount) for i in range(m)),
        costs=costs,
    )


def grow(task_name: str, algo: str = "cup", rounds: int = 5) -> list[Point]:
    """Measure medians over rounds; in each every training of an axis does one iteration, so that noise hits all alike."""
    task = envs.find(task_name)
    if not isinstance(task, MujocoTask):
        raise UserError(f"{task_name} is not a MuJoCo task; give one, as hopper-speed.")
    module, _ = algorithms.find(algo)
    fixed = {name: value for name, value in NEVER_STOP.items() if name in field_names(module.Config)}
    points = []
    for axis, values in AXES.items():
        trainings = []
        for value in values:
            settings = {**fixed, "anneal": False, **SETTINGS.get(axis, lambda _: {})(value)}
            threads = value if axis.startswith("threads") else 1
            config = RunConfig(task.name, algo, steps=FOREVER, threads=threads, settings=settings)
            trainings.append(Training(config, with_constraints(task, value if axis == "constraints" else 1)))
        for training in trainings:
            training.iterate()  # compiles
        rows = [[training.iterate() for training in trainings] for _ in range(rounds)]
        for value, mine in zip(values, zip(*rows)):
            collect, update = (statistics.median(row[key] for row in mine) for key in ("time/collect", "time/update"))
            points.append(Point(axis, value, collect, update))
    return points


def at_once(task: str, algo: str, processes: int, steps: int) -> float:
    """Measure the seconds until the last of several processes has trained one seed each."""
    with TemporaryDirectory() as folder:
        begun = time.perf_counter()
        words = python("-m", "cuprl", "train", task, "--algo", algo, "--steps", str(steps))
        children = [
            subprocess.Popen([*words, "--seed", str(k), "--out", f"{folder}/{k}"], stdout=subprocess.DEVNULL)
            for k in range(processes)
        ]
        statuses = [child.wait() for child in children]
        if any(statuses):
            raise RuntimeError("a training ended with an error")
        return time.perf_counter() - begun


def growth_table(points: list[Point]) -> str:
    """Write Markdown; beside each time its ratio to the axis's first value."""
    lines = ["| | | collection, ratio | update, ratio |", "|---|---|---|---|"]
    first: dict[str, Point] = {}
    for point in points:
        base = first.setdefault(point.axis, point)
        collect, update = point.collect / base.collect, point.update / base.update
        axis = point.axis if point is base else ""
        times = f"{point.collect:.3f} s, {collect:.2f} | {point.update:.3f} s, {update:.2f}"
        lines.append(f"| {axis} | {point.value:,} | {times} |")
    return "\n".join(lines)
