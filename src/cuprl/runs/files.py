"""Files of a run's folder and of the results store: whole or not there, never through a link, never waited for.

A folder may come from anywhere. A symbolic link in it must not lead what is written to another file, and a pipe in the
place of a file must not hold its reader for ever: both are refused.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from cuprl.errors import UserError

NO_FILE = (errno.ELOOP, errno.ENXIO, errno.EISDIR)  # what opening a link, a pipe or a folder for writing fails with
KINDS = {stat.S_IFLNK: "a symbolic link", stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe"}
LOCK_TRIES = 3  # a grid that only looks whether a run is held holds it for an instant itself


def open_regular(path: Path, flags: int) -> int:
    """Open a regular file, not followed through a link if it is to be written; anything else is refused."""
    to_write = flags & (os.O_WRONLY | os.O_RDWR)
    try:
        descriptor = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC | (os.O_NOFOLLOW if to_write else 0), 0o666)
    except OSError as error:
        if error.errno in NO_FILE:
            raise no_file(path) from None
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise no_file(path)
    return descriptor


def refuse_link(folder: Path) -> None:
    """Refuse a folder that is a link, before files are written into it or removed from it."""
    if folder.is_symlink():
        raise no_file(folder)


def no_file(path: Path) -> UserError:
    """Say what stands in the place of a file."""
    kind = KINDS.get(stat.S_IFMT(path.lstat().st_mode), "no regular file")
    return UserError(f"{path} is {kind}, through which nothing is read or written; remove it, or put the thing itself.")


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Let an OSError inside name the file: a full disk alone says only what happened, not where."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def read(path: Path, most: int) -> bytes:
    """Read a file's content; one of more bytes than `most` is refused before it is read, for it would fill the memory."""
    with os.fdopen(open_regular(path, os.O_RDONLY), "rb") as handle:
        if (size := os.fstat(handle.fileno()).st_size) > most:
            raise too_large(path, size, most)
        return handle.read(size)


def too_large(path: Path, size: int, most: int) -> UserError:
    """Say that a file has more bytes than any such file."""
    return UserError(f"{path} would take {size:,} bytes, more than the {most:,} of any such file; restore or remove it.")


@contextmanager
def appending(path: Path) -> Iterator[IO[str]]:
    """Open a text file to write at its end, made where there is none."""
    with naming(path), os.fdopen(open_regular(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT), "a", newline="") as handle:
        yield handle


@contextmanager
def beside(path: Path) -> Iterator[tuple[Path, IO[bytes]]]:
    """Open a new file that is to take this one's place; an error or an interruption inside leaves nothing of it."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    with naming(path):
        part.unlink(missing_ok=True)
        try:
            with os.fdopen(open_regular(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as handle:
                yield part, handle
        except BaseException:
            with suppress(OSError):
                part.unlink()
            raise


def write_atomically(path: Path, content: bytes) -> None:
    """Write all or nothing, also if the machine stops half-way; a link that is in the way is replaced, not followed."""
    with beside(path) as (part, handle):
        handle.write(content)
        handle.flush()
        os.fsync(handle.fileno())
        handle.close()
        part.replace(path)


def try_writing(path: Path) -> None:
    """Find out before long work whether its file can be written, and make the folders above it; what is there stays."""
    if path.is_dir():
        raise UserError(f"{path} is a folder; give a file in it.")
    path.parent.mkdir(parents=True, exist_ok=True)
    with beside(path) as (part, _):
        part.unlink()


def write_with_folders(path: Path, content: bytes) -> None:
    """Write all or nothing where a person wants it, and make the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, content)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock a folder, that one process at a time writes to it; the lock ends with the process that has it."""
    with os.fdopen(open_regular(folder / "lock", os.O_RDWR | os.O_CREAT), "r+") as handle, of_this_process(handle):
        for tries_left in reversed(range(LOCK_TRIES)):
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if not tries_left:
                    raise UserError(f"{folder} is being trained by another process; wait for it or stop it.") from None
                time.sleep(0.1)
        yield


@contextmanager
def of_this_process(lock: IO[str]) -> Iterator[None]:
    """Keep a lock from processes forked off, as by an environment: they would keep it when this one has ended."""
    LOCKS.add(lock)
    try:
        yield
    finally:
        LOCKS.discard(lock)


def let_go() -> None:
    """Give up the locks of the process that this one was forked off."""
    for lock in LOCKS:
        os.close(lock.fileno())
    LOCKS.clear()


LOCKS: set[IO[str]] = set()
os.register_at_fork(after_in_child=let_go)


def held(folder: Path) -> bool:
    """Tell whether a process has the lock of a folder."""
    try:
        with os.fdopen(open_regular(folder / "lock", os.O_RDONLY)) as handle:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except (OSError, UserError):
        return False
    return False
