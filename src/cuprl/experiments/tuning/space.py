"""What is searched: a range or a few choices for each of some settings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cuprl import algorithms
from cuprl.core.parse import parse_value
from cuprl.errors import UserError, unknown
from cuprl.learn.fields import as_words, configure, kinds_of

WIDE = 10.0  # from this factor between its ends on, a range is searched by its logarithm

# Searched unless --search says otherwise, where the algorithm has them: a factor on both sides of its default, or a range.
FACTORS = {"policy_lr": 4.0, "critic_lr": 4.0, "delta": 4.0, "multiplier_lr": 5.0, "temperature": 3.0}
RANGES = {"alpha": "0.05..0.5", "clip": "0.1..0.3", "cost_lam": "0.5..0.99", "lam": "0.9..0.99", "beta": "0..0.2"}
USUAL = ("alpha", "temperature", "delta", "policy_lr", "multiplier_lr", "cost_lam")


@dataclass(frozen=True)
class Axis:
    """One setting: the ends of a range, or choices, which are words of a command line."""

    name: str
    kind: Any  # of the setting; of a range int or float
    low: float = 0.0
    high: float = 0.0
    choices: tuple[str, ...] = ()

    @property
    def logarithmic(self) -> bool:
        """Tell whether it is a range that is searched by its logarithm."""
        return not self.choices and self.low > 0 and self.high / self.low >= WIDE * (1 - 1e-9)

    def suggest(self, trial: Any) -> str:
        """Let a trial of Optuna choose, and give the word for `cup train`."""
        if self.choices:
            return self.word(trial.suggest_categorical(self.name, self.choices))
        if self.kind is int:
            return self.word(trial.suggest_int(self.name, int(self.low), int(self.high), log=self.logarithmic))
        return self.word(trial.suggest_float(self.name, self.low, self.high, log=self.logarithmic))

    def word(self, value: Any) -> str:
        """Write what a trial chose as a word for `cup train`."""
        return f"{value:.6g}" if isinstance(value, float) else str(value)

    def holds(self, value: Any) -> Any:
        """Give the default of the setting as Optuna has it, or None where it lies outside."""
        if self.choices:
            return next((word for word in self.choices if parse_value(self.kind, word, self.name) == value), None)
        return value if self.low <= value <= self.high else None

    def __str__(self) -> str:
        said = " or ".join(self.choices) if self.choices else f"{self.low:g} to {self.high:g}"
        return f"{self.name} {said}{' (log)' if self.logarithmic else ''}"


def space_of(algo: str, searched: Sequence[str], fixed: dict[str, Any], of_task: dict[str, Any] | None = None) -> list[Axis]:
    """Make the axes of --search words, or the usual ones of the algorithm; what a flag fixes is not searched.

    A word is NAME=LOW..HIGH, NAME=A,B,C (of settings that are lists A/B/C, as hidden=64,64/128,128), or NAME alone, whose
    range is the usual one, around what the setting is on the task: of_task has what the task changes.
    """
    _, config = algorithms.load(algo, of_task=of_task)
    kinds = kinds_of(type(config))
    words = [*searched] or [name for name in USUAL if name in kinds and name not in fixed and usual(name, config)]
    axes: list[Axis] = []
    for word in words:
        name, equals, text = word.partition("=")
        name = name.removeprefix("--").replace("-", "_")
        if name not in kinds:
            raise unknown(f"setting of {algo}", name, kinds)
        if name in fixed:
            raise UserError(
                f"--search {word}: --{name.replace('_', '-')} {as_words(fixed[name])} fixes it; give one of them."
            )
        if name in (axis.name for axis in axes):
            raise UserError(f"--search {name} is given twice; give it once.")
        if not equals and not (text := usual(name, config)):
            raise UserError(f"--search {name} has no usual range; give one, as --search {name}=LOW..HIGH, or its choices.")
        axis = axis_of(name, kinds[name], text)
        ends = axis.choices or (str(axis.low), str(axis.high))
        for end in ends:
            try:
                configure(type(config), {name: end}, algo)
            except UserError as error:
                raise UserError(f"--search {word}: {error}") from None
        axes.append(axis)
    if not axes:
        raise UserError(f"nothing of {algo} is left to search; name settings, as --search alpha=0.05..0.5.")
    return axes


def usual(name: str, config: Any) -> str:
    """Give the usual range of a setting, as of --search; nothing where it has none, or no default to go out from."""
    default = getattr(config, name)
    if name in FACTORS:
        factor = FACTORS[name]
        return f"{default / factor:.3g}..{default * factor:.3g}" if 0 < default < math.inf else ""
    return RANGES.get(name, "")


def axis_of(name: str, kind: Any, text: str) -> Axis:
    """Parse a range, or choices."""
    said = f"--search {name}"
    first, dots, last = text.partition("..")
    if dots:
        if kind not in (int, float):
            raise UserError(f"{said} is {text}, but {name} is no number; give its choices, as {name}=A,B.")
        low, high = parse_value(kind, first, said), parse_value(kind, last, said)
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise UserError(f"{said} is {text}; give two finite numbers, the smaller first, as {name}=LOW..HIGH.")
        return Axis(name, kind, low, high)
    plain = kind in (bool, int, float, str)
    words = filter(None, text.split("," if plain else "/"))
    choices = tuple({parse_value(kind, word, said): word for word in words}.values())
    if len(choices) < 2:
        example = "LOW..HIGH, or choices A,B" if plain else "choices, as 64,64/128,128"
        raise UserError(f"{said} is {text!r}; give {example}.")
    return Axis(name, kind, choices=choices)
