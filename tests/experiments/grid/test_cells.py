"""A grid's cells: a run folder that was made otherwise is not taken for one of them."""

from dataclasses import replace

import pytest

from cuprl.errors import UserError
from cuprl.experiments.grid.expand import expand
from cuprl.training.train import train
from experiments.tiny import SMALL, TINY
from small import QUIET


def test_a_run_with_other_settings_does_not_pass_for_this_one(tmp_path):
    cell = expand(TINY)[0]
    train("hopper-speed", steps=600, out=cell.path(tmp_path), **dict(SMALL), **QUIET)
    assert cell.fraction(tmp_path) == 1.0
    for change, words in (
        ({"steps": 800}, "steps 600, not 800"),
        ({"settings": (*SMALL, ("alpha", "0.9"))}, "alpha 0.2, not 0.9"),
        ({"limits": ("3",)}, "speed 82.748, not 3"),
    ):
        with pytest.raises(UserError, match=words):
            replace(cell, **change).fraction(tmp_path)
