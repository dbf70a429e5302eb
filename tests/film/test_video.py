"""Films of policies: what they show is what `evaluate` measures, and the files can be read again."""

import numpy as np
import pytest

import cuprl
from cuprl.errors import UserError
from cuprl.policies.export import export_policy
from film.studio import filmed, policy_of
from test_examples import example

# --- environments that draw themselves ----------------------------------------------------------------------------------


def test_fewer_frames_keep_the_pace_and_the_last_step(lamp, tmp_path):
    made, shots = filmed(lamp, tmp_path / "lamp.gif", fps=2)
    assert [shot.moment.step for shot in shots] == [1, 6, 11, 12] and made["fps"] == 2.0
    made, shots = filmed(lamp, tmp_path / "lamp.gif", steps=5)
    assert shots[-1].moment.step == 5 and not made["episodes"][0]["terminated"]


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


@pytest.mark.parametrize("given", [{"out": "/proc/v.gif"}, {"sheet": "/proc/v.png"}, {"out": "v.gif"}])
def test_a_file_that_cannot_be_written_is_known_before_the_first_frame(lamp, given, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "v.gif").mkdir()
    shots = []
    with pytest.raises((UserError, OSError), match=r"v\.(gif|png)"):
        cuprl.video(lamp, **given, on_shot=shots.append)
    assert not shots


# --- robots -------------------------------------------------------------------------------------------------------------


def test_a_policys_file_and_a_robot_of_ones_own(renderer, tmp_path):
    task = example("own_mujoco_robot").task
    file = export_policy(policy_of(task), out=tmp_path / "cart.npz")
    made, shots = filmed(file, task=task, steps=4, fps=50)
    assert made["out"] == str(tmp_path / "cart.mp4") and len(shots) == 4
    assert len(np.unique(shots[0].frame[60:].reshape(-1, 3), axis=0)) > 20  # a floor, a sky, a cart
    with pytest.raises(UserError, match="unknown camera of running-cart 'side'"):
        cuprl.video(file, task=task, camera="side")


# --- nothing to draw with -----------------------------------------------------------------------------------------------
