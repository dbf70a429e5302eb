import pytest

from cuprl.training.train import train
from small import QUIET, SMALL


@pytest.fixture(scope="session")
def run(tmp_path_factory):
    """A run of three iterations, to whose folder tests only add files."""
    return train("hopper-speed", steps=600, out=tmp_path_factory.mktemp("runs") / "r", **SMALL, **QUIET)
