"""Time to safe, on curves drawn by hand."""

import csv

import numpy as np
import pytest

from cuprl.cli import main
from cuprl.experiments.grid.cells import Block, Experiment
from cuprl.experiments.grid.expand import expand
from cuprl.experiments.report import paper, stats_records, stats_table, time_to_safe
from cuprl.experiments.report.formats import to_latex, to_markdown
from cuprl.experiments.store.results import store
from experiments.synthetic import groups_of, made_up

N = 60  # iterations
RETURN, COST = "rollout/ep_rew_mean", "rollout/ep_cost_mean"


def drawn(returns, costs, task="hopper-speed", limits=()):
    """A group with a seed a curve: of returns, and of costs as shares of the limit; ten seconds an iteration."""
    (g,) = groups_of(Block((task,), ("cup",), tuple(range(len(returns))), N * 5000, limits=limits))
    for result, value, share in zip(g.results, returns, costs):
        result.metrics[RETURN], result.metrics[COST] = value, share * g.bounds[0]
        result.metrics["time/collect"], result.metrics["time/update"] = np.full(N, 6.0), np.full(N, 4.0)
    return g


def from_iteration(k, value=100.0, until=N):
    """A curve that is `value` from iteration k (the first is 1) to `until`, else 0."""
    i = np.arange(1, N + 1)
    return np.where((i >= k) & (i <= until), value, 0.0)


SAFE = np.full(N, 0.9)


@pytest.mark.parametrize(
    "returns, costs, there",
    [
        (from_iteration(1), SAFE, 1),
        (from_iteration(8), SAFE, 8),
        (from_iteration(41), SAFE, 41),  # the last that can stay for 20 of 60
        (from_iteration(42), SAFE, None),
        (from_iteration(8, until=26), SAFE, None),  # 19 iterations
        (from_iteration(8, until=27), SAFE, 8),  # it may fall again later
        (from_iteration(8), np.where(np.arange(N) == 19, 1.1, 0.9), 21),  # once over the limit, in iteration 20
        (from_iteration(8), np.where(np.arange(N) < 15, np.nan, 0.9), 16),  # unknown: no episode has ended yet
        (from_iteration(8), np.ones(N), 8),  # at the limit is within it
        (from_iteration(8), np.full(N, 1.001), None),
        (from_iteration(8, value=99.9), SAFE, None),
    ],
)
def test_when_a_run_is_there(returns, costs, there):
    found = time_to_safe.safe_arrival(drawn([returns], [costs]), 0, 100.0)
    assert found == (None if there is None else there - 1)


def test_plain_sums_are_judged_where_they_are_held_to_the_limit():
    for algo, found in (("cup", 0), ("cup-omnisafe", None)):  # the plain sums are four times the others
        (g,) = groups_of(Block(("hopper-speed",), (algo,), (0,), N * 5000))
        assert time_to_safe.safe_arrival(g, 0, -1e9) == found


def facts_of(groups, levels=None):
    return {(r["level"], r["statistic"]): r for r in stats_records.records(groups, "cup", levels) if "level" in r}


def test_seeds_that_never_get_there_count():
    g = drawn([from_iteration(k) for k in (10, 20, 50)], [SAFE] * 3)
    facts = facts_of([g], [50.0, 200.0])
    reached, steps, seconds = (facts[50.0, name] for name in ("reached", "steps", "seconds"))
    assert reached["value"] == pytest.approx(2 / 3) and reached["runs"] == steps["runs"] == 3
    assert (steps["value"], steps["low"], steps["high"]) == (20 * 5000, 10 * 5000, np.inf)
    assert (seconds["value"], seconds["low"]) == pytest.approx((200.0, 100.0))
    assert facts[200.0, "reached"]["value"] == 0.0
    assert {facts[200.0, "steps"][part] for part in ("value", "low", "high")} == {np.inf}
    (shown,) = (t for t in stats_table.tables(list(facts.values())) if t.title == "Time to safe")
    assert shown.header == ["task", "algorithm", "level", "reached", "steps", "seconds", "seeds"]
    assert shown.rows[0][2:] == ["50", "67% [21%, 94%]", "100,000 [50,000, never]", "200 [100, never]", "3"]
    assert shown.rows[1][4] == "never [never, never]" and "paper" not in shown.note
    assert "never" in to_markdown([shown]) and "never" in to_latex([shown])


def test_levels_are_the_papers_on_its_tasks():
    cup = paper.TABLE["hopper-speed"]["cup"].value
    facts = facts_of([drawn([from_iteration(10, 0.8 * cup)], [SAFE])])
    assert [facts[share * cup, "reached"]["value"] for share in (0.5, 0.8, 1.0)] == [1.0, 1.0, 0.0]
    assert not facts_of([drawn([from_iteration(10)], [SAFE], limits=("50",))])  # another limit, another task
    (plain,) = groups_of(Block(("hopper-speed",), ("cup-omnisafe",), (0,), N * 5000))
    assert not time_to_safe.levels_of(plain)  # nor is a limit on the plain sum the paper's
    other = drawn([from_iteration(10)], [SAFE], task="hopper-velocity")
    assert not facts_of([other]) and facts_of([other], [1.0])[1.0, "reached"]["value"] == 1.0


def test_all_limits_count():
    (g,) = groups_of(Block(("hopper-speed-effort",), ("cup",), (0,), N * 5000))
    g.results[0].metrics[RETURN] = from_iteration(5)
    assert time_to_safe.safe_arrival(g, 0, 100.0) == 4
    g.results[0].metrics[f"{COST}/effort"][:] = 1e9
    assert time_to_safe.safe_arrival(g, 0, 100.0) is None


def test_the_command(tmp_path, capsys):
    for cell in expand(Experiment("mine", "for tests", (Block(("hopper-velocity",), ("cup",), (0, 1), N * 5000),))):
        store(made_up(cell), tmp_path / "mine")
    where = ["table", "mine", "--results", str(tmp_path)]
    assert main([*where, "--stats"]) == 0 and "Time to safe" not in capsys.readouterr().out
    assert main([*where, "--stats", "--levels", "50,1e9"]) == 0
    shown = capsys.readouterr().out
    assert "**Time to safe**" in shown and "| hopper-velocity | cup | 1e+09 | 0% [0%, 66%] | never" in shown
    assert main([*where, "--stats", "--levels", "1e9", "--format", "csv"]) == 0
    rows = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    assert {row["statistic"]: row["value"] for row in rows if row["level"]} == {
        "reached": "0.0",
        "steps": "inf",
        "seconds": "inf",
    }
    for words, sentence in ((["--levels", "50"], "--levels goes with --stats"), (["--stats", "--levels", "x"], "1000,2000")):
        assert main([*where, *words]) == 2
        assert sentence in capsys.readouterr().err
