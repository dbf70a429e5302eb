"""Settings that make a real run small: seconds instead of minutes, nothing else changed.

Tests with the same task, limit and settings share a compiled program; compiling is half of the first run of all tests.
"""

from typing import Any

import numpy as np

from cuprl.experiments.grid.cells import words_of
from cuprl.learn.fields import as_words
from cuprl.training.display import Silent

SMALL: dict[str, Any] = {"batch_size": 200, "num_envs": 5, "hidden": (8,), "minibatch": 50, "epochs": 2, "critic_epochs": 2}
QUIET: dict[str, Any] = {"display": Silent()}
WORDS = tuple((name, as_words(value)) for name, value in SMALL.items())
FLAGS = words_of(dict(WORDS))  # of `cup train`


def same_progress(a, b):
    """Two runs' metrics are equal to the last bit, apart from the clock."""
    first, second = a.progress(), b.progress()
    assert list(first) == list(second)
    for name in first:
        if not name.startswith("time/"):
            np.testing.assert_array_equal(first[name], second[name], err_msg=name)


def same_arrays(a, b):
    assert a.keys() == b.keys()
    for name in a:
        np.testing.assert_array_equal(a[name], b[name], err_msg=name)
