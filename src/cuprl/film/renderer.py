"""Pictures of one robot: its dressed model, drawn without a screen, from a camera that goes along."""

from __future__ import annotations

from itertools import pairwise

import mujoco
import numpy as np

from cuprl.envs.mujoco.model import load_dressed
from cuprl.envs.mujoco.parts import FloorLine, MujocoParts
from cuprl.errors import unknown
from cuprl.film import opengl
from cuprl.film.scene import dressed, sight_of

MOST_GEOMS = 10_000
NEAR, FAR = 2.6, 6.0  # distance of the camera in sizes of the robot; the second where there are lines to be seen
SIDE, ABOVE = 12.0, 50.0  # degrees from which a tall robot is looked down on, and how many more a flat one
ROOM = 0.2  # of its size by which the camera looks above a robot, for there stand the numbers
LINE = 0.07, 0.01  # half the width and half the height of a line on the floor, in metres


class RobotRenderer:
    """Draws the robot of a task from its physical state. Holds an OpenGL context until `close`."""

    def __init__(self, task: MujocoParts, width: int, height: int, camera: str | None = None):
        """camera: one of the model's own, by its name [one that follows the robot]"""
        self.model = load_dressed(task.model, dressed(width, height))
        self.data = mujoco.MjData(self.model)
        self.lines = task.lines
        self.sight = sight_of(self.model)
        self.own_camera = None if camera is None else camera_named(camera, self.model, task.name)
        self.rectangle = mujoco.MjrRect(0, 0, width, height)
        self.scene = mujoco.MjvScene(self.model, MOST_GEOMS + sum(len(line.points) for line in self.lines))
        self.opengl = opengl.context(width, height)
        self.opengl.make_current()
        self.context = mujoco.MjrContext(self.model, mujoco.mjtFontScale.mjFONTSCALE_100)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self.context)

    def draw(self, state: np.ndarray) -> np.ndarray:
        """Draw a state, a row of `mujoco.batch`, as a picture [H, W, 3] of bytes."""
        mujoco.mj_setState(self.model, self.data, state, mujoco.mjtState.mjSTATE_INTEGRATION)
        mujoco.mj_forward(self.model, self.data)
        options, everything = mujoco.MjvOption(), mujoco.mjtCatBit.mjCAT_ALL
        mujoco.mjv_updateScene(self.model, self.data, options, None, self._camera(), everything, self.scene)
        for line in self.lines:
            lay(line, self.scene)
        picture = np.empty((self.rectangle.height, self.rectangle.width, 3), np.uint8)
        self.opengl.make_current()
        mujoco.mjr_render(self.rectangle, self.scene, self.context)
        mujoco.mjr_readPixels(picture, None, self.rectangle, self.context)
        return picture[::-1]  # OpenGL's first row is the lowest

    def _camera(self) -> mujoco.MjvCamera:
        camera, sight = mujoco.MjvCamera(), self.sight
        if self.own_camera is not None:
            camera.type, camera.fixedcamid = mujoco.mjtCamera.mjCAMERA_FIXED, self.own_camera
            return camera
        x, y, z = self.data.subtree_com[sight.body]
        slack = 0.3 * sight.size  # the camera does not hop with a hopper, but flies with what flies
        above = sight.lift + ROOM * sight.size
        camera.lookat = x, y, np.clip(sight.height, z - slack, z + slack) + above
        camera.distance = (FAR if self.lines else NEAR) * sight.size
        camera.azimuth, camera.elevation = 90.0, -(SIDE + ABOVE * sight.flatness**3 + (20.0 if self.lines else 0.0))
        return camera

    def close(self) -> None:
        """Free what OpenGL holds."""
        self.context.free()
        self.opengl.free()


def camera_named(name: str, model: mujoco.MjModel, owner: str) -> int:
    """Find a model's camera by its name."""
    number = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_CAMERA, name)
    if number < 0:
        raise unknown(f"camera of {owner}", name, filter(None, (model.camera(i).name for i in range(model.ncam))))
    return number


def lay(line: FloorLine, scene: mujoco.MjvScene) -> None:
    """Lay flat boxes from point to point."""
    for (x0, y0), (x1, y1) in pairwise(line.points):
        if not (length := np.hypot(x1 - x0, y1 - y0)):
            continue
        ahead, up = np.array([x1 - x0, y1 - y0, 0.0]) / length, np.array([0.0, 0.0, 1.0])
        turn = np.column_stack((ahead, np.cross(up, ahead), up))
        middle, size = np.array([(x0 + x1) / 2, (y0 + y1) / 2, LINE[1]]), np.array([length / 2, *LINE])
        colour = np.array([*line.colour, 1.0], np.float32)
        mujoco.mjv_initGeom(scene.geoms[scene.ngeom], mujoco.mjtGeom.mjGEOM_BOX, size, middle, turn.ravel(), colour)
        scene.ngeom += 1
