"""Which frames there are."""

import numpy as np
import pytest

from cuprl.film.shots import KEPT, Pace, Thinned


@pytest.mark.parametrize(
    "seconds, fps, every, rate",
    [
        (0.008, 30, 4, 31.25),
        (0.04, 30, 1, 25.0),
        (0.002, 50, 10, 50.0),
        (0.25, 30, 1, 4.0),
    ],
)
def test_a_film_runs_as_fast_as_the_robot(seconds, fps, every, rate):
    assert Pace.of(seconds, fps) == pytest.approx((every, rate))


@pytest.mark.parametrize(
    "seconds, fps, every", [(0.008, 50, 3), (0.015, 50, 2), (0.02, 100, 1), (0.02, 30, 2), (0.008, 30, 4)]
)
def test_no_more_frames_are_shown_than_a_gif_plays(seconds, fps, every):
    assert Pace.of(seconds, fps, 50.0) == pytest.approx((every, 1.0 / (seconds * every)))


@pytest.mark.parametrize("count", [1, 8, 64, 65, 1000])
def test_few_of_many_frames_are_kept(count):
    kept = Thinned()
    for i in range(count):
        kept.take(np.array(i))
    frames = [int(frame) for frame in kept.all()]
    assert frames[0] == 0 and frames[-1] == count - 1 and min(count, 32) <= len(frames) <= KEPT
    assert len(set(np.diff(frames[:-1]).tolist())) <= 1
