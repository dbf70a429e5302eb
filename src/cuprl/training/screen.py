"""A place in the terminal that is redrawn in place, with lines above it: for a run, and for a grid of them."""

from __future__ import annotations

from typing import Any, Self


class Redrawn:
    """Draws while it is entered; what is printed by its `console` stands above."""

    def __init__(self, per_second: int):
        """Prepare it; per_second: how often it is drawn anew."""
        from rich.console import Console
        from rich.live import Live

        self.console = Console()
        self.live = Live(console=self.console, refresh_per_second=per_second)

    def __enter__(self) -> Self:
        self.live.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self.live.__exit__(None, None, None)

    def draw(self, content: Any) -> None:
        """Put this in the place of what was drawn before."""
        self.live.update(content)


def cost_colour(cost: float, limit: float) -> str:
    """Choose green under the limit and red over it; none for a cost that is not known."""
    return "green" if cost <= limit else "red" if cost > limit else ""
