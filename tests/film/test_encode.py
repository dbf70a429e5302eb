"""Files of films and sheets can be read again."""

import imageio.v3 as imageio
import numpy as np
import pytest

from film.studio import filmed


@pytest.mark.parametrize("suffix, frames", [(".mp4", 12 + 10), (".gif", 12)])  # in a .gif the last one takes its time
def test_films_are_read_again(lamp, suffix, frames, tmp_path):
    made, shots = filmed(lamp, tmp_path / "deep" / f"lamp{suffix}")
    read = imageio.imread(made["out"], **({"plugin": "FFMPEG"} if suffix == ".mp4" else {}))
    assert read.shape == (frames, 120, 160, 3) and made["frames"] == 22 and made["fps"] == 10.0
    for i, shot in enumerate(shots):
        assert np.abs(read[i].astype(int) - shot.frame).mean() < 6  # what encoding loses
    assert imageio.immeta(made["out"])["duration"] == (2.2 if suffix == ".mp4" else 100)
    assert list((tmp_path / "deep").iterdir()) == [tmp_path / "deep" / f"lamp{suffix}"]


def test_a_sheet_alone_makes_no_film(lamp, tmp_path):
    made, _ = filmed(lamp, sheet=tmp_path / "sheet.png")
    assert made["out"] is None and [file.name for file in tmp_path.iterdir()] == ["sheet.png"]
    assert imageio.imread(tmp_path / "sheet.png", mode="RGB").shape == (2 * 120 + 6, 4 * 160 + 3 * 6, 3)
