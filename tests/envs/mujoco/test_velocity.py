"""The velocity tasks are Gymnasium's v4 robots with a cost for each fast step."""

import gymnasium
import numpy as np
import pytest

from cuprl.envs import make

V4 = {  # oracle, Safety-Gymnasium's threshold, whether it is on the plane norm
    "hopper-velocity": ("Hopper-v4", 0.7402, False),
    "ant-velocity": ("Ant-v4", 2.6222, True),
    "swimmer-velocity": ("Swimmer-v4", 0.2282, False),
    "humanoid-velocity": ("Humanoid-v4", 1.4149, True),
    "halfcheetah-velocity": ("HalfCheetah-v4", 3.2096, False),
    "walker2d-velocity": ("Walker2d-v4", 2.3415, False),
}


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
