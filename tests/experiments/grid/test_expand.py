"""Choosing the cells of a grid: parts of it, and what is refused before anything runs."""

from dataclasses import replace
from pathlib import Path

import pytest

from cuprl.errors import UserError
from cuprl.experiments.grid.expand import expand
from cuprl.experiments.grid.shipped import find
from experiments.tiny import BLOCK, SMALL, TINY


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


def test_seeds_that_differ_in_more_are_refused():
    other = replace(BLOCK, seeds=(2, 3), settings=(*SMALL, ("alpha", "0.3")))
    with pytest.raises(UserError, match=r"seed 0 and .* seed 2 differ in more than the seed"):
        expand(replace(TINY, blocks=(BLOCK, other)))
