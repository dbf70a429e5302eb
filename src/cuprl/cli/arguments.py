"""How `cup` reads its words: a parser whose errors are one sentence, and what argparse's `type=` takes.

A `type` below says what is wrong with a word as a clause, " is 'many'; give a whole number.", and the parser puts the
argument's name in front of it.
"""

from __future__ import annotations

import argparse
import math
import re
import textwrap
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any, TypeVar

from cuprl.core.parse import parse_value
from cuprl.errors import UserError, unknown

T = TypeVar("T")


class Help(argparse.RawDescriptionHelpFormatter):
    """Break lines of help between words only: hopper-speed stays in one piece, to be copied."""

    def _split_lines(self, text: str, width: int) -> list[str]:
        return textwrap.wrap(" ".join(text.split()), width, break_long_words=False, break_on_hyphens=False)


class Parser(argparse.ArgumentParser):
    """Parse words; what is wrong is a UserError with the value, what is accepted, and the nearest right name.

    completed_by: called with the parser and its words before they are parsed, to add arguments that depend on them.
    """

    def __init__(self, *args: Any, completed_by: Callable[[Parser, Sequence[str]], None] | None = None, **kwargs: Any):
        super().__init__(*args, **{"allow_abbrev": False, "formatter_class": Help, **kwargs})
        self.completed_by = completed_by
        # argparse takes -1 for a value, but -1e-5 and -10,20 for flags.
        self._negative_number_matcher = re.compile(r"-\.?\d")

    def parse_known_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:  # type: ignore[override]
        """Read the words of a command; an unknown flag or argument is refused with the nearest one."""
        if self.completed_by is not None:
            self.completed_by(self, args or ())
        found, extra = super().parse_known_args(args, namespace)
        if extra and extra[0].startswith("-"):
            flags = [flag for action in self._actions for flag in action.option_strings if flag.startswith("--")]
            raise unknown("flag", extra[0].partition("=")[0], flags)
        if extra:
            raise UserError(f"unexpected argument {extra[0]!r}; see `{self.prog} --help`.")
        return found, extra

    def error(self, message: str) -> None:  # type: ignore[override]
        """Raise what argparse has to say as a UserError, in our words."""
        name, _, said = message.removeprefix("argument ").partition(": ")
        if said.startswith(" is "):  # a clause of one of the types below
            raise UserError(f"{name}{said}")
        raise UserError(said if said.startswith("unknown ") else f"{message}; see `{self.prog} --help`.")


def kind(parse: Callable[[str], T]) -> Callable[[str], T]:
    """Make a `type=` of a function that refuses words with a UserError, which argparse would take for a bare ValueError."""

    @wraps(parse)
    def parsed(text: str) -> T:
        try:
            return parse(text)
        except UserError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return parsed


def value_of(wanted: Any) -> Callable[[str], Any]:
    """Give the `type=` for a setting's type: bool, int, float, str or a tuple of them."""
    return kind(lambda text: parse_value(wanted, text, ""))


def whole(least: int | None = None) -> Callable[[str], int]:
    """Give the `type=` for a whole number, written 5000, 5e3 or 5_000; at least so much if that is given."""

    def parse(text: str) -> int:
        number = parse_value(int, text, "")
        if least is not None and number < least:
            raise UserError(f" is {number}; give {least} or more.")
        return number

    return kind(parse)


def numbers(example: str) -> Callable[[str], list[float]]:
    """Give the `type=` for numbers between commas."""

    def parse(text: str) -> list[float]:
        try:
            found = list(parse_value(tuple[float, ...], text, ""))
        except UserError:
            found = []
        if not found or not all(map(math.isfinite, found)):
            raise UserError(f" is {text!r}; give numbers between commas, as in {example}.")
        return found

    return kind(parse)


def one_of(what: str, accepted: Iterable[str]) -> Callable[[str], str]:
    """Give the `type=` for one of a few names; another is refused with the nearest of them."""
    names = list(accepted)

    def parse(text: str) -> str:
        if text not in names:
            raise unknown(what, text, names)
        return text

    return kind(parse)


@kind
def seeds(text: str) -> list[int]:
    """Parse 0..9 or 0,3,7; each seed counts once."""
    from cuprl.experiments.grid.expand import parse_seeds

    return list(dict.fromkeys(parse_seeds(text, "")))


# --- a part of an experiment ------------------------------------------------------------------------------------------


def add_part_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags that choose a part of an experiment: --only and --seeds."""
    parser.add_argument("--only", metavar="WHAT", help="a part of it, as task=hopper-speed,algo=cup,algo=cpo")
    parser.add_argument("--seeds", type=seeds, metavar="K..K", help="these seeds of it, as 0..2 or 0,3")


def part_of(args: argparse.Namespace) -> str | None:
    """Give what those flags choose, as --only says it: --seeds 0..2 is --only seed=0..2."""
    from cuprl.experiments.grid.expand import parse_only

    if args.seeds is None:
        return args.only
    if "seed" in parse_only(args.only):
        raise UserError(f"--seeds and --only {args.only} both choose seeds; leave one of them away.")
    return ",".join([*([args.only] if args.only else []), *(f"seed={seed}" for seed in args.seeds)])
