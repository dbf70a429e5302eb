"""The numbers in a frame: the return, and each cost so far as a bar that fills up to its limit and beyond."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from cuprl.core.spec import Constraint, Spec
from cuprl.core.text import printable
from cuprl.film.episode import Moment

Colour = tuple[int, int, int]

# Told apart also by those who see few colours (Okabe and Ito's), and by their lightness.
PANEL, WHITE, GREY = (14, 18, 26), (255, 255, 255), (176, 184, 196)
WITHIN, OVER, LIGHT_OVER = (86, 180, 233), (230, 97, 0), (255, 160, 90)  # the last for letters
TROUGH = (58, 66, 80)
OPACITY = 0.78
LIMIT_AT = 0.8  # of a bar's length: the rest shows by how much a cost is over
LINES = 26  # of text that a frame has room for
ABREAST = 35  # letters of full width likewise


def depth(height: int, width: int, costs: int) -> int:
    """Give the depth of the panel in a frame of this size, in pixels; half the frame at most."""
    size = letters(height, width)
    return min(height // 2, leading(size) * (2 + costs) + size // 2)


def letters(height: int, width: int) -> int:
    """Choose the size of letters for a frame of this size, in pixels."""
    return max(8, round(min(height / LINES, width / ABREAST)))


def leading(size: int) -> int:
    """Give the distance of two lines with letters of this size."""
    return round(1.5 * size)


def draw_numbers(picture: np.ndarray, moment: Moment, spec: Spec, title: str) -> np.ndarray:
    """Draw the numbers of a moment into a panel at the top of its picture [H, W, 3]."""
    height, width, _ = picture.shape
    size, below = letters(height, width), depth(height, width, len(spec.constraints))
    shaded = picture.copy()
    shaded[:below] = (1.0 - OPACITY) * picture[:below] + OPACITY * np.array(PANEL)
    image = Image.fromarray(shaded)
    pen = Pen(ImageDraw.Draw(image), size, width, margin=size)
    lines = (below - size // 2) // leading(size)  # fewer than there are costs where these fill half the frame
    first, second, *rows = (round(size / 4 + leading(size) * (line + 0.5)) for line in range(lines))
    pen.ends(first, title, progress(moment, spec), bold=True)
    speed = "" if moment.speed is None else f"speed {moment.speed:.2f}"
    pen.ends(second, f"return {moment.total[0]:,.1f}", speed)
    if pen.fits(how := discounts(spec.constraints), speed):
        pen.text(pen.sums_from, second, how, "lm", GREY)
    for row, constraint, so_far, now in zip(rows, spec.constraints, moment.discounted, moment.cost):
        pen.bar(row, constraint, float(so_far), float(now))
    return np.asarray(image)


def progress(moment: Moment, spec: Spec) -> str:
    """Say which step of how many it is, or that the episode has ended."""
    if moment.terminated:
        return f"ended at step {moment.step}"
    return f"step {moment.step} / {spec.horizon}"


def discounts(constraints: Sequence[Constraint]) -> str:
    """Say how the sums below are discounted; one number if all are the same."""
    shown = [f"{c.discount:g}" for c in constraints]
    return "" if set(shown) <= {"1"} else f"discounted {', '.join(shown if len(set(shown)) > 1 else shown[:1])}"


class Pen:
    """Writes and draws on the panel of one frame."""

    def __init__(self, draw: ImageDraw.ImageDraw, size: int, width: int, margin: int):
        self.draw, self.size, self.width, self.margin = draw, size, width, margin
        self.bar_from, self.bar_to = margin + 0.17 * width, margin + 0.46 * width
        self.sums_from = self.bar_to + 0.6 * margin

    def text(self, x: float, y: int, text: str, anchor: str, colour: Colour = WHITE, bold: bool = False) -> None:
        """Write a text at a place; anchor: which of its corners that is, in Pillow's letters."""
        self.draw.text((x, y), text, colour, font(self.size, bold), anchor)

    def fits(self, text: str, right: str) -> bool:
        """Tell whether a text has room after the bars, before what stands at the right end of its line."""
        there = font(self.size).getlength(text) + font(self.size).getlength(right)
        return self.sums_from + there < self.width - 2 * self.margin

    def ends(self, y: int, left: str, right: str, bold: bool = False) -> None:
        """Write one text at each end of a line; the left one is cut where there is no room for both."""
        room = self.width - 3 * self.margin - font(self.size).getlength(right)
        self.text(self.margin, y, fitted(left, room, font(self.size, bold)), "lm", bold=bold)
        self.text(self.width - self.margin, y, right, "rm", GREY if bold else WHITE)

    def bar(self, y: int, constraint: Constraint, so_far: float, now: float) -> None:
        """Draw a name, a bar, what has come together of how much, and what this step alone cost."""
        over, places = so_far > constraint.limit, decimals(constraint.limit)
        first, last = self.bar_from, self.bar_to
        self.text(self.margin, y, fitted(printable(constraint.name), first - 1.5 * self.margin, font(self.size)), "lm")
        half = round(0.42 * self.size)
        self.draw.rectangle((first, y - half, last, y + half), TROUGH)
        filled = first + (last - first) * share(so_far, constraint.limit)
        if filled > first:
            self.draw.rectangle((first, y - half, filled, y + half), OVER if over else WITHIN)
        mark = first + LIMIT_AT * (last - first)
        self.draw.line((mark, y - half - 2, mark, y + half + 2), WHITE, max(1, self.size // 8))
        added = f"now {now:.{places + 1}f}"
        said = f"{so_far:,.{places}f} / {constraint.limit:,.{places}f}"
        if self.fits(said, added):
            self.text(self.width - self.margin, y, added, "rm", GREY)
        if over and self.fits(f"{said} over", added):
            said += " over"  # its colour says so too, and the bar beyond the mark
        self.text(self.sums_from, y, said, "lm", LIGHT_OVER if over else WHITE)


def share(so_far: float, limit: float) -> float:
    """Tell how much of a bar is filled, 0 to 1."""
    full = limit / LIMIT_AT
    return min(1.0, max(0.0, so_far / full)) if full > 0.0 else float(so_far > 0.0)


def decimals(limit: float) -> int:
    """Count the decimals that show a limit to three digits or so."""
    return min(4, max(1, 2 - math.floor(math.log10(limit)))) if limit > 0.0 else 2


def fitted(text: str, room: float, face: ImageFont.FreeTypeFont) -> str:
    """Cut a text to as much of it as there is room for."""
    if face.getlength(text) <= room:
        return text
    while text and face.getlength(text + "…") > room:
        text = text[:-1]
    return text + "…"


@cache
def font(size: int, bold: bool = False) -> ImageFont.FreeTypeFont:
    """Load matplotlib's own font: it is there wherever we are, and has most letters of the world."""
    import matplotlib

    name = "DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf"
    return ImageFont.truetype(Path(matplotlib.get_data_path(), "fonts", "ttf", name), size)
