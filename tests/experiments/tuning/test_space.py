"""What is searched: ranges and choices as people write them."""

import pytest

from cuprl.algorithms import ALGORITHMS, load
from cuprl.envs import find
from cuprl.errors import UserError
from cuprl.experiments.tuning.space import Axis, axis_of, space_of


def test_a_range_is_around_what_the_setting_is_on_the_task():
    settings = find("tabular:chain").settings
    (axis,) = space_of("cup", ["policy_lr"], {}, settings)
    assert axis.low < settings["policy_lr"] < axis.high and axis.holds(settings["policy_lr"])
    assert not space_of("cup", ["policy_lr"], {})[0].holds(settings["policy_lr"])  # a robot's


@pytest.mark.parametrize("algo", ALGORITHMS)
def test_every_algorithm_has_a_usual_space_around_its_defaults(algo):
    _, config = load(algo)
    axes = space_of(algo, [], {})
    assert 2 <= len(axes) <= 6
    for axis in axes:
        assert axis.holds(getattr(config, axis.name)) == getattr(config, axis.name), axis


def test_words():
    alpha, lr, epochs, hidden, multiplier = space_of(
        "cup", ["alpha=0.1..0.5", "policy-lr", "epochs=1..20", "hidden=64,64/128,128/none", "multiplier=pid,projection"], {}
    )
    assert str(alpha) == "alpha 0.1 to 0.5" and str(lr) == "policy_lr 3.75e-05 to 0.0006 (log)"
    assert (epochs.kind, epochs.low, epochs.high, epochs.logarithmic) == (int, 1, 20, True)
    assert hidden.choices == ("64,64", "128,128", "none")
    assert hidden.holds((64, 64)) == "64,64" and hidden.holds((8,)) is None
    assert multiplier.choices == ("pid", "projection") and alpha.holds(0.05) is None
    assert Axis("alpha", float, 0.05, 0.5).logarithmic and not axis_of("lam", float, "0..1").logarithmic
    normalise, delta = space_of("cup", ["normalise=true,false", "delta=0.020,2e-2,5e-2"], {})
    assert normalise.holds(True) == "true" and delta.choices == ("2e-2", "5e-2") and delta.holds(0.05) == "5e-2"
    assert "alpha" not in [axis.name for axis in space_of("cup", [], {"alpha": 0.1})]


@pytest.mark.parametrize(
    "words, said",
    [
        (["alpa=0..1"], "unknown setting of cup 'alpa'; did you mean alpha"),
        (["alpha=0.5..0.1"], "the smaller first"),
        (["alpha=0.1..inf"], "give two finite numbers"),
        (["alpha=a..b"], "--search alpha is 'a'; give a number"),
        (["alpha=-1..1"], "alpha is -1.0; give 0 or more"),
        (["alpha=0.1"], "give LOW..HIGH, or choices A,B"),
        (["alpha"] * 2, "given twice"),
        (["epochs=1.5..3"], "give a whole number"),
        (["improvement=a..b"], "improvement is no number; give its choices"),
        (["improvement=clip,magic"], "improvement is 'magic'; accepted"),
        (["hidden=64,64"], "give choices, as 64,64/128,128"),
        (["normalise"], "has no usual range"),
        (["delta=0.01..0.1"], "--delta 0.02 fixes it"),
    ],
)
def test_wrong_words(words, said):
    with pytest.raises(UserError, match=said.replace("(", r"\(")):
        space_of("cup", words, {"delta": 0.02})
