"""The zoo: trained and certified policies that come with the package, each a file as `cup export` writes it."""

from __future__ import annotations

from pathlib import Path

from cuprl.errors import UserError, unknown

PREFIX = "zoo:"  # before the name of one, where a run or a policy's file may be given
FOLDER = Path(__file__).parent.parent / "zoo"  # in the package, so that a wheel carries it
SUFFIX = ".npz"


def names() -> list[str]:
    """List the policies, each named as its task."""
    return sorted(path.stem for path in FOLDER.glob(f"*{SUFFIX}"))


def file_of(source: str) -> Path:
    """Find the file of zoo:NAME."""
    name, known = source.removeprefix(PREFIX), names()
    if not known:
        raise UserError(f"the zoo is empty: {FOLDER} has no policy; install cuprl again.")
    if name not in known:
        raise unknown("policy of the zoo", name, known)
    return FOLDER / f"{name}{SUFFIX}"
