"""What a number may be, in the words that a person reads: "0 or more", "more than 0", "0 to 1", "0 to inf"."""

from __future__ import annotations

import math
import re
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

NUMBER = r"(-?[\d.]+(?:e\d+)?|inf)"
WORDS = re.compile(f"{NUMBER} or more|more than {NUMBER}|{NUMBER} to {NUMBER}")


@dataclass(frozen=True)
class Range:
    """`value in range` is false for NaN, for infinity unless the range ends there, and for what is no number of a float."""

    words: str
    low: float = -math.inf
    high: float = math.inf
    includes_low: bool = True
    includes_inf: bool = False

    def __contains__(self, value: Any) -> bool:
        if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
            return False
        inside = self.low <= value <= self.high and (self.includes_low or value != self.low)
        size = abs(value if isinstance(value, int) else float(value))  # a whole number may be too large for a float
        return bool(inside and (size <= sys.float_info.max or (self.includes_inf and size == math.inf)))


FINITE = Range("any finite number")


def parse_range(words: str) -> Range:
    """Read the words of a range, as '0 or more', 'more than 0', '0 to 1' or '0 to inf'."""
    found = WORDS.fullmatch(words)
    if found is None:
        raise ValueError(f"{words!r} is no range; write it as '0 or more', 'more than 0', '0 to 1' or '0 to inf'")
    least, above, low, high = (None if part is None else float(part) for part in found.groups())
    if high is not None and low is not None:
        return Range(words, low, high, includes_inf=high == math.inf)
    return Range(words, least) if least is not None else Range(words, above or 0.0, includes_low=False)
