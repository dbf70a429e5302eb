"""Our robots are Gymnasium's to the last bit: qpos, qvel, observation and reward, over whole episodes with resets."""

import gymnasium
import mujoco
import numpy as np
import pytest

from cuprl.envs import make
from cuprl.envs.mujoco.model import without_islands, without_timers

NO_CONTACT = {"include_cfrc_ext_in_observation": False, "contact_cost_weight": 0}
ORACLES = {
    "hopper-speed": ("Hopper-v5", {}),
    "ant-speed": ("Ant-v5", NO_CONTACT),
    "swimmer-speed": ("Swimmer-v5", {}),
    "humanoid-speed": ("Humanoid-v5", NO_CONTACT),
    "halfcheetah-speed": ("HalfCheetah-v5", {}),
    "walker2d-speed": ("Walker2d-v5", {}),
}
V4 = {  # oracle, Safety-Gymnasium's threshold, whether it is on the plane norm
    "hopper-velocity": ("Hopper-v4", 0.7402, False),
    "ant-velocity": ("Ant-v4", 2.6222, True),
    "swimmer-velocity": ("Swimmer-v4", 0.2282, False),
    "humanoid-velocity": ("Humanoid-v4", 1.4149, True),
    "halfcheetah-velocity": ("HalfCheetah-v4", 3.2096, False),
    "walker2d-velocity": ("Walker2d-v4", 2.3415, False),
}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("task", ORACLES)
def test_bit_equal_to_gymnasium(task, threads):
    name, options = ORACLES[task]
    num_envs, steps = 3, 1010  # past the time limit, so that truncation and its reset are seen too
    seed = 100 * threads
    env = make(task, num_envs, seed, threads)
    oracles = [gymnasium.make(name, **options) for _ in range(num_envs)]
    obs = env.reset(seed)
    np.testing.assert_array_equal(obs, [oracle.reset(seed=seed + i)[0] for i, oracle in enumerate(oracles)])
    rng = np.random.default_rng(seed)
    ended = 0
    for _ in range(steps):
        action = rng.normal(size=(num_envs, env.spec.action.dim)).astype(np.float32)  # beyond the actuators too
        step = env.step(action)
        for i, oracle in enumerate(oracles):
            next_obs, reward, terminated, truncated, info = oracle.step(action[i])
            np.testing.assert_array_equal(step.next_obs[i], next_obs)
            assert step.reward[i] == reward
            assert (step.terminated[i], step.truncated[i]) == (terminated, truncated)
            speed = np.hypot(info["x_velocity"], info.get("y_velocity", 0.0))
            np.testing.assert_allclose(step.cost[i], [speed], rtol=1e-13)
            if terminated or truncated:
                ended += 1
                next_obs, _ = oracle.reset()
            np.testing.assert_array_equal(step.obs[i], next_obs)
            data = oracle.unwrapped.data
            np.testing.assert_array_equal(env.physics.qpos[i], data.qpos)
            np.testing.assert_array_equal(env.physics.qvel[i], data.qvel)
    assert ended >= num_envs


@pytest.mark.parametrize("task", V4)
def test_velocity_tasks_are_v4_robots_with_a_cost_for_each_fast_step(task):
    name, threshold, plane = V4[task]
    env = make(task, 1, seed=5)
    oracle = gymnasium.make(name)
    env.reset(5)
    oracle.reset(seed=5)
    rng = np.random.default_rng(5)
    fast, ended = 0, 0
    for k in range(1200):
        if k % 100 == 20:  # a push, so that every robot is too fast now and then
            env.physics.qvel[0, 0] = oracle.unwrapped.data.qvel[0] = 2.0 * threshold
        action = rng.normal(size=env.spec.action.dim).astype(np.float32)
        step = env.step(action[None])
        next_obs, reward, terminated, truncated, info = oracle.step(action)
        if task != "humanoid-velocity":  # ours leaves out the entries that are always zero, and the contact forces
            np.testing.assert_array_equal(step.next_obs[0], next_obs)
        assert step.reward[0] == reward
        assert (step.terminated[0], step.truncated[0]) == (terminated, truncated)
        speed = np.hypot(info["x_velocity"], info["y_velocity"]) if plane else info["x_velocity"]
        assert step.cost.tolist() == [[float(speed > threshold)]]
        fast += int(step.cost[0, 0])
        if terminated or truncated:
            ended += 1
            oracle.reset()
        np.testing.assert_array_equal(env.physics.qpos[0], oracle.unwrapped.data.qpos)
    assert ended
    assert 0 < fast < 1200


def test_two_constraints_stand_side_by_side():
    hopper, ant = make("hopper-speed-effort", 2, seed=1), make("ant-speed-height", 2, seed=1)
    action = np.array([[2.0, -0.5, 0.1], [0.0, 0.0, -3.0]], np.float32)  # what the motors get is clamped to ±1
    step, plain = hopper.step(action), make("hopper-speed", 2, seed=1).step(action)
    np.testing.assert_array_equal(step.next_obs, plain.next_obs)
    np.testing.assert_array_equal(step.cost[:, :1], plain.cost)
    np.testing.assert_allclose(step.cost[:, 1], [1.0 + 0.25 + 0.01, 1.0], rtol=1e-6)
    step = ant.step(np.zeros((2, 8), np.float32))
    np.testing.assert_array_equal(step.cost[:, 1], step.next_obs[:, 0])  # z leads Ant's observation


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
