"""Episodes as frames: as many as show the robot at its true speed, each with its numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageOps

from cuprl.core.task import bare
from cuprl.core.text import printable
from cuprl.film.episode import Moment, moments
from cuprl.film.filmed import Filmed
from cuprl.film.overlay import PANEL, depth, draw_numbers
from cuprl.policies.acting import SavedPolicy

KEPT = 64  # frames that a sheet is chosen from, at most; an even number


class Shot(NamedTuple):
    """A frame, and what it shows."""

    frame: np.ndarray  # [H, W, 3] of bytes
    episode: int  # from 0
    moment: Moment
    last: bool  # of its episode


class Pace(NamedTuple):
    """How steps become frames."""

    every: int  # so many steps a frame
    rate: float  # frames a second

    @staticmethod
    def of(seconds: float, fps: float, most: float = math.inf) -> Pace:
        """Choose the pace; seconds: that a step takes; fps: frames a second that are wanted, about; most: that are shown."""
        every = max(1, round(1.0 / (seconds * fps)), math.ceil(1.0 / (seconds * most) - 1e-9))
        return Pace(every, 1.0 / (seconds * every))


def shots(
    env: Filmed,
    saved: SavedPolicy,
    pace: Pace,
    size: tuple[int, int],
    episodes: int,
    deterministic: bool,
    seed: int,
    steps: int | None,
) -> Iterator[Shot]:
    """Take frames of this size (width, height): after the first step, each so many steps, and after the last."""
    name = printable(bare(env.spec.name))  # costs and limits are drawn
    for episode in range(episodes):
        title = name if episodes == 1 else f"{name}, episode {episode + 1} of {episodes}"
        for moment in moments(env, saved, deterministic, seed + episode, steps):
            last = moment.over or moment.step == steps
            if last or (moment.step - 1) % pace.every == 0:
                picture = env.frame() if env.fills else below_numbers(env.frame(), size, len(moment.cost))
                yield Shot(draw_numbers(picture, moment, env.spec, title), episode, moment, last)


def below_numbers(picture: np.ndarray, size: tuple[int, int], costs: int) -> np.ndarray:
    """Fit a picture of any size, as large as goes, into a frame below the panel."""
    width, height = size
    above = depth(height, width, costs)
    frame = Image.new("RGB", size, PANEL)
    frame.paste(ImageOps.pad(Image.fromarray(picture), (width, height - above), color=PANEL), (0, above))
    return np.asarray(frame)


class Thinned:
    """Some of many frames, evenly spread, and the last: what a sheet is chosen from, without keeping all."""

    def __init__(self) -> None:
        self.frames: list[np.ndarray] = []
        self.last: list[np.ndarray] = []  # the newest, where it is not among them
        self.every, self.count = 1, 0

    def take(self, frame: np.ndarray) -> None:
        """Take the next frame in; at so many, every second one of those kept is dropped."""
        self.last = [frame]
        if self.count % self.every == 0:
            self.frames.append(frame)
            self.last = []
        if len(self.frames) == KEPT:
            self.frames, self.last, self.every = self.frames[::2], [frame], 2 * self.every
        self.count += 1

    def all(self) -> list[np.ndarray]:
        """Give the frames kept, the last one among them."""
        return self.frames + self.last
