"""What draws: environments that draw themselves, and those that do not."""

import pytest

import cuprl
from cuprl.errors import UserError
from film.studio import Lamp, filmed, lamp_task, policy_of


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
        (Broken, "render of lamp raised RuntimeError: no lens (test_filmed.py"),
    ],
)
def test_an_environment_that_does_not_draw(make, words, tmp_path):
    with pytest.raises(UserError) as told:
        cuprl.video(policy_of(lamp_task(make)), tmp_path / "v.gif")
    assert words in str(told.value) and not list(tmp_path.iterdir())


def test_an_environment_that_is_made_to_draw_is_taken_as_it_is(tmp_path):
    filmed(policy_of(lamp_task(lambda: Lamp("rgb_array"))), tmp_path / "v.gif")
    assert (tmp_path / "v.gif").exists()


def test_a_task_without_a_picture(tmp_path):
    with pytest.raises(UserError, match="tabular:gridworld has nothing to be seen"):
        cuprl.video(policy_of("tabular:gridworld"), tmp_path / "v.gif")
