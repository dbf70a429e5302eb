"""Constrained tasks. `TASKS` lists them; `make` builds the vector environment of one."""

from __future__ import annotations

from dataclasses import replace

from cuprl.core.spec import Constraint
from cuprl.core.task import Task, VectorEnv
from cuprl.core.values import as_number, whole
from cuprl.envs.mujoco.circle import CIRCLE_TASKS
from cuprl.envs.mujoco.env import MujocoTask
from cuprl.envs.mujoco.robots import SPEED_TASKS
from cuprl.envs.mujoco.two_limits import TWO_LIMIT_TASKS
from cuprl.envs.mujoco.velocity import VELOCITY_TASKS
from cuprl.errors import UserError, unknown

TASKS: dict[str, Task] = {task.name: task for task in (*SPEED_TASKS, *CIRCLE_TASKS, *TWO_LIMIT_TASKS, *VELOCITY_TASKS)}


def find(task: str | Task) -> Task:
    if not isinstance(task, str):
        if not hasattr(task, "vector_env"):
            raise UserError(
                f"{task!r} is not a task; of a Gymnasium environment make one with cuprl.from_gymnasium(id or function, …)."
            )
        return task
    if task.startswith("tabular:"):
        from cuprl.envs.tabular import tabular_task

        return tabular_task(task)
    if task.startswith("gym:"):
        from cuprl.envs.gymnasium.name import parse_name
        from cuprl.envs.gymnasium.task import from_gymnasium

        return from_gymnasium(**parse_name(task))
    if task not in TASKS:
        import gymnasium

        if task in gymnasium.registry:
            raise UserError(f"{task} is a Gymnasium environment; write gym:{task}.")
        known = unknown("task", task, [*TASKS, "tabular:gridworld (and the like)", "gym:ID (any Gymnasium environment)"])
        raise UserError(f"{known} A task made in Python is given itself, as task=… of cuprl.resume, evaluate or load.")
    return TASKS[task]


def make(
    task: str | Task,
    num_envs: int = 1,
    seed: int = 0,
    threads: int = 1,
    limits: dict[str, float] | float | None = None,
) -> VectorEnv:
    """The vector environment of a task, reset with `seed` (robot i with seed + i), its own limits or those given."""
    env = build(find(task), num_envs, threads, limits)
    env.reset(seed)
    return env


def build(task: Task, num_envs: int, threads: int, limits: dict[str, float] | float | None = None) -> VectorEnv:
    """As `make`, but not yet reset: for who resets it with a seed and wants the first observations."""
    for name, value in (("num_envs", num_envs), ("threads", threads)):
        whole(value, name)
    return task.vector_env(num_envs, threads, with_limits(task.constraints, limits))


def with_limits(constraints: tuple[Constraint, ...], limits: dict[str, float] | float | None) -> tuple[Constraint, ...]:
    """The constraints with other limits: by name, or a number where there is one constraint."""
    if limits is None:
        return constraints
    names = [c.name for c in constraints]
    if not isinstance(limits, dict):
        if len(names) != 1:
            raise UserError(f"the limit is {limits}, but there are {', '.join(names)}; name it, as {names[0]}={limits}.")
        limits = {names[0]: limits}
    for name in limits:
        if name not in names:
            raise unknown("constraint", name, names)
    given = {name: as_number(limit, f"the limit of cost {name!r}") for name, limit in limits.items()}
    return tuple(replace(c, limit=given.get(c.name, c.limit)) for c in constraints)


def close(env: VectorEnv) -> None:
    """Ends what an environment holds, as windows and worker processes; not all hold something."""
    getattr(env, "close", lambda: None)()


def hurry(env: VectorEnv) -> None:
    """The run is to stop: what may hang in an environment is not waited for longer than seconds."""
    getattr(env, "hurry", lambda: None)()


__all__ = ["TASKS", "MujocoTask", "build", "close", "find", "hurry", "make", "with_limits"]
