"""The settings that algorithms share, and those of each."""

import dataclasses

import pytest

from cuprl import algorithms
from cuprl.errors import UserError
from cuprl.learn.ranges import FINITE
from cuprl.learn.settings import Common, NoiseFloor


@pytest.mark.parametrize(
    "kind, changes, words",
    [
        (Common, {"num_envs": 3}, "multiple"),
        (Common, {"hidden": (20_000, 20_000)}, "at most 100,000,000 weights"),
        (Common, {"encoder": 3}, "give a cuprl.Encoder"),
        (NoiseFloor, {"noise_floor": (0.3,)}, "give two numbers"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(kind, changes, words):
    with pytest.raises(UserError, match=words):
        kind(**changes)


@pytest.mark.parametrize("algo", [name for name, entry in algorithms.ALGORITHMS.items() if not entry.preset])
def test_every_number_says_what_it_accepts(algo):
    _, config = algorithms.load(algo)
    numbers = [f for f in dataclasses.fields(config) if f.type.startswith(("int", "float", "tuple"))]
    assert len(numbers) > 10 and all(f.metadata["range"] is not FINITE for f in numbers)
