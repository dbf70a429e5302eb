"""What a number may be, in words."""

import numpy as np
import pytest

from cuprl.learn.ranges import FINITE, parse_range

INF, NAN = float("inf"), float("nan")


@pytest.mark.parametrize(
    "words, inside, outside",
    [
        ("0 or more", [0, 0.0, 5, np.int64(3)], [-1e-9, 10**400, INF, NAN, True, None, "1", [1]]),
        ("more than 0", [1e-300, np.float32(1)], [0, -1, INF, NAN]),
        ("0 to 1", [0, 1, 0.5], [1.0000001, -0.1, NAN, INF]),
        ("0 to inf", [0, 1e308, INF], [-INF, -1, NAN]),
        ("1 to 1e5", [1, 100_000], [0, 100_001]),
        ("-2.5 to -1", [-2.5, -1], [0, -3]),
    ],
)
def test_what_lies_inside(words, inside, outside):
    accepted = parse_range(words)
    assert accepted.words == words
    assert all(value in accepted for value in inside)
    assert not any(value in accepted for value in outside)


def test_without_a_range_any_finite_number_is_accepted():
    assert -1e300 in FINITE and 0 in FINITE
    assert INF not in FINITE and NAN not in FINITE


@pytest.mark.parametrize("words", ["positive", "0 - 1", "more than", ""])
def test_words_that_are_no_range(words):
    with pytest.raises(ValueError, match="is no range; write it as '0 or more'"):
        parse_range(words)
