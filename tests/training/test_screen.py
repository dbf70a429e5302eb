"""What is redrawn in place, and its colours."""

import io
import math

import pytest
from rich.console import Console
from rich.live import Live

from cuprl.training.screen import Redrawn, cost_colour


def test_lines_stand_above_what_is_drawn_last():
    screen, shown = Redrawn(per_second=1), io.StringIO()
    screen.console = Console(file=shown, force_terminal=False, width=40)
    screen.live = Live(console=screen.console, refresh_per_second=1)
    with screen as entered:
        assert entered is screen
        screen.draw("first")
        screen.console.print("a line")
        screen.draw("last")
    assert [line.strip() for line in shown.getvalue().splitlines()] == ["a line", "last"]


@pytest.mark.parametrize("cost, colour", [(9.0, "green"), (10.0, "green"), (10.5, "red"), (math.nan, "")])
def test_a_cost_is_green_within_its_limit_and_red_over_it(cost, colour):
    assert cost_colour(cost, 10.0) == colour
