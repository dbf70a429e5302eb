"""`cup video`."""

import imageio.v3 as imageio
import numpy as np

import cuprl
from cuprl.cli import main
from film.studio import run_of


def test_a_robot_in_its_runs_folder(renderer, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("IMAGEIO_FFMPEG_NO_PREVENT_SIGINT", "1")  # imageio would start ffmpeg by a fork, of which JAX warns
    run = run_of("hopper-speed", tmp_path / "hopper")
    assert main(["video", str(run.path), "--width", "160", "--height", "120", "--fps", "125", "--seed", "3"]) == 0
    told = capsys.readouterr().out
    evaluation = cuprl.evaluate(run, 1, seed=3)
    assert "hopper-speed, cup, iteration 3, mode" in told and str(run.path / "video.mp4") in told
    assert f"seed 3: return {evaluation['return_mean']:.1f}, speed {evaluation['cost_mean']:.2f} / 82.748" in told
    frames = imageio.imread(run.path / "video.mp4", plugin="FFMPEG").astype(int)
    assert len(frames) == evaluation["length_mean"] + 125 and frames.shape[1:] == (120, 160, 3)
    below = frames[: int(evaluation["length_mean"]), 60:]
    assert (np.abs(np.diff(below, axis=0)).max(axis=(1, 2, 3)) > 10).all()  # it moves in every step
