"""Values as people write them: on a command line, in a grid or in a task's name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any, get_args

from cuprl.errors import UserError


def shortest(value: float) -> str:
    """Write a number in the fewest digits that give it back, without a +, which parts the words of a task's name."""
    return repr(float(value)).removesuffix(".0").replace("e+", "e")


def parse_value(kind: Any, text: str, name: str) -> Any:
    """Read a command-line word as a setting's type; numbers may be written 2.5e6 or 2_500_000."""
    try:
        if kind is bool:
            return {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}[text.lower()]
        if kind is int:
            if text.lstrip("-").replace("_", "").isdecimal():
                return int(text)
            number = float(text.replace("_", ""))
            if number != int(number):
                raise ValueError
            return int(number)
        if kind is float:
            return float(text.replace("_", ""))
        if kind is str:
            return text
        return tuple(parse_value(get_args(kind)[0], part, name) for part in text.split(",") if part not in ("", "none"))
    except (ValueError, KeyError, OverflowError):
        wanted = {bool: "true or false", int: "a whole number", float: "a number"}.get(kind, "numbers such as 64,64")
        raise UserError(f"{name} is {text!r}; give {wanted}.") from None


def as_whole(value: Any, name: str) -> int:
    """Take a whole number however it is given: 5000, 5e3, "5_000", NumPy's."""
    if isinstance(value, Integral) and not isinstance(value, bool):
        return int(value)
    return parse_value(int, str(value), name)


def parse_numbers(words: Sequence[str] | None, name: str) -> dict[str, float] | float | None:
    """Read one number, as 25, or one for each constraint, as speed=25 torque=10; None without any word."""
    if not words:
        return None
    given = [(constraint, value) for constraint, _, value in (word.rpartition("=") for word in words)]
    named = dict(given)
    if set(named) == {""} and len(given) == 1:
        return parse_value(float, named[""], name)
    if "" in named:
        raise UserError(f"{name} is given as {' and '.join(words)}; give one number, or NAME=NUMBER for each constraint.")
    for constraint in named:
        if sum(constraint == other for other, _ in given) > 1:
            raise UserError(f"{name} of {constraint} is given twice, as {' and '.join(words)}; give it once.")
    return {constraint: parse_value(float, value, f"{name} {constraint}") for constraint, value in named.items()}


def later_words(words: Iterable[str]) -> list[str]:
    """Keep the last of the words for the same constraint, and of those for none."""
    return list({word.rpartition("=")[0]: word for word in words}.values())
