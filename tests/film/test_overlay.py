"""What stands in a frame."""

import numpy as np
import pytest

import cuprl
from cuprl.film.episode import Moment
from cuprl.film.overlay import OVER, WITHIN, decimals, depth, draw_numbers, fitted, font, share


def spec_with(*constraints):
    return cuprl.Spec("robot", 3, cuprl.Discrete(2), constraints, 100)


def has(frame, colour):
    return (frame == np.array(colour)).all(axis=-1).any()


@pytest.mark.parametrize("size", [(360, 480, 3), (480, 640, 3), (480, 320, 3), (120, 160, 3)])
def test_a_bar_tells_within_from_over(size):
    spec = spec_with(cuprl.Constraint("speed", 10.0))
    for cost, seen, not_seen in ((9.99, WITHIN, OVER), (10.01, OVER, WITHIN)):
        moment = Moment(7, np.array([12.3, cost]), np.array([cost]), np.array([1.0]), 1.5, False, False)
        frame = draw_numbers(np.full(size, 200, np.uint8), moment, spec, "robot")
        assert has(frame, seen) and not has(frame, not_seen)
        below = depth(size[0], size[1], 1)
        assert (frame[below:] == 200).all() and below <= size[0] / 3  # the picture itself is left alone


def test_each_number_changes_the_frame():
    spec = spec_with(cuprl.Constraint("a", 10.0), cuprl.Constraint("b", 1.0, discount=1.0))
    moment = Moment(7, np.array([1.0, 2.0, 3.0]), np.array([2.0, 0.5]), np.array([1.0, 0.1]), 1.5, False, False)
    black = np.zeros((360, 480, 3), np.uint8)
    changes = {
        "step": 8,
        "total": np.array([2.0, 2.0, 3.0]),
        "discounted": np.array([2.0, 0.6]),
        "cost": np.array([1.1, 0.1]),
        "speed": 1.6,
        "terminated": True,
    }
    moments = [moment, *(moment._replace(**{name: value}) for name, value in changes.items())]
    frames = [draw_numbers(black, moment, spec, "robot") for moment in moments]
    assert len({frame.tobytes() for frame in frames}) == 1 + len(changes)


def test_bars_and_digits():
    assert share(0.0, 10.0) == 0.0 and share(10.0, 10.0) == 0.8 and share(99.0, 10.0) == 1.0
    assert share(0.0, 0.0) == 0.0 and share(0.1, 0.0) == 1.0 and share(-5.0, 10.0) == 0.0
    assert [decimals(limit) for limit in (0.0, 0.1, 25.0, 103.1, 1e6)] == [2, 3, 1, 1, 1]
    assert fitted("speed", 1000.0, font(12)) == "speed"
    assert font(12).getlength(fitted("a" * 200, 80.0, font(12))) <= 80.0


def test_names_and_costs_without_end_stay_inside():
    spec = spec_with(*(cuprl.Constraint(f"{i} 测试" + "x" * 300, 10.0) for i in range(9)))
    moment = Moment(7, np.zeros(10), np.full(9, 1e9), np.full(9, -1e9), None, True, True)
    frame = draw_numbers(np.zeros((120, 160, 3), np.uint8), moment, spec, "robot" * 100)
    assert frame.shape == (120, 160, 3) and not frame[60:].any()


def test_texts_do_not_run_into_one_another_where_a_frame_is_narrow():
    """What has no room is left out: at the right the step's own cost, and how the sums are discounted."""
    spec = spec_with(cuprl.Constraint("speed", 82.7))
    moment = Moment(7, np.array([12.3, 0.1]), np.array([0.1]), np.array([0.09]), 1.5, False, False)
    other = moment._replace(cost=np.array([9.99]))
    for width, shown in ((640, True), (160, False)):
        frames = [
            draw_numbers(np.zeros((120 * width // 160, width, 3), np.uint8), m, spec, "robot") for m in (moment, other)
        ]
        assert (frames[0] != frames[1]).any() == shown
