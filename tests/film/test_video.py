"""Films of policies: what they show is what `evaluate` measures, and the files can be read again."""

import os
import subprocess
import sys
from typing import Any

import imageio.v3 as imageio
import numpy as np
import pytest

import cuprl
from cuprl.cli import main
from cuprl.errors import UserError
from cuprl.film import opengl
from cuprl.policies.export import export_policy
from film.studio import Lamp, lamp_task, policy_of, renderer, run_of  # noqa: F401  (renderer is a fixture)
from test_examples import example

SMALL: dict[str, Any] = {"width": 160, "height": 120}


@pytest.fixture(autouse=True)
def no_fork(monkeypatch):
    """imageio starts ffmpeg by a fork, of which JAX warns, to keep Ctrl-C from it; not so with this word."""
    monkeypatch.setenv("IMAGEIO_FFMPEG_NO_PREVENT_SIGINT", "1")


def filmed(policy, out=None, **options):
    """What was made, and each of its frames."""
    shots = []
    return cuprl.video(policy, out, **SMALL, on_shot=shots.append, **options), shots


def same_numbers(episode, evaluation):
    """To the last bit."""
    cost, plain = (evaluation[name] for name in ("cost_mean", "cost_undiscounted_mean"))
    many = isinstance(cost, dict)
    assert episode["return"] == evaluation["return_mean"] and episode["length"] == evaluation["length_mean"]
    assert list(episode["cost"].values()) == (list(cost.values()) if many else [cost])
    assert list(episode["cost_undiscounted"].values()) == (list(plain.values()) if many else [plain])


# --- environments that draw themselves ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def lamp():
    return policy_of(lamp_task())


@pytest.mark.parametrize("deterministic", [True, False])
def test_a_film_shows_the_episodes_of_the_evaluation(lamp, deterministic, tmp_path):
    made, shots = filmed(lamp, tmp_path / "lamp.gif", episodes=2, deterministic=deterministic, seed=7)
    for i, episode in enumerate(made["episodes"]):
        same_numbers(episode, cuprl.evaluate(lamp, 1, deterministic, seed=7 + i))
        assert episode["cost_limit"] == {"heat": 2.0, "light": 40.0} and episode["terminated"]
    assert made["episodes"][0]["return"] != made["episodes"][1]["return"]
    assert [shot.moment.step for shot in shots] == [*range(1, 13)] * 2
    # The lamp as each step left it, also the last, after which it is dark again.
    assert [shot.frame[-1, 80, 0] for shot in shots] == [100 + 10 * light for light in range(1, 13)] * 2


@pytest.mark.parametrize("suffix, frames", [(".mp4", 12 + 10), (".gif", 12)])  # in a .gif the last one takes its time
def test_films_are_read_again(lamp, suffix, frames, tmp_path):
    made, shots = filmed(lamp, tmp_path / "deep" / f"lamp{suffix}")
    read = imageio.imread(made["out"], **({"plugin": "FFMPEG"} if suffix == ".mp4" else {}))
    assert read.shape == (frames, 120, 160, 3) and made["frames"] == 22 and made["fps"] == 10.0
    for i, shot in enumerate(shots):
        assert np.abs(read[i].astype(int) - shot.frame).mean() < 6  # what encoding loses
    assert imageio.immeta(made["out"])["duration"] == (2.2 if suffix == ".mp4" else 100)
    assert list((tmp_path / "deep").iterdir()) == [tmp_path / "deep" / f"lamp{suffix}"]


def test_fewer_frames_keep_the_pace_and_the_last_step(lamp, tmp_path):
    made, shots = filmed(lamp, tmp_path / "lamp.gif", fps=2)
    assert [shot.moment.step for shot in shots] == [1, 6, 11, 12] and made["fps"] == 2.0
    made, shots = filmed(lamp, tmp_path / "lamp.gif", steps=5)
    assert shots[-1].moment.step == 5 and not made["episodes"][0]["terminated"]


def test_a_sheet_alone_makes_no_film(lamp, tmp_path):
    made, _ = filmed(lamp, sheet=tmp_path / "sheet.png")
    assert made["out"] is None and [file.name for file in tmp_path.iterdir()] == ["sheet.png"]
    assert imageio.imread(tmp_path / "sheet.png", mode="RGB").shape == (2 * 120 + 6, 4 * 160 + 3 * 6, 3)


class Mute(Lamp):
    metadata = {"render_modes": ["ansi"]}  # noqa: RUF012

    def __init__(self):
        super().__init__()


class Grey(Lamp):
    def render(self):
        return super().render()[..., 0]


class Broken(Lamp):
    def render(self):
        raise RuntimeError("no lens")


@pytest.mark.parametrize(
    "make, words",
    [
        (Mute, "lamp does not draw itself as arrays (its render modes: ansi)"),
        (lambda: Lamp(), "(its render modes: rgb_array); let what makes it take render_mode='rgb_array' and give it that"),
        (Grey, "render of lamp gave an array of uint8, [50, 70]; let it give an array of uint8, [height, width, 3]"),
        (Broken, "render of lamp raised RuntimeError: no lens (test_video.py"),
    ],
)
def test_an_environment_that_does_not_draw(make, words, tmp_path):
    with pytest.raises(UserError) as told:
        cuprl.video(policy_of(lamp_task(make)), tmp_path / "v.gif")
    assert words in str(told.value) and not list(tmp_path.iterdir())


def test_an_environment_that_is_made_to_draw_is_taken_as_it_is(tmp_path):
    filmed(policy_of(lamp_task(lambda: Lamp("rgb_array"))), tmp_path / "v.gif")
    assert (tmp_path / "v.gif").exists()


@pytest.mark.parametrize(
    "options, words",
    [
        ({"out": "v.avi"}, "unknown kind of file '.avi'"),
        ({"out": "v"}, "unknown kind of file 'v'"),
        ({"sheet": "v.gif"}, "Accepted: .png"),
        ({"width": 161}, "width is 161; give an even number from 96 to 4096"),
        ({"height": 10}, "height is 10; give a whole number of at least 96"),
        ({"fps": 0.0}, "fps is 0.0; give more than 0"),
        ({"episodes": 0}, "episodes is 0"),
        ({"steps": 0}, "steps is 0"),
        ({"camera": "track"}, "lamp draws itself; leave --camera away"),
        ({}, "say where the video goes"),
    ],
)
def test_what_cannot_be_filmed(lamp, options, words, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    defaults = {} if options == {} or "sheet" in options else {"out": "v.gif"}
    with pytest.raises(UserError) as told:
        cuprl.video(lamp, **{**defaults, **options})
    assert words in str(told.value) and not list(tmp_path.iterdir())


def test_a_task_without_a_picture(tmp_path):
    with pytest.raises(UserError, match="tabular:gridworld has nothing to be seen"):
        cuprl.video(policy_of("tabular:gridworld"), tmp_path / "v.gif")


# --- robots -------------------------------------------------------------------------------------------------------------


def test_a_robot_in_its_runs_folder(renderer, tmp_path, capsys):  # noqa: F811
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


def test_a_robot_is_seen_as_it_falls(renderer, tmp_path):  # noqa: F811
    policy = policy_of("hopper-speed")
    made, shots = filmed(policy, tmp_path / "v.gif")
    same_numbers(made["episodes"][0], cuprl.evaluate(policy, 1))
    assert shots[-1].moment.terminated and shots[-1].moment.speed == pytest.approx(shots[-1].moment.cost[0])
    start, *_, before, last = (shot.frame[60:].astype(int) for shot in shots)
    assert np.abs(last - before).mean() < np.abs(last - start).mean()  # not the next episode's first


def test_a_policys_file_and_a_robot_of_ones_own(renderer, tmp_path):  # noqa: F811
    task = example("own_mujoco_robot").task
    file = export_policy(policy_of(task), out=tmp_path / "cart.npz")
    made, shots = filmed(file, task=task, steps=4, fps=50)
    assert made["out"] == str(tmp_path / "cart.mp4") and len(shots) == 4
    assert len(np.unique(shots[0].frame[60:].reshape(-1, 3), axis=0)) > 20  # a floor, a sky, a cart
    with pytest.raises(UserError, match="unknown camera of running-cart 'side'"):
        cuprl.video(file, task=task, camera="side")


# --- nothing to draw with -----------------------------------------------------------------------------------------------


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
