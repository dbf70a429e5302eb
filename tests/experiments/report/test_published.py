"""What others have published on the velocity tasks, and how it stands beside ours."""

import csv

from cuprl.envs import TASKS
from cuprl.experiments.grid.cells import Block
from cuprl.experiments.report import table
from cuprl.experiments.report.formats import to_csv
from cuprl.experiments.report.published import LIMIT, SOURCES
from experiments.synthetic import groups_of

STEPS = 100_000  # 20 iterations
OMNISAFE, EARLY, LATE = SOURCES


def test_every_task_is_ours_with_their_limit():
    for source in SOURCES:
        for task in source.table:
            (constraint,) = TASKS[task].constraints
            assert (constraint.limit, constraint.discount) == (LIMIT, 1.0)
    assert len(OMNISAFE.table) == 6 and len(EARLY.table) == len(LATE.table) == 4


def test_numbers_as_they_are_printed():
    assert OMNISAFE.of("hopper-velocity", "cup", 25.0) == (1716.1, 7.5)
    assert OMNISAFE.of("humanoid-velocity", "trpo-lag", 25.0) == (6551.3, 59.6)
    assert OMNISAFE.of("walker2d-velocity", "ppo-lag pid", 25.0) == (2183.4, 14.1)
    assert EARLY.of("hopper-velocity", "cup", 25.0) == (1043, 21) and LATE.of("hopper-velocity", "cup", 25.0) == (1634, 26.0)
    assert LATE.of("ant-velocity", "p3o", 25.0) == (3095, 20.2) and EARLY.of("swimmer-velocity", "cup", 25.0) is None
    assert OMNISAFE.of("hopper-velocity", "cup", 20.0) is None and OMNISAFE.of("hopper-speed", "cup", 25.0) is None


def test_they_stand_beside_ours():
    two = ("hopper-velocity", "swimmer-velocity")
    groups = groups_of(
        Block(two, ("cup",), (0, 1), STEPS),
        Block(two, ("ppo-lag",), (0, 1), STEPS, settings=(("multiplier", "pid"),), label="pid"),
    )
    shown = table.report(groups)
    assert shown.header[-3:] == [
        "OmniSafe at 10M (mode)",
        "SafePO at 1M of 10M (sampled)",
        "SafePO at 10M (sampled)",
    ]
    assert [row[-3:] for row in shown.rows] == [
        ["1716.1 / 7.5", "1043 / 21", "1634 / 26 (over)"],
        ["1713.3 / 9", "1134 / 30 (over)", "1636 / 25"],
        ["63.8 / 22", "-", "-"],
        ["91.1 / 19.1", "-", "-"],
    ]
    assert "5 seeds, deterministic evaluation" in shown.note and "schedule of 10M" in shown.note
    first = next(csv.DictReader(to_csv(table.records(groups)).splitlines()))
    assert (first["omnisafe_10m_return"], first["safepo_10m_over"]) == ("1716.1", "True")
    other = table.report(groups_of(Block(("hopper-speed",), ("cup",), (0,), STEPS)))
    assert "OmniSafe" not in str(other.header) + other.note
