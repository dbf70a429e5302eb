from cuprl.measure import growth
from small import SMALL


def test_each_axis_is_measured_and_shown(monkeypatch):
    monkeypatch.setattr(growth, "AXES", {"constraints": (1, 3), "environments": (2,), "threads, 5 environments": (1, 2)})
    monkeypatch.setattr(growth, "NEVER_STOP", SMALL)
    points = growth.grow("swimmer-speed", "ppo", rounds=1)
    assert [(p.axis, p.value) for p in points] == [
        ("constraints", 1),
        ("constraints", 3),
        ("environments", 2),
        ("threads, 5 environments", 1),
        ("threads, 5 environments", 2),
    ]
    assert all(p.collect > 0 and p.update > 0 for p in points)
    lines = growth.growth_table(points).splitlines()
    assert len(lines) == 2 + len(points)
    assert lines[2].startswith("| constraints | 1 |")
    assert lines[3].startswith("|  | 3 |")


def test_two_processes_train_at_once():
    assert growth.at_once("tabular:random", "ppo", 2, 5000) > 0
