"""The learning rates of runs that were trained further, and what config.json may say of it."""

import pytest

from cuprl.cli.train import ANNEALS as OFFERED
from cuprl.errors import UserError
from cuprl.runs.history import ANNEALS, Schedule, check_history, told

START = {"sha256": "0123456789abcdef", "critics": True, "task": "x", "algo": "cup", "seed": 3, "iteration": 7}


def extension(iteration, steps, anneal="continue"):
    return {"iteration": iteration, "steps": steps, "anneal": anneal}


def scales(iterations, extensions, falls=True):
    schedule = Schedule.of(iterations, 10, falls, extensions)
    return [schedule.scale(i) for i in range(iterations)]


def test_the_command_offers_what_there_is():
    assert tuple(ANNEALS) == OFFERED


def test_learning_rates_of_a_run_trained_further():
    plain = [1.0 - i / 4 for i in range(4)]
    assert scales(4, None) == plain and scales(4, None, falls=False) == [1.0] * 4
    assert scales(8, [extension(4, 40)]) == plain + [1.0 - i / 8 for i in range(4, 8)]
    assert scales(8, [extension(4, 40)], falls=False) == [1.0] * 8
    assert scales(8, [extension(4, 40, "restart")]) == [*plain, 1.0, 0.75, 0.5, 0.25]
    assert scales(8, [extension(4, 40, "restart")], falls=False) == [1.0] * 5 + [0.75, 0.5, 0.25]
    assert scales(8, [extension(4, 40, "off")]) == plain + [1.0] * 4
    assert scales(8, [extension(2, 40)])[2:] == [1.0 - i / 8 for i in range(2, 8)]  # before it was done
    twice = [extension(4, 40, "restart"), extension(6, 80, "off")]
    assert scales(9, twice) == [*plain, 1.0, 0.75, 1.0, 1.0, 1.0]
    assert scales(9, [extension(4, 40, "restart"), extension(4, 80, "off")])[4:] == [1.0] * 5


def test_what_is_told_of_it():
    assert told({}) == {}
    extended = {"extended": "off at iteration 4 of 40 steps, continue at iteration 9 of 90 steps"}
    assert told({"extensions": [extension(4, 40, "off"), extension(9, 90)]}) == extended
    assert told({"start": START}) == {"start": "cup seed 3 iteration 7 01234567 with critics"}


@pytest.mark.parametrize(
    "history, words",
    [
        ({"extensions": [3]}, "an extension that is none"),
        ({"extensions": [{**extension(1, 40), "more": 1}]}, "an extension that is none"),
        ({"extensions": [extension(1, 40, "rise")]}, "an extension that is none"),
        ({"extensions": [extension(True, 40)]}, "an extension that is none"),
        ({"extensions": [extension(5, 40)]}, "out of its order"),
        ({"extensions": [extension(-1, 40)]}, "out of its order"),
        ({"extensions": [extension(4, 40), extension(3, 50)]}, "out of its order"),
        ({"extensions": [extension(4, 80)]}, "adds no steps"),
        ({"start": {**START, "seed": "3"}}, "a start that is none"),
        ({"start": {}}, "a start that is none"),
    ],
)
def test_a_history_that_no_run_has_is_refused(history, words):
    config = {"steps": 80, "settings": {"batch_size": 10}}
    check_history({**config, "extensions": [extension(4, 40), extension(4, 50)], "start": START})
    with pytest.raises(UserError, match=words):
        check_history({**config, **history})
