"""Which evaluation is the best, which checkpoints stay, and which of them is meant."""

import numpy as np
import pytest

from cuprl.errors import UserError
from cuprl.runs.config import RunConfig
from cuprl.runs.evaluations import best_row
from cuprl.runs.folder import Run

ONE = {"limits": {"speed": 10.0}, "settings": {}}
TWO = {"limits": {"speed": 10.0, "effort": 5.0}, "settings": {}}


def columns(**values):
    found = {name.replace("__", "/"): np.array(column, float) for name, column in values.items()}
    return {"iteration": np.arange(1.0, 1 + len(next(iter(found.values())))), **found}


@pytest.mark.parametrize(
    "config, found, best",
    [
        (ONE, columns(mode__return=[1, 5, 3], mode__cost=[0, 10.1, 10]), 2),  # at the limit is within it
        (ONE, columns(mode__return=[4, 4, 3], mode__cost=[0, 0, 0]), 0),  # the first of equals
        (ONE, columns(mode__return=[1, np.nan, 9], mode__cost=[1, 1, np.nan]), 0),  # what is unknown is not within
        (ONE, columns(mode__return=[1, 2], mode__cost=[11, 12]), None),
        (ONE, columns(mode__return=[1, 2], mode__cost=[11, 12], sampled__cost=[1, 1]), None),  # the mode is what is deployed
        (ONE, columns(mode__return=[-3, -2], mode__cost=[1, 2]), 1),
        (ONE, {**columns(mode__return=[1, 2], mode__cost=[1, 1]), "iteration": np.array([1, np.nan])}, 0),
        (ONE, columns(other=[1]), None),
        (ONE, {}, None),
        (TWO, columns(mode__return=[9, 8, 7], mode__cost__speed=[1, 99, 1], mode__cost__effort=[6, 1, 5]), 2),
        (
            {**ONE, "settings": {"cost_return": "undiscounted"}},
            columns(mode__return=[2, 1], mode__cost=[1, 1], mode__cost_undiscounted=[11, 9]),
            1,
        ),
    ],
)
def test_the_best_is_within_every_limit_and_has_the_highest_return(config, found, best):
    assert best_row(found, config) == best


@pytest.fixture
def run(tmp_path):
    made = Run.create(tmp_path / "r", RunConfig("x", "y", steps=9, limits={"cost": 1.0}, settings={"batch_size": 1}))
    made.config["limits"] = {"cost": 1.0}
    return made


def evaluated(run, iteration, value, cost=0.0):
    run.evaluations.append({"iteration": iteration, "steps": iteration, "mode/return": value, "mode/cost": cost})
    run.save(iteration, {"counters": np.array([iteration, 0])})


def kept(run):
    return [int(path.name[:8]) for path in run.checkpoints()]


def test_the_best_checkpoint_stays_until_there_is_a_better(run):
    evaluated(run, 1, 5.0)
    for iteration in range(2, 7):
        evaluated(run, iteration, 4.0)
    assert run.best() == 1 and kept(run) == [6, 5, 4, 1]
    evaluated(run, 7, 9.0, cost=1.5)
    assert run.best() == 1 and kept(run) == [7, 6, 5, 1]
    evaluated(run, 8, 6.0)
    assert run.best() == 8 and kept(run) == [8, 7, 6]


def test_a_checkpoint_by_its_name(run):
    for iteration, value in ((1, 5.0), (2, 4.0), (3, 3.0), (4, 2.0)):
        evaluated(run, iteration, value)

    def chosen(checkpoint):
        return [int(path.name[:8]) for path in run.choose(checkpoint)]

    assert chosen("best") == chosen(1) == chosen("1") == chosen(np.int64(1)) == [1]
    assert chosen("last") == chosen(None) == [4, 3, 2, 1]
    for wrong, words in (
        ("bset", "did you mean best"),
        (7, "no checkpoint of iteration 7; it has 4, 3, 2, 1"),
        (-1, "unknown checkpoint '-1'"),
        (True, "unknown checkpoint 'True'"),
        (1.5, "unknown checkpoint '1.5'"),
    ):
        with pytest.raises(UserError, match=words):
            run.choose(wrong)
    run.choose("best")[0].write_bytes(b"")
    with pytest.raises(UserError, match=r"is damaged.*has no intact checkpoint of that iteration; give --checkpoint last"):
        run.read(run.choose("best"))


def test_best_where_there_is_none_is_one_sentence(run):
    with pytest.raises(UserError, match=r"was not evaluated in training.*train with --eval-every N"):
        run.choose("best")
    evaluated(run, 1, 5.0, cost=2.0)
    with pytest.raises(UserError, match=r"none of the 1 evaluations of .* was within every limit.*--checkpoint last"):
        run.choose("best")
