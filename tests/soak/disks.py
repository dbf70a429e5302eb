"""Disks that are full: a small one of its own where root may mount it, elsewhere a limit on the size of every file."""

from __future__ import annotations

import resource
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from .compare import expect_nothing_wrong_so_far
from .processes import Command
from .trial import Trial, expect

PAGE = 4096


class SmallDisk:
    """A tmpfs."""

    def __init__(self, folder: Path):
        self.folder, self.before = folder, None

    def shrink(self, share: float, needed: list[Path]) -> None:
        """To a share of what these files take."""
        pages = sum(-(-path.stat().st_size // PAGE) + 1 for path in needed)
        self._mount(f"size={max(int(share * pages), 2) * PAGE}")

    def grow(self) -> None:
        self._mount("remount,size=256m")

    def _mount(self, options: str) -> None:
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "cuprl-soak", self.folder], check=True, capture_output=True)

    def close(self) -> None:
        """What it held stays in the folder, for whoever wants to see what failed."""
        kept = shutil.copytree(self.folder, self.folder.with_name("kept"), symlinks=True)
        subprocess.run(["umount", self.folder], check=True)
        kept.rename(self.folder / "kept")


class SmallFiles:
    """No file may be larger than some bytes, for the commands that call `before` first."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.before: Callable[[], None] | None = None

    def shrink(self, share: float, needed: list[Path]) -> None:
        most = max(int(share * max(path.stat().st_size for path in needed)), 1)
        self.before = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (most, most))

    def grow(self) -> None:
        self.before = None

    def close(self) -> None: ...


@contextmanager
def disk(folder: Path, share: float, needed: list[Path]) -> Iterator[SmallDisk | SmallFiles]:
    """One with room for a share of the files; `grow` gives it enough."""
    folder.mkdir()
    found: SmallDisk | SmallFiles = SmallDisk(folder)
    try:
        found.shrink(share, needed)
    except (OSError, subprocess.CalledProcessError):  # not root, or in a container
        found = SmallFiles(folder)
        found.shrink(share, needed)
    try:
        yield found
    finally:
        found.close()


def full(trial: Trial) -> str:
    reference = trial.reference()
    needed = [path for path in reference.rglob("*") if path.is_file()]
    with disk(trial.folder / "disk", trial.random.uniform(0.05, 1.1), needed) as place:
        trial = replace(trial, place=place.folder)
        for _ in range(trial.random.randint(1, 2)):
            expect_told(trial.go_on(before=place.before).end())
            trial.host.expect_nothing_left()
            expect_nothing_wrong_so_far(trial.run, reference)
            expect(not list(trial.run.rglob("*.part")), "half a file is left")
        place.grow()
        trial.finish()
    return "same"


def expect_told(command: Command) -> None:
    """That there is no room, and for what; or there was enough."""
    command.expect(0, 2)
    if command.status == 2:
        said = command.sentence()
        expect("No space left on device" in said or "File too large" in said, f"a full disk is not named: {said}")
