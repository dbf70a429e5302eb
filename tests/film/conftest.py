import pytest

from film.studio import lamp_task, policy_of


@pytest.fixture(autouse=True)
def no_fork(monkeypatch):
    """imageio starts ffmpeg by a fork, of which JAX warns, to keep Ctrl-C from it; not so with this word."""
    monkeypatch.setenv("IMAGEIO_FFMPEG_NO_PREVENT_SIGINT", "1")


@pytest.fixture(scope="module")
def lamp():
    return policy_of(lamp_task())
