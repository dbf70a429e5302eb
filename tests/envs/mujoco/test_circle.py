"""The circle tasks against a plain, slow re-statement of their formulas on a single MjData."""

import mujoco
import numpy as np
import pytest

from cuprl.envs import make

SLOW = {  # xml, x_lim, noise, alive
    "humanoid-circle": ("humanoid.xml", 2.5, lambda z: 1.0 < z < 2.0),
    "ant-circle": ("ant.xml", 3.0, lambda z: 0.2 <= z <= 1.0),
}


def place(model, data, task):
    if task == "ant-circle":
        return data.xpos[1][:2].copy()
    return np.array([sum(model.body_mass[b] * data.xipos[b, i] for b in range(model.nbody)) for i in (0, 1)]) / sum(
        model.body_mass
    )


@pytest.mark.parametrize("task", SLOW)
def test_circle_against_its_formulas(task):
    _, x_lim, alive = SLOW[task]
    env = make(task, 2, seed=3)
    model = env.physics.model
    dt = 5 * model.opt.timestep
    rng = np.random.default_rng(0)
    obs = env.reset(3)
    costs = set()
    data = mujoco.MjData(model)
    for i in range(2):  # on the circle
        assert np.hypot(*env.physics.qpos[i, :2]) == pytest.approx(10.0)
    data.qpos[:], data.qvel[:] = env.physics.qpos[0], env.physics.qvel[0]
    mujoco.mj_forward(model, data)
    np.testing.assert_array_equal(obs[0, : model.nq + model.nv], np.concatenate((data.qpos, data.qvel)))
    episodes = 0
    for _ in range(700):
        action = rng.normal(size=(2, model.nu)) * 1.5
        before = place(model, data, task)
        step = env.step(action)
        data.ctrl[:] = action[0]
        for _ in range(5):
            mujoco.mj_step(model, data)
        x, y = place(model, data, task)
        vx, vy = (np.array([x, y]) - before) / dt
        reward = (-vx * y + vy * x) / (1 + abs(np.hypot(x, y) - 10))
        assert step.reward[0] == pytest.approx(reward, rel=1e-9, abs=1e-9)
        assert step.cost[0, 0] == float(abs(x) > x_lim)
        costs.add(step.cost[0, 0])
        assert step.terminated[0] == (not alive(data.qpos[2]))
        if step.terminated[0]:
            episodes += 1
            mujoco.mj_resetData(model, data)
            data.qpos[:], data.qvel[:] = env.physics.qpos[0], env.physics.qvel[0]
            mujoco.mj_forward(model, data)
    assert episodes > 0 and costs >= {1.0}


def test_about_four_starts_in_five_are_unsafe():
    env = make("humanoid-circle", 400, seed=0)
    share = (np.abs(env.physics.qpos[:, 0]) > 2.5).mean()
    assert share == pytest.approx(1 - 2 * np.arcsin(0.25) / np.pi, abs=0.06)
