"""What MuJoCo can draw with on this machine: EGL or OSMesa where there is no screen, found by trying.

Nothing here imports MuJoCo: with MUJOCO_GL set to what is not there, its import itself fails.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from functools import cache
from typing import Any

from cuprl.core.user_modules import python
from cuprl.errors import UserError

VARIABLE = "MUJOCO_GL"
CANDIDATES = ("cgl",) if sys.platform == "darwin" else ("egl", "osmesa", "glfw")  # the last needs a screen
TRIAL = """if True:
    import mujoco, numpy
    model = mujoco.MjModel.from_xml_string("<mujoco><worldbody><geom size='1'/></worldbody></mujoco>")
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    with mujoco.Renderer(model, 16, 16) as renderer:
        renderer.update_scene(data)
        assert renderer.render().any()
"""
PACKAGES = "on Debian or Ubuntu `apt-get install libegl1 libgl1-mesa-dri` (EGL), or `apt-get install libosmesa6` (OSMesa)"


@cache
def draws(name: str) -> bool:
    """Tell whether MuJoCo can draw with this, tried in a process of its own: a failed try cannot be undone, some crash."""
    environment = {**os.environ, VARIABLE: name}
    return subprocess.run(python("-c", TRIAL), env=environment, capture_output=True).returncode == 0


def choose() -> bool:
    """Put what MuJoCo is to draw with into MUJOCO_GL, where it does not say already; False where there is nothing.

    Called before MuJoCo is imported, it holds for all that draws with MuJoCo, environments of others too.
    """
    if given := os.environ.get(VARIABLE):
        if not draws(given):
            said = f"{VARIABLE} is {given!r}, with which MuJoCo cannot draw here"
            raise UserError(f"{said}; unset it, or set it to egl or osmesa and install that: {PACKAGES}.")
        return True
    found = next(filter(draws, CANDIDATES), None)
    if found is not None:
        os.environ[VARIABLE] = found
    return found is not None


def context(width: int, height: int) -> Any:
    """Make MuJoCo's OpenGL context of the chosen kind, also where MuJoCo was imported before it was chosen."""
    if not choose():
        raise UserError(f"there is nothing to draw with: MuJoCo needs EGL or OSMesa; {PACKAGES}.")
    kind = os.environ[VARIABLE].lower().strip()
    module = kind if kind in ("egl", "osmesa", "cgl") else "glfw"
    return importlib.import_module(f"mujoco.{module}").GLContext(width, height)
