"""MuJoCo models: from a file, a robot's name or MJCF as text; and how they are stepped no slower than need be."""

from __future__ import annotations

import ctypes
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import gymnasium
import mujoco
import numpy as np

from cuprl.core.actions import Box
from cuprl.errors import UserError

ROBOTS = Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets"


def is_text(model: str) -> bool:
    """Tell whether a model is MJCF itself, not a file's name."""
    return model.lstrip().startswith("<")


def file_of(model: str) -> str:
    """Find a model's file; a bare name is one of Gymnasium's robots."""
    return model if Path(model).exists() else str(ROBOTS / model)


@contextmanager
def heard() -> Iterator[list[str]]:
    """Collect what MuJoCo warns of while inside, instead of its log file in the working directory."""
    before, messages = mujoco.get_mju_user_warning(), list[str]()
    mujoco.set_mju_user_warning(messages.append)
    try:
        yield messages
    finally:
        mujoco.set_mju_user_warning(before)


def load_model(model: str | Path, owner: str) -> mujoco.MjModel:
    """Load an MJCF file (a bare name is one of Gymnasium's robots) or MJCF as text; owner: the task it is the model of."""
    model = str(model)
    with heard() as messages:
        try:
            if is_text(model):
                return mujoco.MjModel.from_xml_string(model)
            return mujoco.MjModel.from_xml_path(file_of(model))
        except (ValueError, OSError) as error:
            shown = "given as text" if is_text(model) else model
            reason = " ".join(str(error).split())
            raise UserError(
                f"the model of {owner}, {shown}, cannot be loaded ({reason}); give the path of an MJCF file, the name "
                "of one of Gymnasium's robots, or MJCF as text."
            ) from None
        finally:
            for message in messages:
                if "settotalmass" not in message:  # deprecated, and in Gymnasium's half cheetah
                    warnings.warn(f"{owner}: {message}", stacklevel=2)


def load_dressed(model: str | Path, dress: Callable[[mujoco.MjSpec], None]) -> mujoco.MjModel:
    """Load a model that `load_model` has taken, and has said all warnings of, with what `dress` changes of it."""
    model = str(model)
    with heard(), warnings.catch_warnings(action="ignore"):
        spec = mujoco.MjSpec.from_string(model) if is_text(model) else mujoco.MjSpec.from_file(file_of(model))
        dress(spec)
        return spec.compile()


def without_islands(model: mujoco.MjModel) -> mujoco.MjModel:
    """Stop MuJoCo from looking for islands in a model whose bodies all hang together, and are one.

    That changes no bit of the result, and a step of Hopper takes 8% less; sleeping bodies need the search.
    """
    if model.ntree == 1 and not model.opt.enableflags & mujoco.mjtEnableBit.mjENBL_SLEEP.value:
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_ISLAND.value
    return model


def without_timers() -> None:
    """Stop MuJoCo from reading the clock around every part of a step, as it does in Python.

    It does so for MjData.timer, which nothing here looks at. Without, as in C, Humanoid's step takes 6% less time, Hopper's
    15%, Swimmer's 25%, and no bit of the result is another.

    It holds for the whole process; mujoco.set_mjcb_time(None) brings the timers back. A clock of one's own is left alone.
    """
    folder = Path(mujoco.__file__).parent
    libraries = [library for name in ("libmujoco.so*", "libmujoco*.dylib", "mujoco.dll") for library in folder.glob(name)]
    if libraries and mujoco.get_mjcb_time() is None:
        with suppress(OSError, ValueError):  # where the engine's own variable is out of reach, steps are slower, no more
            ctypes.c_void_p.in_dll(ctypes.CDLL(str(libraries[0])), "mjcb_time").value = None


def action_bounds(model: mujoco.MjModel) -> Box:
    """Give the actuators' bounds; one without a limit takes any number, whatever its range says (0 to 0 where none is)."""
    limited, (low, high) = model.actuator_ctrllimited.astype(bool), model.actuator_ctrlrange.T
    bounds = (np.where(limited, low, -np.inf), np.where(limited, high, np.inf))
    return Box(model.nu, *(tuple(map(float, bound)) for bound in bounds))
