"""`cup check` on an environment that is sound and on ones broken on purpose: each fault has its sentence."""

import time

import numpy as np
import pytest
from gymnasium import spaces

import cuprl
from cuprl.envs.gymnasium.check import check
from envs.broken import Sound, sound_but

CHANCE = np.random.default_rng(0)


def findings(env, costs="info:cost", **options):
    return check(cuprl.from_gymnasium(env, costs, **{"limits": 5.0, **options}), steps=200)


def kinds(found, kind):
    return " | ".join(finding.sentence for finding in found if finding.kind == kind)


def test_nothing_is_wrong_with_a_sound_one():
    found = findings(Sound)
    assert kinds(found, "wrong") == "" and kinds(found, "note") == ""
    fine = kinds(found, "fine")
    for words in (
        "10 episodes of 20 steps",
        "varies from 0 to 1",
        "the limit asks for something",
        "same seed",
        "microseconds: a million steps",
    ):
        assert words in fine


def high(self):
    return np.array([self.x + 11, 0.0], np.float32)


def short(self):
    return np.zeros(2)


def slow_step(self, action):
    time.sleep(0.006)
    return Sound.step(self, action)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"info": lambda self: {}}, "cost info:cost is missing: info is empty after a step"),
        ({"info": lambda self: {"cost": np.inf}}, "cost 'cost' is inf"),
        ({"obs": high}, "reset gives an observation outside its space: entry 0 is 1"),
        (
            {"obs": lambda self: np.full(2, 1e300), "observation_space": spaces.Box(-np.inf, np.inf, (2,), np.float64)},
            "reset gives an observation that cannot be used (obs[0] is 1e+300, obs[1] is 1e+300); give finite numbers",
        ),
        ({"obs": short}, "ndarray of float64, the space holds arrays of float32; convert it"),
        ({"reward": lambda self: np.nan}, "the reward is nan after 1 steps"),
        ({"length": 0}, "it neither terminates nor truncates"),
        ({"info": lambda self: {"cost": CHANCE.random()}}, "same seed and actions are not the same (later steps differ)"),
        ({"obs": lambda self: CHANCE.random(2).astype(np.float32)}, "(the first observation differs)"),
        ({"observation_space": spaces.Text(4)}, "no vector of a fixed length"),
        ({"reward": lambda self: 1 / 0}, "raised ZeroDivisionError"),
    ],
)
def test_each_fault_has_its_sentence(changes, words):
    task = cuprl.from_gymnasium(sound_but(**changes), limits=5.0)
    assert words in kinds(check(task, steps=1500), "wrong")


def test_a_missing_cost_hides_no_other_fault():
    found = findings(sound_but(info=lambda self: {}, reward=lambda self: np.inf))
    assert "reward is inf" in kinds(found, "wrong") and "is missing" in kinds(found, "wrong")
    assert "same seed" in kinds(found, "fine")


@pytest.mark.parametrize(
    ("env", "options", "words"),
    [
        (Sound, {"costs": {"c": lambda o, a, n, i: 0}}, "cost 'c' is always 0 under random actions"),
        (Sound, {"costs": {"c": lambda o, a, n, i: 2}}, "cost 'c' is always 2 "),
        (Sound, {"costs": {"c": lambda o, a, n, i: n[0]}}, "a negative cost pays for others"),
        (Sound, {"limits": 50.0}, "limit 50: random actions keep it; it may never bind"),
        (Sound, {"horizon": 500}, "10 episodes"),
        (sound_but(step=slow_step), {}, "That is slow"),
        (sound_but(length=0), {}, "no episode ended in 200 steps"),
        (
            sound_but(action_space=spaces.Box(0.0, 100.0, (1,)), step=lambda self, a: Sound.step(self, 1)),
            {},
            "RescaleAction",
        ),
        (
            sound_but(action_space=spaces.Box(0.0, np.inf, (1,)), step=lambda self, a: Sound.step(self, 1)),
            {},
            "clipped to the bounds; give each finite bounds.",
        ),
    ],
)
def test_what_is_only_noted(env, options, words):
    found = findings(env, **options)
    assert kinds(found, "wrong") == ""
    assert words in kinds(found, "note") + kinds(found, "fine")


def test_one_that_writes_over_its_observation_is_judged_by_both(tmp_path):
    class Reuses(Sound):
        def obs(self):
            self.buffer = getattr(self, "buffer", np.zeros(2, np.float32))
            self.buffer[:] = super().obs()
            return self.buffer

        def close(self):
            (tmp_path / "closed").touch()

    found = findings(Reuses, {"moved": lambda o, a, n, i: abs(n[0] - o[0])})
    assert "cost 'moved' is finite and varies from 0 to 0.1" in kinds(found, "fine") and kinds(found, "wrong") == ""
    assert (tmp_path / "closed").exists()
