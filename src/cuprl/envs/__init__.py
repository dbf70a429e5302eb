"""Constrained tasks. `TASKS` lists them; `make` builds the vector environment of one."""

from __future__ import annotations

from dataclasses import replace

from cuprl.envs.circle import CIRCLE_TASKS
from cuprl.envs.mujoco_env import MujocoTask
from cuprl.envs.protocol import Box, Constraint, Discrete, MultiDiscrete, Spec, Step, Task, VectorEnv
from cuprl.envs.robots import SPEED_TASKS
from cuprl.envs.two_limits import TWO_LIMIT_TASKS
from cuprl.envs.velocity import VELOCITY_TASKS
from cuprl.errors import UserError, unknown

TASKS: dict[str, Task] = {task.name: task for task in (*SPEED_TASKS, *CIRCLE_TASKS, *TWO_LIMIT_TASKS, *VELOCITY_TASKS)}


def find(task: str | Task) -> Task:
    if not isinstance(task, str):
        return task
    if task.startswith("tabular:"):
        from cuprl.envs.tabular import tabular_task

        return tabular_task(task)
    if task.startswith("gym:"):
        from cuprl.envs.gymnasium_name import parse_name
        from cuprl.envs.gymnasium_task import from_gymnasium

        return from_gymnasium(**parse_name(task))
    if task not in TASKS:
        known = unknown("task", task, [*TASKS, "tabular:gridworld (and the like)", "gym:ID (any Gymnasium environment)"])
        raise UserError(f"{known} A task made in Python is given itself, as cuprl.resume(run, task=task).")
    return TASKS[task]


def make(
    task: str | Task,
    num_envs: int = 1,
    seed: int = 0,
    threads: int = 1,
    limits: dict[str, float] | float | None = None,
) -> VectorEnv:
    """The vector environment of a task, reset with `seed` (robot i with seed + i), its own limits or those given."""
    task = find(task)
    for name, value in (("num_envs", num_envs), ("threads", threads)):
        if value < 1:
            raise UserError(f"{name} is {value}; it must be at least 1.")
    env = task.vector_env(num_envs, threads, with_limits(task.constraints, limits))
    env.reset(seed)
    return env


def with_limits(constraints: tuple[Constraint, ...], limits: dict[str, float] | float | None) -> tuple[Constraint, ...]:
    """The constraints with other limits: by name, or one number for all."""
    if limits is None:
        return constraints
    names = [c.name for c in constraints]
    given = limits if isinstance(limits, dict) else dict.fromkeys(names, limits)
    for name in given:
        if name not in names:
            raise unknown("constraint", name, names)
    return tuple(replace(c, limit=float(given.get(c.name, c.limit))) for c in constraints)


__all__ = ["TASKS", "Box", "Constraint", "Discrete", "MujocoTask", "MultiDiscrete", "Spec", "Step", "Task", "VectorEnv",
           "find", "make"]  # fmt: skip
