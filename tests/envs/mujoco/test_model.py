"""How a model is loaded: what costs time and changes nothing is off."""

import mujoco
import pytest

from cuprl.envs import make
from cuprl.envs.mujoco.model import without_islands, without_timers

BODY = '<body pos="0 0 {}"><freejoint/><geom size="0.1"/></body>'


@pytest.mark.parametrize("bodies, sleep, searched", [(1, "disable", False), (1, "enable", True), (2, "disable", True)])
def test_islands_are_searched_where_there_can_be_several(bodies, sleep, searched):
    world = "".join(BODY.format(height) for height in range(bodies))
    text = f'<mujoco><option><flag sleep="{sleep}"/></option><worldbody>{world}</worldbody></mujoco>'
    model = without_islands(mujoco.MjModel.from_xml_string(text))
    assert (not model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_ISLAND) == searched


def timed(steps=3):
    """How often plain MuJoCo timed its steps, and where they led."""
    model = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{BODY.format(0)}</worldbody></mujoco>")
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, nstep=steps)
    return data.timer[mujoco.mjtTimer.mjTIMER_STEP].duration > 0, data.qpos.tolist()


def test_physics_is_not_timed_unless_asked_for():
    mujoco.set_mjcb_time(None)
    on, there = timed()
    make("hopper-speed", 1)
    off, also_there = timed()
    assert (on, off) == (True, False) and there == also_there
    mujoco.set_mjcb_time(None)
    assert timed()[0]


def test_a_clock_of_ones_own_is_left_alone():
    ticks = iter(range(10**9))
    mujoco.set_mjcb_time(lambda: float(next(ticks)))
    try:
        without_timers()
        assert timed()[0] and next(ticks) > 1
    finally:
        mujoco.set_mjcb_time(None)
