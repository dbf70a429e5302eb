"""What made a run: the packages, the commit, the machine."""

from __future__ import annotations

import os
import platform
import subprocess
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any


def facts() -> dict[str, Any]:
    return {"versions": versions(), "machine": machine(), "git": git_commit()}


def versions() -> dict[str, str]:
    found = {"python": platform.python_version(), "platform": platform.platform()}
    for package in ("cuprl", "jax", "jaxlib", "optax", "mujoco", "gymnasium", "numpy"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def git_commit() -> str | None:
    """The commit of the source tree cuprl runs from, if it is one; with -dirty where files differ from it."""
    try:
        command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--abbrev=40", "--dirty", "--exclude=*"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def machine() -> dict[str, Any]:
    """What the seconds of a run depend on, and nothing that tells whose machine it is."""
    cpu = platform.processor()
    with suppress(OSError, StopIteration):  # Linux knows more
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        cpu = next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return {"system": f"{platform.system()} {platform.machine()}", "cpu": cpu, "cores": os.cpu_count()}
