"""The fuller statistics, where runs are missing, uneven or unknown."""

from dataclasses import replace

import numpy as np
import pytest

from cuprl.experiments.grid.cells import Block
from cuprl.experiments.report import formats, paper, stats_records, stats_table, table
from cuprl.experiments.report.groups import winners
from experiments.synthetic import groups_of, made_up_by

TWO = ("hopper-speed", "swimmer-speed")
STEPS = 100_000  # 20 iterations
RETURN, COST = "rollout/ep_rew_mean", "rollout/ep_cost_mean"


def facts_of(groups):
    return {(f["task"], f["algorithm"], f["statistic"]): f for f in stats_records.records(groups, "cup")}


def titled(groups, title):
    (found,) = (t for t in stats_table.tables(stats_records.records(groups, "cup")) if t.title == title)
    return found


def test_comparisons_say_their_tasks_where_they_differ():
    both, one = Block(TWO, ("cup", "ppo-lag"), (0, 1), STEPS), Block(TWO[:1], ("focops",), (0, 1), STEPS)
    same = titled(groups_of(both), "Probability of improvement")
    assert same.header[:2] == ["algorithm", "better return"] and "(hopper-speed + swimmer-speed)" in same.note
    different = titled(groups_of(both, one), "Probability of improvement")
    assert [row[:2] for row in different.rows] == [
        ["cup > ppo-lag", "hopper-speed + swimmer-speed"],
        ["cup > focops", "hopper-speed"],
    ]
    assert different.header[1] == "tasks" and "(of those in its line)" in different.note


def test_uneven_tasks_are_said():
    block = Block(TWO, ("cup", "ppo-lag"), (0, 1, 2), paper.STEPS)
    even = titled(groups_of(block), "Over tasks")
    assert "weighs" not in even.note and [row[-1] for row in even.rows] == ["6", "6"]
    fewer = lambda cell: cell.task == TWO[1] and cell.algo == "ppo-lag" and cell.seed > 0  # noqa: E731
    uneven = titled(groups_of(block, leave_out=fewer), "Over tasks")
    assert "A task weighs by its number of runs" in uneven.note
    assert [row[-1] for row in uneven.rows] == ["6", "4 (3 + 1)"]


def test_seeds_that_never_rise_are_counted_out():
    groups = groups_of(Block(TWO[:1], ("cup",), (0, 1, 2), STEPS))
    groups[0].results[0].metrics[RETURN][-1] = -1.0
    shown, *_ = stats_table.tables(stats_records.records(groups, "cup"))
    row = dict(zip(shown.header, shown.rows[0]))
    assert row["steps to 90%"].endswith(" (2 seeds)") and row["seeds"] == "3" and "seeds" not in row["return IQM"]
    assert "end above where they began" in shown.note


def test_an_unknown_end_is_neither_safe_nor_won():
    groups = groups_of(Block(TWO[:1], ("cup", "ppo-lag"), (0, 1), STEPS))
    cup, lag = groups
    for column in (RETURN, COST):
        cup.results[0].metrics[column][-1] = np.nan
    facts = facts_of(groups)
    broken, better = (facts[TWO[0], *key] for key in (("cup", "broken at the end"), ("cup > ppo-lag", "better return")))
    assert broken["runs"] == 1 and better["runs"] == 3
    assert facts[TWO[0], "cup", "return IQM"]["value"] == cup.returns[1]
    cup.results[1].metrics[COST][-1] = np.nan
    facts = facts_of(groups)
    assert (TWO[0], "cup", "broken at the end") not in facts and (TWO[0], "cup > ppo-lag", "better return") not in facts
    shown, *_ = stats_table.tables(list(facts.values()))
    assert shown.header[4:8] == ["return IQM", "cost IQM", "plain cost IQM", "broken at the end"]
    assert shown.rows[0][4:8] == ["-"] * 4 and shown.rows[0][-1] == "2" and "nan" not in str(shown.rows)
    assert lag in winners(groups) and cup not in winners(groups)
    assert table.report(groups).rows[0][2:4] == ["unknown"] * 2 and "nan" not in str(table.report(groups).rows)


@pytest.mark.filterwarnings("error")
def test_a_limit_of_zero_divides_nothing():
    groups = [
        replace(g, limits=dict.fromkeys(g.limits, 0.0)) if g.task == TWO[0] else g
        for g in groups_of(Block(TWO, ("cup",), (0, 1), STEPS))
    ]
    facts = facts_of(groups)
    both = " + ".join(TWO)
    assert facts[both, "cup", "broken at the end"]["value"] == 0.5 and (both, "cup", "cost / limit") not in facts


def test_the_fuller_statistics():
    groups = made_up_by(cup=(0.9, 100.0), ppo_lag=(1.1, 900.0))
    facts = {(f["task"], f["algorithm"], f["statistic"]): f for f in stats_records.records(groups, "cup")}
    both = "hopper-speed + swimmer-speed"
    assert facts["hopper-speed", "ppo-lag", "broken at the end"]["value"] == 1.0
    assert 0 < facts["hopper-speed", "ppo-lag", "training over"]["value"] < 1
    assert facts["hopper-speed", "cup", "training over"]["value"] == 0.0
    assert facts[both, "cup", "cost / limit"]["value"] == pytest.approx(0.9, abs=1e-4)
    assert facts[both, "cup > ppo-lag", "better return"]["value"] == 0.0
    assert facts[both, "cup > ppo-lag", "better safe return"]["value"] == 1.0
    steps = facts["hopper-speed", "cup", "steps to 90%"]["value"]
    assert 0.3 * paper.STEPS < steps < 0.6 * paper.STEPS  # 1 - exp(-5 x) is at 90% of its end at x = 0.45
    text = formats.to_markdown(stats_table.tables(list(facts.values())))
    assert "**Over tasks**" in text and "| cup > ppo-lag | 0.00 [0.00, 0.00] |" in text and "{task}" not in text


def test_plain_sums_are_judged_where_they_are_held_to_the_limit():
    groups = groups_of(Block(TWO[:1], ("cup", "cup-omnisafe"), (0, 1), STEPS, limits=("300",)))
    facts = facts_of(groups)
    for algo, broken in (("cup", 0.0), ("cup-omnisafe", 1.0)):
        assert facts[TWO[0], algo, "broken at the end"]["value"] == broken
        assert (facts[TWO[0], algo, "training over"]["value"] > 0.5) == bool(broken)
    plain = facts[TWO[0], "cup-omnisafe", "plain cost IQM"]["value"]
    assert facts[TWO[0], "cup-omnisafe", "cost IQM"]["value"] == plain > 3 * facts[TWO[0], "cup", "cost IQM"]["value"]
    assert facts[TWO[0], "cup > cup-omnisafe", "better safe return"]["value"] == 1.0
