"""A robot's model as pictures show it: on a checkered floor without end, on which motion is seen, under an even light."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import mujoco
import numpy as np

FLOOR = "cuprl-floor"
TILES = ((0.66, 0.68, 0.70), (0.52, 0.55, 0.58))  # dull: the robot stands out
SKY, HORIZON = (0.50, 0.62, 0.75), (0.86, 0.89, 0.92)
ALPHA = 0.7  # of a floor that is not the model's own: what hangs below it is seen
SHADOWS = 1024  # pixels: MuJoCo's 4096 take half the time of a picture where there is no graphics card


class Sight(NamedTuple):
    """What is to be seen of a robot, as its model has it at rest."""

    body: int  # the root of what has the most joints: it is followed with all that hangs on it
    size: float  # of all that, in metres
    flatness: float  # 0 for a robot as high as it is wide, near 1 for a snake
    height: float  # of its centre of mass
    lift: float  # of its middle above that
    foot: float  # of the lowest point of all that there is


def sight_of(model: mujoco.MjModel) -> Sight:
    """Measure what a camera looks at: the body with the most joints, its size and its place above the floor."""
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    low, high = corners(model, data)
    solid = model.geom_type != mujoco.mjtGeom.mjGEOM_PLANE
    joints = np.bincount(model.body_rootid[model.dof_bodyid], minlength=model.nbody)
    body = int(joints.argmax())
    own = solid & (model.body_rootid[model.geom_bodyid] == body)
    top, bottom = (high[own].max(axis=0), low[own].min(axis=0)) if own.any() else (np.ones(3), np.zeros(3))
    size, height = float((top - bottom).max()), float(data.subtree_com[body, 2])
    foot = float(np.min(low[solid, 2], initial=0.0))
    return Sight(body, size, 1.0 - float(top[2] - bottom[2]) / size, height, float(top[2] + bottom[2]) / 2 - height, foot)


def corners(model: mujoco.MjModel, data: mujoco.MjData) -> tuple[np.ndarray, np.ndarray]:
    """Find the lowest and the highest corner of the upright box around each geom: [ngeom, 3] each."""
    centre, half = model.geom_aabb[:, :3], model.geom_aabb[:, 3:]  # in the geom's own frame
    turn = data.geom_xmat.reshape(-1, 3, 3)
    middle = data.geom_xpos + np.einsum("gij,gj->gi", turn, centre)
    reach = np.einsum("gij,gj->gi", np.abs(turn), half)
    return middle - reach, middle + reach


def dressed(width: int, height: int) -> Callable[[mujoco.MjSpec], None]:
    """Change a model for pictures of this size. Nothing that moves is: a state means the same in both."""

    def dress(spec: mujoco.MjSpec) -> None:
        spec.visual.global_.offwidth, spec.visual.global_.offheight = width, height
        spec.visual.quality.shadowsize = SHADOWS
        lay_floor(spec, sight_of(spec.compile()))
        paint_sky(spec)
        light_up(spec)

    return dress


def lay_floor(spec: mujoco.MjSpec, sight: Sight) -> None:
    """Lay tiles on the planes that the world stands on; where it has none, on one at the foot of the robot.

    A tile measures one metre; 0.1, 10 and so on where the robot is that much smaller or larger.
    """
    tile = 10.0 ** round(math.log10(sight.size / 3.0))
    spec.add_texture(
        name=FLOOR,
        type=mujoco.mjtTexture.mjTEXTURE_2D,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_CHECKER,
        rgb1=TILES[0],
        rgb2=TILES[1],
        width=512,
        height=512,
    )
    material = spec.add_material(name=FLOOR, texuniform=True, texrepeat=(0.5 / tile, 0.5 / tile))
    material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = FLOOR
    endless = (0.0, 0.0, 1.0)  # as the plane is to what stands on it, whatever its size in the file
    planes = list(level_planes(spec))
    for plane in planes:
        plane.material, plane.rgba, plane.size = FLOOR, (1.0, 1.0, 1.0, 1.0), endless
    if not planes:
        spec.worldbody.add_geom(
            type=mujoco.mjtGeom.mjGEOM_PLANE,
            pos=(0.0, 0.0, sight.foot),
            size=endless,
            material=FLOOR,
            rgba=(1.0, 1.0, 1.0, ALPHA),
            contype=0,
            conaffinity=0,
        )


def level_planes(spec: mujoco.MjSpec) -> Iterator[Any]:
    """Find the planes that lie level in the world."""
    for geom in spec.worldbody.geoms:
        turned = geom.alt.type != mujoco.mjtOrientation.mjORIENTATION_QUAT or abs(geom.quat[0]) < 1.0
        if geom.type == mujoco.mjtGeom.mjGEOM_PLANE and not turned:
            yield geom


def paint_sky(spec: mujoco.MjSpec) -> None:
    """Paint the sky, unless the model has a picture of its own for it."""
    kind = mujoco.mjtTexture.mjTEXTURE_SKYBOX
    skies = [texture for texture in spec.textures if texture.type == kind]
    for sky in skies or [spec.add_texture(name="cuprl-sky", type=kind, width=256, height=1536)]:
        if not sky.file:
            sky.builtin, sky.rgb1, sky.rgb2 = mujoco.mjtBuiltin.mjBUILTIN_GRADIENT, HORIZON, SKY


def light_up(spec: mujoco.MjSpec) -> None:
    """Light from above, where the model has no light of its own, and from the camera."""
    if not spec.lights:
        spec.worldbody.add_light(pos=(0.0, 0.0, 10.0), dir=(0.0, 0.0, -1.0), type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL)
    for light in spec.lights:
        light.diffuse = (0.6, 0.6, 0.6)
    headlight = spec.visual.headlight
    headlight.ambient, headlight.diffuse, headlight.specular = (0.35,) * 3, (0.3,) * 3, (0.0,) * 3
