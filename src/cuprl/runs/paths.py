"""Which folder a run is written into: a new one, or one that somebody names and that nothing is lost in."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

from cuprl.errors import UserError
from cuprl.runs.config import RunConfig

REMAINS = re.compile(r"lock|config\.json(\.\d+)?\.part")  # of a run killed before its config.json was there


def new_folder(config: RunConfig) -> Path:
    """Make the folder of a run that is given none, so that no other that begins in the same second gets it too."""
    path = Path("runs", config.task, config.algo, f"seed{config.seed}-{time.strftime('%Y%m%d-%H%M%S')}")
    while True:
        try:
            path.mkdir(parents=True)
            return path
        except FileExistsError:
            path = path.with_name(path.name + "-again")


def given_folder(path: str | Path) -> Path:
    """Take a folder that somebody names; "", as of a variable that is not set, would be the folder they are in."""
    if path == "":
        raise UserError("the folder of the run is ''; name it, or give . for the one you are in.")
    if not isinstance(path, str | os.PathLike):
        raise UserError(f"the folder of the run is {path!r}; give its path.")
    return Path(path)


def mend_no_run(path: Path) -> str:
    """Say what to give in the place of a folder that is no run: the runs in it, where it has some."""
    below = (found.parent for depth in ("*", "*/*", "*/*/*") for found in path.glob(f"{depth}/config.json"))
    if (first := next(below, None)) is not None:
        return f"There are runs in it: give one, as {first}."
    return "Give a folder that `cup train` made."


def refuse_used(path: Path) -> None:
    """Refuse a folder with anything in it but what a run leaves that is killed as it begins."""
    if path.is_dir():
        found = [p for p in path.iterdir() if not REMAINS.fullmatch(p.name)]
        if not found or ([p.name for p in found] == ["checkpoints"] and not any((path / "checkpoints").iterdir())):
            return
    elif not os.path.lexists(path):
        return
    if path.exists() and not path.is_dir():
        raise UserError(f"the output folder {path} is a file; give another.")
    resume = f", or `cup resume {path}`" if (path / "config.json").exists() else ""
    raise UserError(f"the output folder {path} is not empty; give another{resume}.")
