"""What measures the cost of evaluations: both trainings are made, and found the same."""

import pytest

import cuprl
from scripts import script
from small import QUIET, SMALL


@pytest.fixture
def tool():
    return script("tools/evaluation_cost.py")


def test_turns_and_what_comes_of_them(tool, monkeypatch, capsys):
    small = {**SMALL, **QUIET}
    monkeypatch.setattr(cuprl, "train", lambda *a, steps, train=cuprl.train, **more: train(*a, steps=400, **small, **more))
    words = ["swimmer-speed", "--times", "2", "--eval-every", "1", "--eval-episodes", "1"]
    monkeypatch.setattr("sys.argv", ["evaluation_cost.py", *words])
    assert tool.main() == 0
    first, second, clock, processor = capsys.readouterr().out.splitlines()
    assert first.startswith("turn 1: ") and "(2 evaluations, episodes of 1000 steps)" in second
    assert clock.startswith("evaluating costs ") and "by the clock (median of 2; " in clock
    assert "by the processor" in processor


def test_a_task_that_is_not_there(tool, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["evaluation_cost.py", "swimmer"])
    assert tool.main() == 2 and "unknown task 'swimmer'" in capsys.readouterr().err


def test_trainings_that_differ_are_told(tool, tmp_path):
    runs = [cuprl.train("swimmer-speed", steps=200, seed=k, out=tmp_path / str(k), **SMALL, **QUIET) for k in (0, 1)]
    with pytest.raises(AssertionError, match="evaluations changed"):
        tool.compare(*runs)
