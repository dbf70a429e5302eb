"""What draws on this machine, or the sentence that nothing does."""

import os
import subprocess
import sys

import pytest

import cuprl
from cuprl.errors import UserError
from cuprl.film import opengl
from cuprl.policies.export import export_policy
from film.studio import filmed, policy_of


def test_a_wrong_renderer_gets_one_sentence(tmp_path):
    """In a process of its own: MuJoCo reads the variable when it is imported."""
    file = export_policy(policy_of("hopper-speed"), out=tmp_path / "p.npz")
    environment = {**os.environ, "MUJOCO_GL": "bogus"}
    command = [sys.executable, "-m", "cuprl", "video", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "MUJOCO_GL is 'bogus', with which MuJoCo cannot draw here; unset it" in done.stderr and "libegl1" in done.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["p.npz"]


def test_a_machine_without_a_renderer(lamp, monkeypatch, tmp_path):
    monkeypatch.setattr(opengl, "CANDIDATES", ("bogus",))
    monkeypatch.delenv("MUJOCO_GL", raising=False)
    with pytest.raises(UserError, match="nothing to draw with: MuJoCo needs EGL or OSMesa; on Debian"):
        cuprl.video(policy_of("hopper-speed"), tmp_path / "v.gif")
    filmed(lamp, tmp_path / "v.gif")  # draws itself, without MuJoCo
    assert (tmp_path / "v.gif").exists()
