"""A grid's cells: chosen, checked before anything runs, and not taken for others."""

from dataclasses import replace
from pathlib import Path

import pytest

from cuprl.errors import UserError
from cuprl.experiments.grid.cells import expand
from cuprl.experiments.grid.shipped import find
from cuprl.training.train import train
from experiments.tiny import BLOCK, SMALL, TINY
from small import QUIET


def test_a_part_of_a_grid():
    baselines, alpha = find("baselines"), find("paper-alpha")
    assert len(expand(baselines, "task=hopper-speed,algo=cup")) == 2
    assert {cell.algo for cell in expand(baselines, "algo=cup,algo=cpo")} == {"cup", "cpo"}
    (one,) = expand(alpha, "task=ant-speed,variant=alpha=0.15,seed=3")
    assert one.path(Path("r")) == Path("r/ant-speed/cup/alpha=0.15/seed3") and ("alpha", "0.15") in one.settings
    assert len(expand(alpha, "task=ant-speed,seed=1..3")) == 15
    for only, words in (
        ("algo=cap", "did you mean cup"),
        ("speed=1", "give task="),
        ("seed=9", "unknown seed"),
        ("task=ant-speed,variant=limit=10", "no run of paper-limit is all of"),
    ):
        with pytest.raises(UserError, match=words):
            expand(find("paper-limit"), only)


@pytest.mark.parametrize(
    "change, words",
    [
        ({"tasks": ("hoper-speed",)}, "did you mean hopper-speed"),
        ({"algos": ("cap",)}, "did you mean cup"),
        ({"settings": (("alhpa", "1"),)}, "did you mean alpha"),
        ({"settings": (("alpha", "much"),)}, "give a number"),
        ({"limits": ("much",)}, "give a number"),
        ({"limits": ("force=3",)}, "unknown constraint"),
        ({"limits": ("nan",)}, "finite"),
        ({"steps": 100}, "less than one batch"),
        ({"seeds": (-1,)}, "whole number from 0"),
        ({"seeds": (1, 1)}, "seed 1 twice"),
        ({"sweep": (("alpha", ("0.1", "0.1")),)}, "alpha=0.1 seed 0 twice"),
        ({"sweep": (("alpha", ("0.1", "1e-1")),)}, "alpha=0.1 seed 0 and .* alpha=1e-1 seed 0 are the same run"),
        ({"algos": ("cup", "cpo"), "sweep": (("alpha", ("0.1",)),)}, "unknown setting of cpo"),
    ],
)
def test_every_cell_is_checked_before_anything_runs(change, words):
    with pytest.raises(UserError, match=words):
        expand(replace(TINY, blocks=(replace(BLOCK, **change),)))


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
