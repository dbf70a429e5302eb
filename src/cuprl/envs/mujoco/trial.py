"""A MujocoTask's functions, tried before anything is learnt from them: what will not do is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import mujoco
import numpy as np

from cuprl.envs.mujoco.parts import MujocoParts
from cuprl.envs.mujoco.physics import Motion, Physics
from cuprl.envs.mujoco.scores import Recorded, read_by
from cuprl.errors import UserError, blame

TRIED = 5  # environments: not 1 and seldom the number of costs, so that no shape fits by chance
ARGUMENTS = {"reset": "(qpos, qvel, rng)", "reward": "(physics, motion)", "costs": "(physics, motion)"}  # others: (physics)


def call(task: MujocoParts, name: str, *arguments: Any) -> Any:
    """Call one of a task's functions; an error in it becomes a sentence that says where."""
    try:
        answer = getattr(task, name)(*arguments)
        return np.array(answer) if name in ("position", "observe") else answer  # as the environment does
    except UserError:
        raise
    except Exception as error:
        raise blame(f"{name} of {task.name}", error, ARGUMENTS.get(name, "(physics)")) from error


def expect(task: MujocoParts, name: str, value: Any, shape: tuple[int | str, ...], kind: str = "an array") -> None:
    """Refuse what is no array of this shape, of bools if the kind says so; a word in the shape stands for any number."""
    fits = isinstance(value, np.ndarray) and len(value.shape) == len(shape)
    fits = fits and all(isinstance(want, str) or size == want for size, want in zip(value.shape, shape))
    if fits and (kind == "an array" or value.dtype == bool):
        return
    found = f"an array of {value.dtype}, {describe(value.shape)}" if isinstance(value, np.ndarray) else type(value).__name__
    where = "" if name == "reset" else f" for {TRIED} environments"
    raise UserError(f"{name} of {task.name} gave {found}{where}; let it give {kind}, {describe(shape)}.")


def describe(shape: tuple[int | str, ...]) -> str:
    """Write a shape, as [N, obs]."""
    return f"[{', '.join(map(str, shape))}]"


def try_functions(task: MujocoParts, model: mujoco.MjModel) -> Physics:
    """Try a reset, a step without action, and every function called on the way, in environments of their own: these."""
    try:
        physics = Physics(model, task.frame_skip, task.fields, TRIED, 1)
    except Exception as error:
        raise UserError(f"fields of {task.name} is {task.fields!r} ({error}); name fields of MjData.") from None
    begin(task, physics)
    before = look(task, physics)
    physics.batch.step(nstep=task.frame_skip)
    after = look(task, physics)
    terminated = call(task, "terminated", physics)
    expect(task, "terminated", terminated, (TRIED,), "an array of bools")
    motion = Motion(np.zeros((TRIED, model.nu)), after, (after - before) / physics.dt, terminated)
    expect(task, "reward", call(task, "reward", physics, motion), (TRIED,))
    expect(task, "costs", call(task, "costs", physics, motion), (TRIED, len(task.constraints)))
    try_reads(task, physics, motion)
    return physics


def try_reads(task: MujocoParts, physics: Physics, motion: Motion) -> None:
    """Try that functions which say what they read do with that, and answer for two steps at once as for each by itself."""
    read = read_by(task.position, task.reward, task.costs)
    if read is None:
        return
    if missing := [name for name in read if not hasattr(physics, name)]:
        raise UserError(f"@reads of {task.name} names {missing[0]!r}; name arrays of the physics or put it into fields.")

    def ask(name: str, *scales: float) -> np.ndarray:
        """The answer for one step a scale: the one that was made, and one whose numbers are others."""
        recorded = Recorded(physics, {field: np.stack([k * getattr(physics, field) for k in scales]) for field in read})
        action, position, velocity = (np.concatenate([k * part for k in scales]) for part in motion[:3])
        moved = Motion(action, position, velocity, np.tile(motion.terminated, len(scales)))
        return call(task, name, recorded, *(() if name == "position" else (moved,)))

    for name in ("position", "reward", "costs"):
        together, apart = ask(name, 1.0, 0.5), np.concatenate((ask(name, 1.0), ask(name, 0.5)))
        if not np.array_equal(together, apart, equal_nan=True):
            raise UserError(f"{name} of {task.name} answers otherwise for two steps than for each; take @reads off it.")


def begin(task: MujocoParts, physics: Physics) -> None:
    """Try the task's reset, and put the physics where it says."""
    data = mujoco.MjData(physics.model)
    start = call(task, "reset", data.qpos.copy(), data.qvel.copy(), np.random.default_rng(0))
    if not isinstance(start, tuple | list) or len(start) != 2:
        raise UserError(f"reset of {task.name} gave {type(start).__name__}; let it give (qpos, qvel).")
    for value, size in zip(start, (physics.model.nq, physics.model.nv)):
        expect(task, "reset", np.asarray(value), (size,))
    physics.qpos[:], physics.qvel[:] = start
    physics.batch.forward(np.arange(TRIED))


def look(task: MujocoParts, physics: Physics) -> np.ndarray:
    """Give the position, with the observation looked at too."""
    position = call(task, "position", physics)
    expect(task, "position", position, (TRIED, "k"))
    expect(task, "observe", call(task, "observe", physics), (TRIED, "obs"))
    return position


def with_own_memory(task: MujocoParts, physics: Physics) -> MujocoParts:
    """Give the task with functions whose answers stay as they are.

    One that gives the same memory twice, such as a live view of the physics, is made to copy.
    """

    def own(function: Callable[..., Any], *arguments: Any) -> Callable[..., np.ndarray]:
        first, second = function(*arguments), function(*arguments)
        if isinstance(first, np.ndarray) and not np.may_share_memory(first, second):
            return function
        return lambda *arguments: np.array(function(*arguments))

    observe, position, terminated = (own(f, physics) for f in (task.observe, task.position, task.terminated))
    place = position(physics)
    still = Motion(np.zeros(physics.ctrl.shape), place, np.zeros(place.shape), terminated(physics))
    reward, costs = (own(f, physics, still) for f in (task.reward, task.costs))
    return replace(task, observe=observe, position=position, terminated=terminated, reward=reward, costs=costs)
