"""Our robots are Gymnasium's to the last bit: qpos, qvel, observation and reward, over whole episodes with resets."""

import gymnasium
import numpy as np
import pytest

from cuprl.envs import make

NO_CONTACT = {"include_cfrc_ext_in_observation": False, "contact_cost_weight": 0}
ORACLES = {
    "hopper-speed": ("Hopper-v5", {}),
    "ant-speed": ("Ant-v5", NO_CONTACT),
    "swimmer-speed": ("Swimmer-v5", {}),
    "humanoid-speed": ("Humanoid-v5", NO_CONTACT),
    "halfcheetah-speed": ("HalfCheetah-v5", {}),
    "walker2d-speed": ("Walker2d-v5", {}),
}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("task", ORACLES)
def test_bit_equal_to_gymnasium(task, threads):
    name, options = ORACLES[task]
    num_envs, steps = 3, 1010  # past the time limit, so that truncation and its reset are seen too
    seed = 100 * threads
    env = make(task, num_envs, seed, threads)
    oracles = [gymnasium.make(name, **options) for _ in range(num_envs)]
    assert env.spec.step_seconds == oracles[0].unwrapped.dt
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
