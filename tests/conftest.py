import os
import shutil
import sys
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parent))

import pytest

from cuprl import backend  # noqa: F401  (JAX set up as the package does, before a test imports it)

MOST = 2e9  # bytes of a worker that keeps its compiled programs
MEMORY, ROOM = Path("/dev/shm"), 1e9  # bytes that must be free there


def pytest_configure():
    """The package waits for the disk with each file it writes, against power cuts: tests' folders are in memory instead."""
    if os.access(MEMORY, os.W_OK | os.X_OK) and shutil.disk_usage(MEMORY).free > ROOM:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))


@pytest.fixture(autouse=True, scope="module")
def forget_compiled_programs():
    """Modules share what they compile, until a worker has grown large: all programs would need many gigabytes."""
    yield
    if resident() > MOST:
        import jax

        jax.clear_caches()


def resident() -> float:
    """Bytes of memory that this process has now; infinite where the system does not tell."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return float("inf")


@pytest.fixture
def own_module(tmp_path, monkeypatch):
    """Write a module of one's own into the working folder: own_module(name, text); nothing is named or trusted yet."""
    from cuprl.core import user_modules

    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(user_modules, "_named", set())
    written = []

    def write(name, text):
        (tmp_path / f"{name}.py").write_text(text)
        written.append(name)

    yield write
    for name in written:
        sys.modules.pop(name, None)


@pytest.fixture(scope="session")
def renderer():
    from film.studio import can_draw

    if not can_draw():
        pytest.skip("MuJoCo has nothing to draw with here: neither EGL nor OSMesa")
