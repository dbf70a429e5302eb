"""A grid's cells: a run folder that was made otherwise is not taken for one of them."""

from dataclasses import replace

import pytest

from cuprl.algorithms import ALGORITHMS
from cuprl.errors import UserError
from cuprl.experiments.grid.expand import expand
from cuprl.training.train import train
from experiments.tiny import SMALL, TINY
from small import QUIET


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A cell whose run is finished, and the folder of all runs."""
    cell, root = expand(TINY)[0], tmp_path_factory.mktemp("runs")
    train("hopper-speed", steps=600, out=cell.path(root), **dict(SMALL), **QUIET)
    return cell, root


def test_a_run_with_other_settings_does_not_pass_for_this_one(trained):
    cell, root = trained
    assert cell.fraction(root) == 1.0
    for change, words in (
        ({"steps": 800}, "steps 600, not 800"),
        ({"settings": (*SMALL, ("alpha", "0.9"))}, "alpha 0.2, not 0.9"),
        ({"limits": ("3",)}, "speed 82.748, not 3"),
    ):
        with pytest.raises(UserError, match=words):
            replace(cell, **change).fraction(root)


def test_a_run_with_other_numerics_does_not_either(trained, monkeypatch):
    cell, root = trained
    now = ALGORITHMS["cup"].numerics
    monkeypatch.setitem(ALGORITHMS, "cup", ALGORITHMS["cup"]._replace(numerics=now + 1))
    with pytest.raises(UserError, match=rf"was made with numerics {now} of cup, now {now + 1}"):
        cell.fraction(root)
