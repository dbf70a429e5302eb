"""The tasks as Gymnasium environments, and the exact continuation of the vector environment."""

from dataclasses import replace

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import cuprl  # noqa: F401  (registers the ids)
from cuprl.core.registration import IDS
from cuprl.envs import TASKS, make
from cuprl.errors import UserError


@pytest.mark.parametrize("identifier", IDS)
def test_passes_gymnasiums_own_checker(identifier):
    env = gymnasium.make(identifier)
    check_env(env.unwrapped, skip_render_check=True)
    env.reset(seed=1)
    _, _, _, _, info = env.step(env.action_space.sample())
    assert isinstance(info["cost"], float)


def test_make_vec_steps_all_at_once_and_says_where_episodes_ended():
    env = gymnasium.make_vec("cuprl/HopperSpeed-v0", num_envs=4)
    single = [gymnasium.make("cuprl/HopperSpeed-v0") for _ in range(4)]
    obs, _ = env.reset(seed=7)
    np.testing.assert_array_equal(obs, [e.reset(seed=7 + i)[0] for i, e in enumerate(single)])
    rng = np.random.default_rng(0)
    ended = 0
    for _ in range(120):
        action = rng.uniform(-1, 1, (4, 3)).astype(np.float32)
        obs, reward, terminated, _, info = env.step(action)
        for i, e in enumerate(single):
            expected, r, end, _, single_info = e.step(action[i])
            assert (reward[i], terminated[i], info["cost"][i]) == (r, end, single_info["cost"])
            if end:
                ended += 1
                np.testing.assert_array_equal(info["final_obs"][i], expected)
                expected, _ = e.reset()
            np.testing.assert_array_equal(obs[i], expected)
    assert ended > 0


@pytest.mark.parametrize("task", TASKS)
def test_state_put_back_continues_to_the_last_bit(task):
    a, b = make(task, 3, seed=1), make(task, 3, seed=99)
    actions = np.random.default_rng(0).normal(size=(60, 3, a.spec.action.dim)).astype(np.float32)
    for action in actions[:25]:
        a.step(action)
    np.testing.assert_array_equal(b.set_state(a.get_state()), a.get_state()["obs"])
    for action in actions[25:]:
        for x, y in zip(a.step(action), b.step(action)):
            np.testing.assert_array_equal(x, y)


def test_without_a_seed_no_two_environments_are_alike():
    a, b = (gymnasium.make("cuprl/HopperSpeed-v0").reset()[0] for _ in range(2))
    assert (a != b).any()


def test_a_task_may_give_live_views_of_the_physics():
    views = replace(TASKS["swimmer-speed"], position=lambda p: p.qpos[:, :2], observe=lambda p: p.qpos_qvel[:, 2:])
    ours, theirs = make("swimmer-speed", 2, seed=1), make(views, 2, seed=1)
    for _ in range(1001):  # past the reset at the horizon
        action = np.ones((2, 2), np.float32)
        for x, y in zip(ours.step(action), theirs.step(action)):
            np.testing.assert_array_equal(x, y)


def test_other_limits_by_name_or_by_number():
    assert make("hopper-speed", limits=10).spec.limits == [10.0]
    assert make("hopper-speed", limits={"speed": 11.0}).spec.limits == [11.0]
    for limits, words in (({"sped": 1.0}, "speed"), (float("nan"), "finite")):
        with pytest.raises(UserError, match=words):
            make("hopper-speed", limits=limits)
    with pytest.raises(UserError, match="did you mean hopper-speed"):
        make("hoper-speed")
