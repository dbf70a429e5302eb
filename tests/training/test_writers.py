"""What takes a run's rows beside progress.csv is opened where it is asked for, and closed however the run ends."""

import pytest

from cuprl.errors import UserError
from cuprl.runs.config import RunConfig
from cuprl.training import writers
from cuprl.training.writers import open_writers, require_writers


class Kept:
    closed = 0

    def __init__(self, run):
        self.rows = []

    def write(self, row):
        self.rows.append(row)

    def close(self):
        Kept.closed += 1


def missing():
    raise UserError("no such package")


def test_only_what_is_asked_for_and_closed_after_a_failure_too(monkeypatch):
    monkeypatch.setattr(writers, "WRITERS", {"tensorboard": (missing, Kept), "wandb": (lambda: None, Kept)})
    asked = RunConfig("hopper-speed", wandb=True)
    require_writers(asked)
    with pytest.raises(RuntimeError), open_writers(asked, None) as opened:
        assert len(opened) == 1
        raise RuntimeError
    assert Kept.closed == 1
    with pytest.raises(UserError, match="no such package"):
        require_writers(RunConfig("hopper-speed", tensorboard=True))
    with open_writers(RunConfig("hopper-speed"), None) as opened:
        assert opened == []
