"""`cup check`."""

import gymnasium
import numpy as np

from cuprl.cli import main
from envs.broken import Sound, sound_but


def test_the_command(capsys, monkeypatch):
    gymnasium.register("Sound-v0", Sound)
    gymnasium.register("Broken-v0", sound_but(reward=lambda self: np.nan, info=lambda self: {"cots": 1.0}))
    monkeypatch.setenv("COLUMNS", "60")
    assert main(["check", "gym:Sound-v0", "--limit", "5", "--steps", "200"]) == 0
    shown = capsys.readouterr().out
    assert "nothing is wrong" in shown and max(map(len, shown.splitlines())) <= 60
    assert main(["check", "gym:Sound-v0", "--steps", "200"]) == 0
    shown = capsys.readouterr().out
    assert "nothing is wrong" in shown and "finite and varies" in shown and "limit asks" not in shown
    assert main(["check", "gym:Broken-v0", "--limit", "5", "--steps", "200"]) == 1
    shown = capsys.readouterr().out
    assert "2 wrong" in shown and "'cots'" in shown
