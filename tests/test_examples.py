"""Each example runs, made small."""

from pathlib import Path

import cuprl
from scripts import script
from small import QUIET, SMALL

EXAMPLES = Path(__file__).parent.parent / "examples"


def example(name):
    return script(f"examples/{name}.py")


def test_train_from_python(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    example("train_from_python").main(400, **SMALL, **QUIET)
    assert "/ 70" in capsys.readouterr().out
    assert list(tmp_path.glob("runs/hopper-speed/cup/*/curve.png"))


def test_own_mujoco_robot(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    example("own_mujoco_robot").main(400, **SMALL, **QUIET)
    assert "tilt" in capsys.readouterr().out


def test_own_algorithm(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(EXAMPLES))  # as if run from its folder
    example("own_algorithm").main(400, **SMALL)
    assert "price 1.0: return" in capsys.readouterr().out


def test_drive_the_loop(tmp_path, capsys):
    small = {**SMALL, "num_envs": 1}
    example("drive_the_loop").main(str(tmp_path / "cart"), steps=400, **small)
    assert "steps     400" in capsys.readouterr().out
    again = example("drive_the_loop").main(str(tmp_path / "cart"))  # finished: nothing is left to do
    assert again.done and cuprl.load(tmp_path / "cart").predict([0.0, 0.0, 0.0, 0.0]) in (0, 1)


def test_deploy_with_numpy(tmp_path):
    shown = example("deploy_with_numpy").main(400, tmp_path / "hopper", **SMALL, **QUIET)
    assert "limit 82.748" in shown
    assert cuprl.load(tmp_path / "hopper" / "policy.npz").info["evaluation"]["episodes"] == 20


def test_own_gymnasium_env(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    result = example("own_gymnasium_env").main(400, **{**SMALL, "num_envs": 10}, **QUIET)
    assert result["cost_mean"].keys() == {"shore", "fuel"} and result["length_mean"] == 100
    assert "wrong" not in capsys.readouterr().out


def test_cartpole_with_a_limit(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    safe, free = example("cartpole_with_a_limit").main(steps=400, **{**SMALL, "num_envs": 10}, **QUIET)
    assert safe["cost_limit"] == 50.0 and free["length_mean"] > 1
    assert "steps right of the centre" in capsys.readouterr().out


def test_pixels_with_a_cnn(monkeypatch, tmp_path, capsys):
    monkeypatch.syspath_prepend(str(EXAMPLES))  # as if run from its folder
    monkeypatch.chdir(tmp_path)
    small = {**SMALL, "num_envs": 10, "epochs": 1, "projection_epochs": 1, "critic_epochs": 1}
    result = example("pixels_with_a_cnn").main(400, str(tmp_path / "run"), **small, **QUIET)
    assert result["cost_limit"] == 0.2 and "acts with NumPy and pixel_encoder.py" in capsys.readouterr().out
    policy = cuprl.load(tmp_path / "run" / "policy.npz", trust="pixel_encoder")
    assert policy.info["encoder"] == "pixel_encoder:CNN" and policy.info["policy"] == "squashed"
    assert (abs(policy.predict([0.0] * 432, deterministic=False)) <= 1.0).all()
