import os
import sys
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parent))

import pytest

from cuprl import backend  # noqa: F401  (JAX set up as the package does, before a test imports it)


@pytest.fixture(autouse=True, scope="module")
def forget_compiled_programs():
    """Each module compiles its own; a worker that kept all of them would need gigabytes."""
    yield
    import jax

    jax.clear_caches()


@pytest.fixture(scope="session")
def renderer():
    from film.studio import can_draw

    if not can_draw():
        pytest.skip("MuJoCo has nothing to draw with here: neither EGL nor OSMesa")
