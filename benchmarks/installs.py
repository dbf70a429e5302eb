"""An environment for each rival under benchmarks/.venvs, with the versions pinned here."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

VENVS = Path(__file__).parent / ".venvs"
INSTALL_SECONDS = 3600


class InstallError(Exception):
    """The reason, one line."""


@dataclass(frozen=True)
class Rival:
    label: str
    python: str | None  # the Python it needs where the one that runs this will not do
    requirements: tuple[tuple[str, ...], ...]  # one pip command each


def rivals(torch: str) -> dict[str, Rival]:
    """Rivals that use Gymnasium's robots get the MuJoCo and the Gymnasium that cuprl itself uses here."""
    robots = (f"gymnasium[mujoco]=={version('gymnasium')}", f"mujoco=={version('mujoco')}")
    return {
        "omnisafe": Rival(
            "OmniSafe",
            "3.10",
            (
                ("torch==1.12.1", "omnisafe==0.5.0"),
                ("safety-gymnasium==1.0.0", "numpy<1.24"),  # newer and older than omnisafe itself would get
            ),
        ),
        "sb3": Rival("Stable-Baselines3", None, ((torch, "stable-baselines3==2.9.2", *robots),)),
        "sbx": Rival("SBX", None, ((torch, "sbx-rl==0.28.0", *robots),)),
        "fsrl": Rival("FSRL", None, ((torch, "fast-safe-rl==0.1.0", "numpy<2", "setuptools<81", *robots),)),
    }


def install(name: str, rival: Rival, python310: str | None) -> Path:
    """The Python of the rival's environment, which is made or completed if need be; raises InstallError."""
    folder = VENVS / name
    python, done = folder / "bin" / "python", folder / "installed.txt"
    wanted = "\n".join(" ".join(line) for line in rival.requirements)
    if done.exists() and done.read_text() == wanted:
        return python
    base = find_python(rival.python, python310) if rival.python else sys.executable
    if not python.exists():
        run([base, "-m", "venv", "--clear", str(folder)])
    done.unlink(missing_ok=True)
    for line in rival.requirements:
        run([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *line])
    done.write_text(wanted)
    return python


def find_python(wanted: str, given: str | None) -> str:
    command = given or shutil.which(f"python{wanted}")
    if not command:
        raise InstallError(f"needs Python {wanted}, which is not on the path; give --python310 PATH")
    try:
        run([command, "-c", f"import sys; assert sys.version.startswith('{wanted}.'), 'this is ' + sys.version.split()[0]"])
    except InstallError as reason:
        raise InstallError(f"needs Python {wanted}; {command} does not start as one ({reason})") from None
    return command


def run(command: list[str]) -> None:
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InstallError(str(error)) from None
    if result.returncode:
        lines = [line.strip() for line in result.stderr.splitlines() if line.strip()]
        errors = [line for line in lines if line.startswith("ERROR")]
        raise InstallError((errors or lines or [f"exit code {result.returncode}"])[-1])
