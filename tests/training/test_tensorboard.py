import sys

import pytest

from cuprl.errors import UserError
from cuprl.training.train import train
from small import QUIET, SMALL


def test_tensorboard_events_on_request(tmp_path, monkeypatch):
    run = train("hopper-speed", steps=400, out=tmp_path / "r", tensorboard=True, **SMALL, **QUIET)
    (events,) = run.path.glob("events.out.tfevents.*")
    content = events.read_bytes()
    assert b"rollout/ep_cost_mean" in content and b"train/multiplier" in content
    monkeypatch.setitem(sys.modules, "tensorboardX", None)
    with pytest.raises(UserError, match=r"pip install 'cuprl\[tensorboard\]'"):
        train("hopper-speed", steps=400, out=tmp_path / "without", tensorboard=True, **SMALL, **QUIET)
    assert not (tmp_path / "without").exists()
