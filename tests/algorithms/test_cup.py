"""CUP as it is named: the printed one, the recommended one, those of other codes; its losses and update stand beside."""

import json
from pathlib import Path

import numpy as np
import pytest

from cuprl import algorithms
from cuprl.algorithms import cup
from cuprl.errors import UserError
from cuprl.training.display import Silent
from cuprl.training.train import train


def test_presets_are_the_columns_of_other_codes():
    _, printed = algorithms.load("cup-paper")
    assert printed == cup.Config()
    assert (printed.improvement, printed.projection_kl, printed.multiplier_max) == ("sqrt-kl", "half-new", 2.0)
    _, released = algorithms.load("cup-clip")
    assert (released.improvement, released.projection_kl, released.epochs) == ("clip", "new-half", 10)
    _, omnisafe = algorithms.load("cup-omnisafe")
    assert (omnisafe.cost_return, omnisafe.cost_window, omnisafe.multiplier, omnisafe.projection_delta) == (
        "undiscounted",
        100,
        "adam",
        0.01,
    )
    _, safepo = algorithms.load("cup-safepo", {"alpha": 0.5})
    assert (safepo.multiplier_max, safepo.cost_window, safepo.projection_delta, safepo.alpha) == (0.2, 50, 0.02, 0.5)


def test_a_floor_under_the_noise_has_two_ends():
    assert cup.Config(noise_floor=(0.3, 0.2)).noise_floor == (0.3, 0.2)
    for wrong, words in (((0.3,), "give two numbers"), ((0.3, 0.0), "give 0.001 to 1e3")):
        with pytest.raises(UserError, match=words):
            cup.Config(noise_floor=wrong)


def test_the_recommended_cup_is_the_printed_one_with_every_part_mended():
    _, recommended = algorithms.load("cup")
    for part in algorithms.MENDED.values():
        for name, value in part.items():
            assert getattr(recommended, name) == value != getattr(cup.Config(), name)


def test_the_printed_cup_is_that_of_before_it_got_its_name(tmp_path):
    """Against the metrics of three iterations of `cup` as it was, but for the last bits: they are the processor's."""
    before = json.loads(Path(__file__).with_name("printed_cup.json").read_text())
    now = train("hopper-speed", "cup-paper", steps=3000, batch_size=1000, out=tmp_path / "run", display=Silent()).progress()
    for name, values in before["metrics"].items():
        np.testing.assert_allclose(now[name], values, rtol=1e-4, atol=1e-5, err_msg=name)
