"""Settings: read from words and JSON, and held to what they accept."""

import dataclasses

import numpy as np
import pytest

from cuprl.errors import UserError
from cuprl.learn.fields import configure, setting
from cuprl.learn.settings import Common


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"alpa": 1}, "alpa"),
        ({"gamma": 2.0}, "gamma is 2.0; give 0 to 1"),
        ({"gamma": float("nan")}, "gamma is nan; give 0 to 1"),
        ({"hidden": [64, "a"]}, "hidden is 'a'; give a whole number"),
        ({"hidden": [64, None]}, "hidden is 64,None; give 1 to 1e5"),
        ({"normalise": 3}, "normalise is 3; give true or false"),
        ({"critic_lr": None}, "critic_lr is None; give 0 or more"),
        ({"gamma": "much"}, "a number"),
        ({"batch_size": "1.5"}, "whole number"),
        ({"time_limits": "no"}, "bootstrap"),
    ],
)
def test_wrong_settings_are_named(changes, words):
    with pytest.raises(UserError, match=words):
        configure(Common, changes, "x")


def test_a_config_of_ones_own_is_held_to_its_ranges():
    @dataclasses.dataclass(frozen=True)
    class Config(Common):
        price: float = setting(0.2, "what cost costs", "more than 0")

    assert Config(price=1e-9).price == 1e-9
    with pytest.raises(UserError, match="price is 0; give more than 0"):
        configure(Config, {"price": 0}, "x")
    with pytest.raises(ValueError, match="no range"):
        setting(0.2, "what cost costs", "positive")


def test_settings_from_words_and_from_json():
    config = configure(Common, {"hidden": "32,16", "anneal": "no", "minibatch": 1}, "x")
    assert config.hidden == (32, 16) and config.anneal is False
    assert configure(Common, {"hidden": [32, 16]}, "x").hidden == (32, 16)


def test_numbers_of_numpy_are_plain_ones_in_a_config():
    """config.json has them."""
    given = {"hidden": [np.int64(32)], "minibatch": np.int32(8), "lam": np.float32(0.5), "anneal": np.bool_(False)}
    config = configure(Common, given, "x")
    assert {name: getattr(config, name) for name in given} == {**given, "hidden": (32,)}
    assert [type(x) for x in (*config.hidden, config.minibatch, config.lam, config.anneal)] == [int, int, float, bool]
