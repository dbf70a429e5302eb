"""What stands in a frame, and which frames there are."""

import numpy as np
import pytest

import cuprl
from cuprl import envs
from cuprl.film.episode import Moment
from cuprl.film.overlay import OVER, WITHIN, decimals, depth, draw_numbers, fitted, font, share
from cuprl.film.shots import KEPT, Pace, Thinned
from film.studio import renderer  # noqa: F401  (a fixture)


def spec_with(*constraints):
    return cuprl.Spec("robot", 3, cuprl.Discrete(2), constraints, 100)


def has(frame, colour):
    return (frame == np.array(colour)).all(axis=-1).any()


@pytest.mark.parametrize("size", [(360, 480, 3), (480, 640, 3), (120, 160, 3)])
def test_a_bar_tells_within_from_over(size):
    spec = spec_with(cuprl.Constraint("speed", 10.0))
    for cost, seen, not_seen in ((9.99, WITHIN, OVER), (10.01, OVER, WITHIN)):
        moment = Moment(7, np.array([12.3, cost]), np.array([cost]), np.array([1.0]), 1.5, False, False)
        frame = draw_numbers(np.full(size, 200, np.uint8), moment, spec, "robot")
        assert has(frame, seen) and not has(frame, not_seen)
        below = depth(size[0], 1)
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


@pytest.mark.parametrize("count", [1, 8, 64, 65, 1000])
def test_few_of_many_frames_are_kept(count):
    kept = Thinned()
    for i in range(count):
        kept.take(np.array(i))
    frames = [int(frame) for frame in kept.all()]
    assert frames[0] == 0 and frames[-1] == count - 1 and min(count, 32) <= len(frames) <= KEPT
    assert len(set(np.diff(frames[:-1]).tolist())) <= 1


def test_the_bounds_of_a_circle_are_seen(renderer):  # noqa: F811
    from cuprl.film.filmed import film

    env = film("ant-circle", None, 160, 120)
    try:
        env.reset(0)
        env.step(np.zeros((1, 8)))
        env.state[1:3] = 3.0, 9.5  # x, y: at the bound, on the circle
        shown = env.frame().astype(int)
        assert ((shown[..., 0] - shown[..., 2]) > 120).any()  # orange; the robot is less so
        env.renderer.lines = ()
        bare = env.frame().astype(int)
        assert not ((bare[..., 0] - bare[..., 2]) > 120).any()
    finally:
        env.close()


@pytest.mark.parametrize("task", ["humanoid-circle", "halfcheetah-speed"])
def test_a_dressed_robot_is_the_same_robot(task):
    """All that its position depends on is as in the task, so that a state means the same in both."""
    from cuprl.envs.mujoco.model import load_dressed, load_model
    from cuprl.film.scene import dressed

    own, shown = load_model(envs.find(task).model, task), load_dressed(envs.find(task).model, dressed(64, 64))
    for name in ("nq", "nv", "na", "ngeom", "body_pos", "body_quat", "jnt_pos", "jnt_axis", "qpos0", "body_mass"):
        np.testing.assert_array_equal(getattr(own, name), getattr(shown, name))
