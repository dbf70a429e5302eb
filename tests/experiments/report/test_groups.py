"""Seeds taken together, and which group is best."""

from dataclasses import replace

import pytest

from cuprl.errors import UserError
from cuprl.experiments.grid.cells import Block
from cuprl.experiments.report import paper
from cuprl.experiments.report.figures import KINDS
from cuprl.experiments.report.groups import PLAIN_COST, winners
from cuprl.experiments.report.table import report
from cuprl.experiments.report.time_to_safe import levels_of
from experiments.synthetic import groups_of

TWO = ("hopper-speed", "swimmer-speed")
STEPS = 100_000  # 20 iterations
RETURN = "rollout/ep_rew_mean"


def test_runs_without_a_constraint_are_told_by_their_return(tmp_path):
    """Those of an agent, whose spec may have none."""
    (g,) = groups_of(Block(TWO[:1], ("ppo",), (0,), STEPS))
    g = replace(g, limits={})
    assert g.published is None and levels_of(g) == []
    (row,) = report([g]).rows
    assert row == ["hopper-speed", "ppo", f"**{g.returns[0]:.1f}**", "-", "-", "-", "1"]
    with pytest.raises(UserError, match="none of these runs has a constraint; draw their `curves`"):
        KINDS["plane"]([g], tmp_path / "p.png")


def test_a_run_without_an_episode_is_left_out_and_said_to_be():
    cup, cpo = groups_of(Block(TWO[:1], ("cup", "cpo"), (0, 1, 2), STEPS))
    for result in cpo.results:
        result.metrics[RETURN][-1] = 1.0
    cup.results[1].metrics[RETURN][:] = float("nan")
    first, second = (dict(zip(report([cup, cpo]).header, row)) for row in report([cup, cpo]).rows)
    kept = cup.returns[[0, 2]]
    assert first["return"] == f"**{kept.mean():.1f} ± {kept.std():.1f} (2 of 3 seeds)**" and first["seeds"] == "3"
    assert second["return"] == "1.0 ± 0.0"
    for result in cup.results:
        result.metrics[RETURN][:] = float("nan")
    first, second = (dict(zip(report([cup, cpo]).header, row)) for row in report([cup, cpo]).rows)
    assert first["return"] == "unknown" and second["return"] == "**1.0 ± 0.0**"


def test_the_best_is_of_those_held_to_the_same_limits():
    groups = groups_of(Block(TWO[:1], ("cup", "ppo-lag"), (0,), STEPS, sweep=(("limit", ("40", "80")),)))
    for value, g in enumerate(groups):
        g.results[0].metrics[RETURN][-1] = value
    assert sorted(g.label for g in winners(groups)) == ["ppo-lag limit=40", "ppo-lag limit=80"]


def test_plain_sums_are_judged_where_they_are_held_to_the_limit():
    """A discounted cost far within the limit, and a plain one far over it: each group is judged by its own."""
    own, theirs, kept = groups_of(
        Block(TWO[:1], ("cup", "cup-omnisafe"), (0, 1), STEPS),
        Block(TWO[:1], ("cup-omnisafe",), (0, 1), STEPS, settings=(("cost_return", "discounted"),), label="discounted"),
    )
    assert own.safe and kept.safe and not theirs.safe
    assert (theirs.costs() == theirs.costs(PLAIN_COST)).all() and (kept.costs() < kept.costs(PLAIN_COST)).all()
    assert (theirs.plain, theirs.held, own.held) == (True, {"speed": 1.0}, {"speed": 0.99})
    assert theirs not in winners([own, theirs, kept])


def test_the_papers_costs_stand_beside_discounted_ones_alone():
    usual, plain = (
        groups_of(Block(TWO[:1], ("cup",), (0,), paper.STEPS, settings=(("cost_return", kind),)))[0].published
        for kind in ("discounted", "undiscounted")
    )
    assert usual is not None and plain is None


def test_the_best_is_of_those_held_to_the_same_sum():
    own, theirs = groups_of(Block(TWO[:1], ("cup", "cup-omnisafe"), (0,), STEPS, limits=("400",)))
    for value, g in enumerate((own, theirs)):
        g.results[0].metrics[RETURN][-1], g.results[0].metrics[PLAIN_COST][-1] = value, 399.0
    assert winners([own, theirs]) == {own, theirs}
    velocity = groups_of(Block(("hopper-velocity",), ("cup", "cup-omnisafe"), (0,), STEPS))
    for value, g in enumerate(velocity):  # there all limits are on the plain sum
        g.results[0].metrics[RETURN][-1], g.results[0].metrics[PLAIN_COST][-1] = value, 1.0
    assert winners(velocity) == {velocity[1]}
