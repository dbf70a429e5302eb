"""`cup speed`."""

import json
from functools import partial

from cuprl.cli import main
from small import SMALL


def test_speed_as_json(capsys, monkeypatch):
    from cuprl.measure import speed

    real = speed.measure
    monkeypatch.setattr(speed, "measure", partial(real, **SMALL))
    assert main(["speed", "hopper-speed", "--rounds", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["ratio"] > 0
