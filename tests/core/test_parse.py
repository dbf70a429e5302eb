"""Numbers as people write them."""

import numpy as np
import pytest

from cuprl.core.parse import as_whole, later_words, parse_numbers, parse_value, shortest
from cuprl.errors import UserError


@pytest.mark.parametrize("value", [5000, 5e3, "5e3", "5_000", "5000.0", np.int32(5000), np.float64(5e3)])
def test_whole_numbers(value):
    assert as_whole(value, "steps") == 5000 and type(as_whole(value, "steps")) is int


@pytest.mark.parametrize("value", [2.5, "2.5", "many", "", "inf", "nan", np.nan, None, True, [1]])
def test_what_is_no_whole_number(value):
    with pytest.raises(UserError, match=r"steps is .*; give a whole number\."):
        as_whole(value, "steps")


@pytest.mark.parametrize(
    "kind, text, value",
    [
        (float, "1_000.5", 1000.5),
        (bool, "No", False),
        (str, "64,64", "64,64"),
        (tuple[int, ...], "64,32", (64, 32)),
        (tuple[int, ...], "none", ()),
    ],
)
def test_words_as_a_settings_type(kind, text, value):
    assert parse_value(kind, text, "x") == value


def test_a_number_or_one_for_each_constraint():
    assert parse_numbers(None, "--limit") is None and parse_numbers(["2e1"], "--limit") == 20.0
    assert parse_numbers(["speed=25", "torque=1_0"], "--limit") == {"speed": 25.0, "torque": 10.0}
    assert later_words(["speed=25", "3", "speed=5", "4"]) == ["speed=5", "4"]
    for words, said in ((["3", "speed=2"], "give one number, or NAME=NUMBER"), (["a=1", "a=2"], "of a is given twice")):
        with pytest.raises(UserError, match=said):
            parse_numbers(words, "--limit")


@pytest.mark.parametrize("text, value", [("2.5e6", 2_500_000), ("2_500_000", 2_500_000), ("7", 7)])
def test_whole_numbers_as_people_write_them(text, value):
    assert parse_value(int, text, "steps") == value


@pytest.mark.parametrize(
    ("value", "word"),
    [(25, "25"), (0.1, "0.1"), (1e-5, "1e-05"), (1e15, "1000000000000000"), (1e16, "1e16"), (float("inf"), "inf")],
)
def test_numbers_are_written_shortly(value, word):
    assert shortest(value) == word and float(word) == value
