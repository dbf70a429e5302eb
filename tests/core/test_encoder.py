"""Encoders: their names, where they are found again, and their parameters as named arrays."""

import sys
from types import ModuleType

import numpy as np
import pytest

import cuprl
from cuprl.core import user_modules
from cuprl.core.encoder import by_rows, find_encoder, from_names, module_of, to_names
from cuprl.core.user_modules import NotTrusted, named_by
from cuprl.errors import UserError

ONE = np.ones(2, np.float32)


def init(key, obs_dim):
    return {}


def apply(params, obs):
    return obs


HELD = cuprl.Encoder(init, apply)
OWN = "import cuprl\n\nMINE = cuprl.Encoder(lambda key, n: {}, lambda params, obs: obs)\nother = 3\n"


@pytest.fixture
def own(own_module):
    """A module of one's own with an encoder, in the working folder; nothing is named yet."""
    own_module("own_encoder", OWN)
    return "own_encoder:MINE"


def test_an_encoder_is_called_by_where_it_is_held():
    assert HELD.name == f"{__name__}:HELD" and find_encoder(HELD) is HELD and find_encoder(HELD.name) is HELD
    assert cuprl.Encoder(init, lambda p, x: x).name.endswith("where_it_is_held.<locals>.<lambda>")
    assert find_encoder(None) is None and find_encoder("none") is None
    assert module_of("a.b:C") == "a.b" and module_of("none") is None and module_of("__main__:C") is None


def test_one_that_a_file_names_is_imported_where_it_is_trusted(own):
    with named_by("some/run", False), pytest.raises(NotTrusted, match="names the module own_encoder"):
        find_encoder(own)
    assert "own_encoder" not in sys.modules
    with named_by("some/run", "own_encoder"):
        assert isinstance(find_encoder(own), cuprl.Encoder)


def test_one_given_from_python_is_its_users_word(own):
    given = find_encoder(own)
    user_modules._named.clear()
    assert find_encoder(given) is given
    with named_by("some/run", False):
        assert find_encoder(own) is given


def test_what_the_running_script_holds_needs_no_trust(monkeypatch):
    script = ModuleType("__main__")
    script.CNN = HELD
    monkeypatch.setitem(sys.modules, "__main__", script)
    with named_by("some/run", False):
        assert find_encoder("__main__:CNN") is HELD
        with pytest.raises(UserError, match=r"__main__ has no cuprl\.Encoder Other; mend it, or give it again from Python"):
            find_encoder("__main__:Other")


@pytest.mark.parametrize(
    "given, sentence",
    [
        (3, "encoder is 3; give a cuprl.Encoder"),
        ("cnn", "encoder is 'cnn'; give MODULE:NAME, or none"),
        (":X", "give MODULE:NAME"),
        ("nowhere_at_all:X", "cannot import nowhere_at_all"),
        ("own_encoder:other", "own_encoder has no cuprl.Encoder other"),
    ],
)
def test_wrong_names(given, sentence, own):
    with pytest.raises(UserError, match=sentence):
        find_encoder(given)


@pytest.mark.parametrize("wrong", [(None, apply), (init, "apply"), (init, apply, "numpy")])
def test_functions_are_functions(wrong):
    with pytest.raises(UserError, match="of an Encoder is"):
        cuprl.Encoder(*wrong)


def test_parameters_come_back_by_their_names():
    params = {"conv": [(ONE, 2 * ONE), (3 * ONE,)], "last": {"w": 4 * ONE}}
    names = to_names(params)
    assert list(names) == ["conv/0/0", "conv/0/1", "conv/1/0", "last/w"]
    again = from_names(dict(reversed(names.items())))
    assert again["conv"][0][1] is names["conv/0/1"] and again["last"]["w"][0] == 4.0 and len(again["conv"]) == 2
    assert to_names({}) == {} and from_names({}) == {}
    many = [ONE * k for k in range(12)]
    assert [part[0] for part in from_names(to_names(many))] == list(range(12))


@pytest.mark.parametrize(
    "params, sentence",
    [
        (ONE, "gave a ndarray; give float32 arrays in dicts"),
        ({"a": np.ones(2)}, "gave float64 as a"),
        ({"a": [ONE, "text"]}, "as a/1"),
        ({"a/b": ONE}, "names a parameter 'a/b'"),
        ({"0": ONE}, "names a parameter '0'"),
        ({3: ONE}, "names a parameter 3"),
    ],
)
def test_parameters_that_could_not_come_back(params, sentence):
    with pytest.raises(UserError, match=sentence):
        to_names(params)


@pytest.mark.parametrize("lead", [(), (4,), (2, 3)])
def test_any_leading_axes(lead):
    x = np.arange(np.prod((*lead, 3)), dtype=np.float32).reshape(*lead, 3)
    found = by_rows(lambda params, rows: rows[:, :2] * params, 2.0, x)
    np.testing.assert_array_equal(found, 2.0 * x[..., :2])
