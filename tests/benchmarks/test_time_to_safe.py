"""The benchmark of the time to safe: when a training counts as there, and what its report says."""

import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def bench(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import time_to_safe

    yield time_to_safe
    for name in ("time_to_safe", "installs", "players", "rivals", "table"):
        sys.modules.pop(name, None)


def rows_of(*points, batch=20_000):
    """Rows of (return, cost) a batch; ten seconds each."""
    return [
        {"steps": batch * i, "seconds": 10.0 * i, "return": value, "cost": cost}
        for i, (value, cost) in enumerate(points, start=1)
    ]


GOOD, POOR, UNSAFE = (1000.0, 25.0), (999.0, 5.0), (1500.0, 25.1)


def test_when_it_is_there(bench):
    assert bench.arrival(rows_of(POOR, *[GOOD] * 6))["steps"] == 40_000  # 100,000 steps later it still is
    assert bench.arrival(rows_of(POOR, *[GOOD] * 5)) is None
    assert bench.arrival(rows_of(*[GOOD] * 5, UNSAFE, *[GOOD] * 6))["steps"] == 140_000
    assert bench.arrival(rows_of(*[GOOD] * 21, batch=5000))["steps"] == 5000
    assert bench.arrival(rows_of(*[(float("nan"), 0.0)] * 9)) is None and bench.arrival([]) is None


def test_the_report(bench):
    options = bench.argparse.Namespace(seeds=(0, 1), settings=("best",), steps=10**6, their_steps=10**7, most_steps=10**6)
    ours, theirs, again, failed = bench.learnings_of(options)
    assert (theirs.planned, theirs.most, ours.planned) == (10**7, 10**6, 10**6)
    ours.rows, theirs.rows = rows_of(*[GOOD] * 6), rows_of(*[POOR] * 3, *[GOOD] * 6)
    again.rows, failed.player.failure = rows_of(POOR), "not installed: no such Python"
    text = bench.report([ours, theirs, again, failed], 0.0, "command", "today")
    assert "| OmniSafe | CUP | best | 0 | 80,000 | 40 | 1000 / 25.0 |" in text
    assert "| cuprl | cup | as shipped | 1 | not in 20,000 | not in 10 | 999 / 5.0 |" in text
    assert "**not installed: no such Python**" in text
    assert "OmniSafe best takes 4.0 [4.0-4.0] times as long, of 1 seed." in text
