"""Modules of the user's own: found as Python finds them, and in the folder the command is given in, after all others.

Importing a module runs its code. One that the user names is imported; one that is only named in a file (a run's folder, an
exported policy) is imported where the user trusts that file: `import_own` is the one gate.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from cuprl.errors import UserError, blame

Trust = bool | str | Iterable[str]  # in all that a file names, in nothing, or in these modules

_named: set[str] = set()  # by the user, in this process


class Reading(NamedTuple):
    """A file that names modules, and what of it its user trusts."""

    source: str | Path
    everything: bool
    modules: frozenset[str]


_reading: ContextVar[Reading | None] = ContextVar("reading", default=None)


class NotTrusted(UserError):  # noqa: N818
    """A file names code, or is code, and its user has not said that it may run."""


@contextmanager
def named_by(source: str | Path, trust: Trust) -> Iterator[None]:
    """Take names of modules while inside to come from this file, not from the user."""
    token = _reading.set(Reading(source, trust is True, modules_in(trust)))
    try:
        yield
    finally:
        _reading.reset(token)


def modules_in(trust: Trust) -> frozenset[str]:
    """Give the names among what is trusted."""
    if isinstance(trust, bool):
        return frozenset()
    names = (trust,) if isinstance(trust, str) else tuple(trust) if isinstance(trust, Iterable) else (trust,)
    if not all(isinstance(name, str) for name in names):
        raise UserError(f"trust is {trust!r}; give the names of modules, or True for all.")
    return frozenset(names)


def name_own(name: str) -> None:
    """Take a module as named by the user, who has given something of it from Python."""
    _named.add(name)


def python(*words: str) -> list[str]:
    """Give the command of a Python process of ours, `-m MODULE` or `-c CODE`, that imports what this one would.

    -m and -c alone put the current folder first, and a numpy.py in it would run in the place of NumPy, without the user's
    word. What he names is found there all the same: `import_own` looks there last.
    """
    return [sys.executable, "-P", *words]


def import_own(name: str) -> ModuleType:
    """Import a module of the user's, unless a file that nobody trusts is all that names it."""
    if not all(part.isidentifier() for part in name.split(".")):
        raise UserError(f"{name!r} is no name of a module; give one as Python imports it, my_module or package.module.")
    reading = _reading.get()
    if reading is None or name in reading.modules:
        _named.add(name)
    elif not reading.everything and name not in _named:
        raise NotTrusted(
            f"{reading.source} names the module {name}, whose code would run here; if you trust it, add --import {name} "
            f"(in Python trust={name!r}), or --trust (trust=True) for all that it names."
        )
    if os.getcwd() not in sys.path:  # `python script.py` has the script's folder there, `cup` has nothing
        sys.path.append(os.getcwd())
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise UserError(f"cannot import {name} ({error}); install it, or go to the folder that has it.") from None
    except Exception as error:  # whatever the module's own code raises
        raise blame(f"importing {name}", error) from error
