"""Tables as a reader meets them: in LaTeX, in a narrow terminal, and where runs are missing, uneven or unknown."""

import sys
from dataclasses import replace

import numpy as np
import pytest

from cuprl.cli.bench import print_summary
from cuprl.cli.terminal import pieces, show
from cuprl.experiments.grid.cells import Block, Experiment, expand
from cuprl.experiments.report import paper, stats_table, table
from cuprl.experiments.report.formats import Table, latex_text, to_latex
from cuprl.experiments.report.groups import group, winners
from cuprl.experiments.store.results import store
from experiments.synthetic import made_up

TWO = ("hopper-speed", "swimmer-speed")
STEPS = 100_000  # 20 iterations
RETURN, COST = "rollout/ep_rew_mean", "rollout/ep_cost_mean"


def groups_of(*blocks, leave_out=lambda cell: False):
    cells = expand(Experiment("shown", "for tests", blocks))
    return group(cells, {cell: made_up(cell) for cell in cells if not leave_out(cell)})


def facts_of(groups):
    return {(f["task"], f["algorithm"], f["statistic"]): f for f in stats_table.records(groups, "cup")}


def titled(groups, title):
    (found,) = (t for t in stats_table.tables(stats_table.records(groups, "cup")) if t.title == title)
    return found


# --- LaTeX ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text, latex", [
    ("cup > ppo-lag", r"cup $>$ ppo-lag"), ("16.04 [-7.12, 28.42]", r"16.04 [$-$7.12, 28.42]"), ("-", "-"),
    ("[1, 2]", "{}[1, 2]"), ("* x", "{}* x"),
    ("**-1.5 ± 2**", r"\textbf{$-$1.5 $\pm$ 2}"), ("alpha_x=1e-05", r"alpha\_x=1e-05"), ("50%", r"50\%"),
    (r"~^\{}<", r"\textasciitilde{}\textasciicircum{}\textbackslash{}\{\}$<$"),
])  # fmt: skip
def test_latex_prints_what_is_written(text, latex):
    assert latex_text(text) == latex


def test_rules_stand_between_tasks_only():
    rows = [["a", "1"], ["a", "2"], ["b", "3"]]
    assert to_latex([Table(["task", "x"], rows)]).count(r"\midrule") == 2
    assert to_latex([Table(["algorithm", "x"], rows)]).count(r"\midrule") == 1


# --- statistics -------------------------------------------------------------------------------------------------------


def test_comparisons_say_their_tasks_where_they_differ():
    both, one = Block(TWO, ("cup", "ppo-lag"), (0, 1), STEPS), Block(TWO[:1], ("focops",), (0, 1), STEPS)
    same = titled(groups_of(both), "Probability of improvement")
    assert same.header[:2] == ["algorithm", "better return"] and "(hopper-speed + swimmer-speed)" in same.note
    different = titled(groups_of(both, one), "Probability of improvement")
    assert [row[:2] for row in different.rows] == [
        ["cup > ppo-lag", "hopper-speed + swimmer-speed"], ["cup > focops", "hopper-speed"],
    ]  # fmt: skip
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
    (shown,) = stats_table.tables(stats_table.records(groups, "cup"))
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
    (shown,) = stats_table.tables(list(facts.values()))
    assert shown.header[4:8] == ["return IQM", "cost IQM", "plain cost IQM", "broken at the end"]
    assert shown.rows[0][4:8] == ["-"] * 4 and shown.rows[0][-1] == "2" and "nan" not in str(shown.rows)
    assert lag in winners(groups) and cup not in winners(groups)
    assert table.report(groups).rows[0][2:4] == ["unknown"] * 2 and "nan" not in str(table.report(groups).rows)


@pytest.mark.filterwarnings("error")
def test_a_limit_of_zero_divides_nothing():
    groups = [replace(g, limits=dict.fromkeys(g.limits, 0.0)) if g.task == TWO[0] else g
              for g in groups_of(Block(TWO, ("cup",), (0, 1), STEPS))]  # fmt: skip
    facts = facts_of(groups)
    both = " + ".join(TWO)
    assert facts[both, "cup", "broken at the end"]["value"] == 0.5 and (both, "cup", "cost / limit") not in facts


def test_the_best_is_of_those_held_to_the_same_limits():
    groups = groups_of(Block(TWO[:1], ("cup", "ppo-lag"), (0,), STEPS, sweep=(("limit", ("40", "80")),)))
    for value, g in enumerate(groups):
        g.results[0].metrics[RETURN][-1] = value
    assert sorted(g.label for g in winners(groups)) == ["ppo-lag limit=40", "ppo-lag limit=80"]


# --- in a terminal ----------------------------------------------------------------------------------------------------

WIDE = Table(
    ["task", "algorithm", "return IQM", "cost IQM", "plain cost IQM", "broken at the end", "steps to 90%", "seeds"],
    [["hopper", "trpo-lag", "2071.3 [1741.2, 2236.7]", "85.03 [80.34, 90.86]", "**1089.3 ± 743.7**", "100% [34%, 100%]",
      "1,117,500 (2 seeds)", "3"]],
)  # fmt: skip


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_no_number_is_cut_in_two(width, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", str(width))
    show([WIDE])
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= width and "**" not in shown
    for whole in (
        "2071.3",
        "[1741.2, 2236.7]",
        "[80.34, 90.86]",
        "1089.3",
        "± 743.7",
        "[34%, 100%]",
        "1,117,500",
        "(2 seeds)",
    ):
        assert whole in shown


def test_a_table_too_wide_becomes_several_with_the_same_lines():
    columns = Table(WIDE.header[1:], [row[1:] for row in WIDE.rows])
    assert [piece.header for piece in pieces(columns, 200)] == [columns.header]
    cut = pieces(columns, 60)
    assert len(cut) > 1 and all(piece.header[0] == "algorithm" for piece in cut)
    assert [name for piece in cut for name in piece.header[1:]] == columns.header[1:]


def test_a_bench_ends_with_the_table_of_its_terminal(tmp_path, monkeypatch, capsys):
    cells = expand(Experiment("shown", "for tests", (Block(TWO, ("cup",), (0, 1), STEPS),)))
    for cell in cells:
        store(made_up(cell), tmp_path / "shown")
    print_summary(cells, tmp_path)
    assert capsys.readouterr().out.strip() == table.summary(cells, tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    print_summary(cells, tmp_path)
    shown = capsys.readouterr().out
    assert "hopper-speed, limit 82.748" in shown and "**" not in shown and "|" not in shown
