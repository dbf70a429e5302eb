"""Frames as the content of a file: a film, or a sheet of some of them. A frame is an array [H, W, 3] of bytes."""

from __future__ import annotations

import io
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path

import numpy as np
from PIL import Image

from cuprl.errors import UserError, unknown

SHEETS = (".png",)
COLUMNS, ROWS, GAP = 4, 2, 6  # of a sheet; the last in pixels
QUALITY = "20"  # of H.264: 0 loses nothing, 51 nearly all


def check(file: Path, kinds: Iterable[str]) -> None:
    """Refuse what cannot be written, before there is anything to write."""
    if file.suffix.lower() not in kinds:
        raise unknown("kind of file", file.suffix or file.name, kinds)
    if file.suffix.lower() == ".mp4":
        ffmpeg()


def ffmpeg() -> str:
    """Find the program, which comes as a package."""
    try:
        from imageio_ffmpeg import get_ffmpeg_exe

        return get_ffmpeg_exe()
    except (ImportError, RuntimeError):  # the second: the package is there without the program
        raise UserError("a .mp4 file needs ffmpeg: pip install 'cuprl[video]'; a .gif file does not.") from None


def mp4(frames: Iterator[np.ndarray], rate: float) -> bytes:
    """Encode H.264 as all browsers play it; sides must be even. rate: frames a second."""
    first = next(frames)
    size = f"{first.shape[1]}x{first.shape[0]}"
    with tempfile.TemporaryDirectory() as folder:  # the encoder needs a file that it can go back in
        film, said = Path(folder, "film.mp4"), Path(folder, "said")
        command = [
            ffmpeg(),
            "-v",
            "error",
            "-f",
            "rawvideo",
            "-pix_fmt",
            "rgb24",
            "-s",
            size,
            "-r",
            f"{rate:.6f}",
            "-i",
            "-",
            "-c:v",
            "libx264",
            "-crf",
            QUALITY,
            "-pix_fmt",
            "yuv420p",
            "-movflags",
            "+faststart",
            str(film),
        ]
        # In a group of its own, so that Ctrl-C is ours: the film then ends where it is, and is thrown away.
        with (
            said.open("wb") as log,
            suppress(BrokenPipeError),
            subprocess.Popen(command, stdin=subprocess.PIPE, stderr=log, process_group=0) as encoder,
        ):
            for frame in chain((first,), frames):
                encoder.stdin.write(frame.tobytes())  # type: ignore[union-attr]
        if encoder.returncode:
            reason = " ".join(said.read_text(errors="replace").split())
            raise UserError(f"ffmpeg could not make a film ({reason}); make a .gif file.")
        return film.read_bytes()


def gif(frames: Iterator[np.ndarray], rate: float) -> bytes:
    """Encode a GIF that plays again and again. Its clock ticks in hundredths of a second: each frame's end is rounded."""
    first, *others = [in_few_colours(frame) for frame in frames]
    ends = np.round(100.0 / rate * np.arange(len(others) + 2))
    film = io.BytesIO()
    times = (10.0 * np.diff(ends)).astype(int).tolist()  # milliseconds
    first.save(film, "GIF", save_all=True, append_images=others, duration=times, loop=0)
    return film.getvalue()


FILMS = {".mp4": mp4, ".gif": gif}


def sheet(frames: Sequence[np.ndarray]) -> bytes:
    """Lay out frames from first to last, evenly chosen, in rows; as PNG."""
    chosen = [frames[i] for i in np.unique(np.linspace(0, len(frames) - 1, COLUMNS * ROWS).round().astype(int))]
    height, width, _ = chosen[0].shape
    rows = min(ROWS, len(chosen))
    columns = -(-len(chosen) // rows)
    whole = Image.new("RGB", (columns * (width + GAP) - GAP, rows * (height + GAP) - GAP), "white")
    for i, frame in enumerate(chosen):
        whole.paste(Image.fromarray(frame), (i % columns * (width + GAP), i // columns * (height + GAP)))
    picture = io.BytesIO()
    in_few_colours(np.asarray(whole)).save(picture, "PNG", optimize=True)
    return picture.getvalue()


def in_few_colours(frame: np.ndarray) -> Image.Image:
    """Reduce to 256 colours, without dots of one in another: letters stay sharp, and the file small."""
    return Image.fromarray(frame).quantize(256)
