"""Environments stepped one after the other, as one vector environment."""

import gymnasium
import numpy as np
import pytest

import cuprl
from cuprl.core.actions import Discrete
from cuprl.envs import make
from cuprl.errors import UserError
from envs.broken import Sound, sound_but


def test_a_step_is_what_the_environments_do_one_by_one():
    def moved(obs, action, next_obs, info):
        return 100 * (next_obs[0] - obs[0]) + action

    env = make(cuprl.from_gymnasium("CartPole-v1", {"moved": moved}, 5.0, horizon=25), 3, seed=4)
    assert env.spec.horizon == 25 and env.spec.action == Discrete(2) and env.spec.obs_dim == 4
    singles = [gymnasium.make("CartPole-v1") for _ in range(3)]
    generators = [np.random.default_rng(4 + i) for i in range(3)]
    last = [e.reset(seed=int(g.integers(2**31)))[0] for e, g in zip(singles, generators)]
    t, ends = np.zeros(3, int), set()
    rng = np.random.default_rng(0)
    for _ in range(120):
        action = rng.integers(0, 2, 3)
        step = env.step(action)
        for i, single in enumerate(singles):
            obs, reward, terminated, _, _ = single.step(action[i])
            t[i] += 1
            np.testing.assert_array_equal(step.next_obs[i], obs)
            assert step.cost[i, 0] == pytest.approx(100 * (obs[0] - last[i][0]) + action[i])
            assert (step.reward[i], step.terminated[i], step.truncated[i]) == (reward, terminated, t[i] >= 25)
            if terminated or t[i] >= 25:
                obs, t[i] = single.reset(seed=int(generators[i].integers(2**31)))[0], 0
                ends.add(bool(terminated))
            np.testing.assert_array_equal(step.obs[i], obs)
            last[i] = obs
    assert ends == {True, False}


@pytest.mark.parametrize("backend", ["sync", "async"])
def test_every_environment_is_closed_once(backend, tmp_path):
    class Closes(Sound):
        def close(self):
            with (tmp_path / "closed").open("a") as file:
                file.write("x")

    env = make(cuprl.from_gymnasium(Closes, limits=5.0, backend=backend), 3, threads=2)
    assert not (tmp_path / "closed").exists()
    for _ in range(2):
        env.close()
        assert (tmp_path / "closed").read_text() == "xxx"
    for call in (lambda: env.reset(0), lambda: env.step(np.zeros(3, int))):
        with pytest.raises(UserError, match="are closed"):
            call()


def test_one_environment_in_the_place_of_several_is_refused():
    one = Sound()
    task = cuprl.from_gymnasium(lambda: one, limits=5.0)
    with pytest.raises(UserError, match="gave an environment that is still in use; make a new one in each call"):
        make(task, 2)
    alone = make(task, 1)
    with pytest.raises(UserError, match="still in use"):  # as an evaluation beside the training
        make(task, 1)
    alone.close()
    make(task, 1).close()


def test_what_goes_wrong_in_closing_is_only_told():
    env = make(cuprl.from_gymnasium(sound_but(close=lambda self: 1 / 0), limits=5.0))
    with pytest.warns(UserWarning, match="close of SoundBut raised ZeroDivisionError"):
        env.close()
