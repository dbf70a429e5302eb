"""The one exception a person is meant to read."""

from __future__ import annotations

import difflib
import os
import traceback
from collections.abc import Iterable


class UserError(ValueError):
    """Something the user can mend: the message names the wrong value, what is accepted, and the fix.

    The command line prints it as one line and exits with status 2; no traceback reaches a person.
    """


class RunStopped(RuntimeError):  # noqa: N818
    """A run had to stop; the message names the quantity, the iteration and the last good checkpoint."""


def unknown(kind: str, name: str, accepted: Iterable[str]) -> UserError:
    """Make the error of an unknown name: 'unknown task "hoper-speed"; did you mean hopper-speed? Accepted: …'"""
    names = list(accepted)
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}? Accepted" if near else "accepted"
    return UserError(f"unknown {kind} {name!r}; {hint}: {', '.join(names)}.")


def first_line(error: BaseException) -> str:
    """Shorten what a library says to a line."""
    return (str(error).splitlines() or [type(error).__name__])[0]


def blame(what: str, error: BaseException, called_with: str = "") -> UserError:
    """Make a sentence of an error in someone's code, which says where it happened.

    Where no line of theirs was reached, the call itself failed: then it says what their function is called with.
    """
    said = f"{what} raised {type(error).__name__}: {error}"
    ours = os.path.join(os.path.dirname(os.path.abspath(__file__)), "")
    theirs = [place for place in traceback.extract_tb(error.__traceback__) if not place.filename.startswith(ours)]
    if not theirs:
        return UserError(f"{said}; it is called with {called_with}." if called_with else f"{said}; mend it.")
    return UserError(f"{said} ({os.path.basename(theirs[-1].filename)}, line {theirs[-1].lineno}); mend it there.")
