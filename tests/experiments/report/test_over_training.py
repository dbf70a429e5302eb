"""Pictures over training: what a band is, who has which colour, and who has a multiplier."""

import numpy as np
import pytest

from cuprl.errors import UserError
from cuprl.experiments.grid.cells import Block
from cuprl.experiments.report.drawing import COLOURS
from cuprl.experiments.report.over_training import late_range, unit_of_steps
from experiments.report.test_figures import STEPS, drawn
from experiments.synthetic import groups_of


@pytest.mark.parametrize(
    "seeds, words", [(1, "line: one seed; dashed"), (3, "mean over 3 seeds; band: lowest to highest"), (5, "95% bootstrap")]
)
def test_curves_say_what_the_band_is(seeds, words, tmp_path):
    groups = groups_of(Block(("hopper-speed", "swimmer-speed"), ("cup", "ppo"), tuple(range(seeds)), STEPS))
    texts, picture = drawn("curves", groups, tmp_path)
    assert any(words in text for text in texts) and {"cup", "ppo", "hopper-speed", "82.75", "24.52", "return"} <= set(texts)
    assert picture.count("FillBetween") == (8 if seeds > 1 else 0)  # two tasks, two algorithms, two rows


def test_runs_without_a_row_have_no_unit_of_steps():
    (one,) = groups_of(Block(("hopper-speed",), ("cup",), (0,), STEPS))
    one.results[0].metrics["steps"] = one.results[0].metrics["steps"][:0]
    assert unit_of_steps([one]) == (1.0, "")


@pytest.mark.parametrize("steps, unit", [(15_000, " (thousands)"), (400_000, " (millions)")])
def test_the_axis_of_steps_suits_them(steps, unit, tmp_path):
    texts, _ = drawn("curves", groups_of(Block(("hopper-speed",), ("cup",), (0,), steps)), tmp_path)
    assert f"environment steps{unit}" in " ".join(texts)


def test_an_algorithm_keeps_its_colour(tmp_path):
    for algos in (("ppo", "cup"), ("cup", "focops")):
        _, picture = drawn("curves", groups_of(Block(("hopper-speed",), algos, (0,), STEPS)), tmp_path)
        assert COLOURS[0].lower() in picture


def test_nu_is_of_those_that_have_one(tmp_path):
    texts, _ = drawn("nu", groups_of(Block(("hopper-speed",), ("cup", "ppo"), (0,), STEPS)), tmp_path)
    assert "cup" in texts and "ppo" not in texts
    with pytest.raises(UserError, match="draw the `curves`"):
        drawn("nu", groups_of(Block(("hopper-speed",), ("ppo",), (0,), STEPS)), tmp_path)


def test_the_scale_of_costs_is_that_of_the_late_training_and_of_the_limits():
    early = np.array([[900.0, 30.0, *np.linspace(20.0, 22.0, 18)]])
    assert late_range([early], [25.0]) == pytest.approx((20.0 - 0.08 * 5.0, 25.0 + 0.08 * 5.0))
    assert late_range([np.full((2, 20), np.nan)], [25.0]) == (25.0 - 0.08, 25.0 + 0.08)  # no episode has ended
    assert late_range([np.full((1, 20), np.nan)], []) is None


def test_a_panel_without_anything_says_why(tmp_path):
    groups = groups_of(Block(("hopper-speed",), ("cup",), (0,), STEPS))
    assert "no episode has ended" not in drawn("curves", groups, tmp_path)[0]
    groups[0].results[0].metrics["rollout/ep_rew_mean"][:] = np.nan
    assert drawn("curves", groups, tmp_path)[0].count("no episode has ended") == 1  # the cost has its line
