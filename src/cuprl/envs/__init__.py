"""Constrained tasks. `TASKS` lists them; `make` builds the vector environment of one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from cuprl.core.spec import Constraint, Spec
from cuprl.core.task import Task, VectorEnv
from cuprl.core.values import as_number, whole
from cuprl.envs.mujoco.circle import CIRCLE_TASKS
from cuprl.envs.mujoco.env import MujocoTask
from cuprl.envs.mujoco.speed import SPEED_TASKS
from cuprl.envs.mujoco.two_limits import TWO_LIMIT_TASKS
from cuprl.envs.mujoco.velocity import VELOCITY_TASKS
from cuprl.errors import UserError, unknown

TASKS: dict[str, Task] = {task.name: task for task in (*SPEED_TASKS, *CIRCLE_TASKS, *TWO_LIMIT_TASKS, *VELOCITY_TASKS)}

MOST_AT_ONCE = 100_000  # environments: each takes its memory


def find(task: str | Task) -> Task:
    """Find a task by its name, or take a task itself; what is neither is refused."""
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
    """Make the vector environment of a task, already reset: `reset(seed)` and `step(actions)` are what it has.

    Args:
        task: the name of a task, or a task itself.
        num_envs: copies that are stepped together.
        seed: of the first copy; each has the next.
        threads: of the physics; they change no result.
        limits: other limits than the task's own: a number where there is one constraint, else a dict by name.
    """
    env = build(find(task), num_envs, threads, limits)
    with closed_on_error(env):
        env.reset(seed)
    return env


def build(task: Task, num_envs: int, threads: int, limits: dict[str, float] | float | None = None) -> VectorEnv:
    """Make environments as `make` does, but not yet reset: for who resets them with a seed of their own."""
    whole(num_envs, "num_envs", most=MOST_AT_ONCE)
    whole(threads, "threads")
    return task.vector_env(num_envs, threads, with_limits(task.constraints, limits))


def spec_of(task: str | Task, limits: dict[str, float] | float | None = None) -> Spec:
    """Ask a task's environment what it is, and close it; limits as `make` takes them."""
    env = build(find(task), 1, 1, limits)
    close(env)
    return env.spec


def with_limits(constraints: tuple[Constraint, ...], limits: dict[str, float] | float | None) -> tuple[Constraint, ...]:
    """Give the constraints with other limits: by name, or a number where there is one constraint."""
    given = numbers_of(constraints, "limit", limits)
    return tuple(replace(c, limit=given.get(c.name, c.limit)) for c in constraints)


def with_step_bounds(constraints: tuple[Constraint, ...], bounds: dict[str, float] | float | None) -> tuple[Constraint, ...]:
    """Give the constraints with other bounds on what a step can cost, given as limits are."""
    given = numbers_of(constraints, "bound", bounds)
    return tuple(replace(c, step_bound=given.get(c.name, c.step_bound)) for c in constraints)


def numbers_of(constraints: tuple[Constraint, ...], what: str, numbers: dict[str, float] | float | None) -> dict[str, float]:
    """Read the numbers of some constraints, by name or as one number where there is one constraint."""
    if numbers is None:
        return {}
    names = [c.name for c in constraints]
    if not isinstance(numbers, dict):
        if not names:
            raise UserError(f"the {what} is {numbers}, but there is no constraint; leave it away.")
        if len(names) != 1:
            raise UserError(f"the {what} is {numbers}, but there are {', '.join(names)}; name it, as {names[0]}={numbers}.")
        numbers = {names[0]: numbers}
    for name in numbers:
        if name not in names:
            raise unknown("constraint", name, names)
    return {name: as_number(number, f"the {what} of cost {name!r}") for name, number in numbers.items()}


def close(env: VectorEnv) -> None:
    """End what an environment holds, as windows and worker processes; not all hold something."""
    getattr(env, "close", lambda: None)()


@contextmanager
def closed_on_error(env: VectorEnv) -> Iterator[None]:
    """Close an environment where anything fails inside, before there is somebody else who would."""
    try:
        yield
    except BaseException:
        close(env)
        raise


def hurry(env: VectorEnv) -> None:
    """Wait no longer than seconds for what may hang in an environment: the run is to stop."""
    getattr(env, "hurry", lambda: None)()


__all__ = [
    "TASKS",
    "MujocoTask",
    "build",
    "close",
    "closed_on_error",
    "find",
    "hurry",
    "make",
    "spec_of",
    "with_limits",
    "with_step_bounds",
]
