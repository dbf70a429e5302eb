"""Plain values, checked."""

import numpy as np
import pytest

from cuprl.core.values import as_number, as_tuple, is_number, is_of, whole
from cuprl.errors import UserError


@pytest.mark.parametrize("value", [0, -1, 1.0, True, "1", None, float("nan")])
def test_what_is_no_count(value):
    with pytest.raises(UserError, match=r"episodes is .*; give a whole number of at least 1"):
        whole(value, "episodes")


def test_whole_numbers_of_numpy_too():
    assert whole(np.int64(3), "episodes") == 3 and type(whole(np.int64(3), "episodes")) is int
    assert whole(0, "seed", least=0) == 0
    with pytest.raises(UserError, match="num_envs is 101; give a whole number from 1 to 100"):
        whole(101, "num_envs", most=100)


def test_numbers():
    assert as_number("2.5", "x") == 2.5 and as_number(np.float32(1), "x") == 1.0
    for value in (None, "much", [1.0], 10**400):
        with pytest.raises(UserError, match="; give a number"):
            as_number(value, "the limit")


def test_lists_become_tuples_and_words_do_not():
    assert as_tuple([1, 2], "x") == as_tuple(np.array([1, 2]), "x") == (1, 2)
    for value in ("ab", 3, None):
        with pytest.raises(UserError, match="give a tuple"):
            as_tuple(value, "low")


@pytest.mark.parametrize("value, finite", [(1, True), (-0.5, True), (np.float32(2), True), (True, False), ("1", False)])
def test_finite_numbers(value, finite):
    assert is_number(value) is finite
    assert not any(map(is_number, (float("nan"), float("inf"), 10**400, None, 1j)))


def test_true_is_no_number_one():
    assert is_of(True, bool) and is_of(1, int) and not is_of(True, int) and not is_of("1", int)
