"""Plain values, as they come from people and from files, checked."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Real
from typing import Any

import numpy as np

from cuprl.errors import UserError


def whole(value: Any, what: str, least: int = 1, most: int | None = None) -> int:
    """Take a whole number in this range, NumPy's as a plain one for JSON; what is none is refused, by the name `what`."""
    accepted = f"of at least {least}" if most is None else f"from {least} to {most}"
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not least <= value <= (most or math.inf):
        raise UserError(f"{what} is {value!r}; give a whole number {accepted}.")
    return int(value)


def as_number(value: Any, what: str) -> float:
    """Take a float; what is none is refused, by the name `what`."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise UserError(f"{what} is {value!r}; give a number.") from None


def as_tuple(value: Any, what: str) -> tuple[Any, ...]:
    """Take lists and arrays too: a Spec must be hashable."""
    if not isinstance(value, Iterable) or isinstance(value, str):
        raise UserError(f"{what} is {value!r}; give a tuple.")
    return tuple(value)


def is_of(value: Any, kind: type) -> bool:
    """Tell whether a value is of a type, where True is no whole number."""
    return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))


def is_number(value: Any) -> bool:
    """Tell whether a value is a finite number that a float can hold."""
    try:
        return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:
        return False
