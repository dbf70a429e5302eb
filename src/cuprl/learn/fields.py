"""What a Config is made of: settings with a help text and what they accept; checked, listed, and read from words or JSON."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cache
from numbers import Integral
from typing import Any, get_args, get_type_hints

import numpy as np

from cuprl.core.parse import parse_value
from cuprl.errors import UserError, unknown
from cuprl.learn.ranges import FINITE, parse_range

LARGEST_WHOLE = 10**9  # more would not fit the counters of compiled programs


def setting(default: Any, help: str, accepted: str | None = None) -> Any:
    """Make a dataclass field with its help text and the numbers it accepts, as "0 or more"; of a list, of each entry."""
    metadata = {"help": f"{help} ({accepted})" if accepted else help}
    return dataclasses.field(default=default, metadata={**metadata, "range": parse_range(accepted) if accepted else FINITE})


def choice(default: str, help: str, options: tuple[str, ...]) -> Any:
    """Make a dataclass field with its help text and the words it accepts."""
    return dataclasses.field(default=default, metadata={"help": f"{help} ({', '.join(options)})", "options": options})


def check(config: Any) -> None:
    """Refuse what a setting does not accept, of any dataclass made of `setting` and `choice`."""
    kinds = kinds_of(type(config))
    for field in dataclasses.fields(config):
        kind, value = kinds[field.name], getattr(config, field.name)
        options, accepted = field.metadata.get("options"), field.metadata.get("range", FINITE)
        if options and value not in options:
            raise UserError(f"{field.name} is {value!r}; accepted: {', '.join(options)}.")
        if kind is bool and not isinstance(value, bool):
            raise UserError(f"{field.name} is {value!r}; give true or false.")
        entries, of = (value, get_args(kind)[0]) if isinstance(value, tuple) else ((value,), kind)
        if of in (int, float) and not all(entry in accepted for entry in entries):
            raise UserError(f"{field.name} is {as_words(value)}; give {accepted.words}.")
        if of is int and not all(isinstance(entry, Integral) and abs(int(entry)) <= LARGEST_WHOLE for entry in entries):
            wanted = f"{accepted.words}, whole and at most {LARGEST_WHOLE:,}"
            raise UserError(f"{field.name} is {as_words(value)}; give {wanted}.")


def as_words(value: Any) -> str:
    """Write a setting as it is given on a command line."""
    return ",".join(map(str, value)) or "none" if isinstance(value, tuple | list) else str(value)


# The type of each of a Config's settings. A grid makes thousands of Configs of a few classes: each is looked into once.
kinds_of: Callable[[type], dict[str, Any]] = cache(get_type_hints)


def field_names(config_class: type) -> list[str]:
    """List the names of a Config's settings."""
    return [field.name for field in dataclasses.fields(config_class)]


def configure(config_class: type, changes: dict[str, Any], algorithm: str) -> Any:
    """Make the algorithm's Config with some settings changed; an unknown one is an error that names those it has."""
    kinds = kinds_of(config_class)
    names = field_names(config_class)
    for name in changes:
        if name not in names:
            raise unknown(f"setting of {algorithm}", name, names)
    return config_class(**{name: as_kind(kinds[name], value, name) for name, value in changes.items()})


def as_kind(kind: Any, value: Any, name: str) -> Any:
    """Take a value from the command line, from JSON or from Python as a setting's type, NumPy's as a plain one for JSON."""
    value = value.item() if isinstance(value, np.generic) else value
    if kind not in (bool, int, float, str) and not isinstance(value, str):
        parts = value if isinstance(value, list | tuple) else (value,)
        return tuple(as_kind(get_args(kind)[0], part, name) for part in parts)
    if isinstance(value, str) or (kind is int and isinstance(value, float)):
        return parse_value(kind, str(value), name)
    return value
