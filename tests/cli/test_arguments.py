"""Words of a command line: what is taken, and the sentence for what is not."""

import pytest

from cuprl.cli.arguments import Parser, numbers, one_of, seeds, value_of, whole
from cuprl.errors import UserError


def parser():
    made = Parser(prog="cup try")
    made.add_argument("name", metavar="NAME", nargs="?", type=one_of("colour", ("red", "green")))
    made.add_argument("--steps", type=whole(1), default=7)
    made.add_argument("--layers", type=value_of(tuple[int, ...]))
    made.add_argument("--anneal", type=value_of(bool))
    made.add_argument("--lambdas", type=numbers("0,1"), default="0,1")
    made.add_argument("--seeds", type=seeds)
    return made


@pytest.mark.parametrize(
    "words, name, value",
    [
        ([], "steps", 7),
        (["--steps", "2.5e6"], "steps", 2_500_000),
        (["--steps", "1_000"], "steps", 1000),
        (["--layers", "64,64"], "layers", (64, 64)),
        (["--layers", "none"], "layers", ()),
        (["--anneal", "no"], "anneal", False),
        ([], "lambdas", [0.0, 1.0]),
        (["--lambdas", "0.5"], "lambdas", [0.5]),
        (["--lambdas", "-10,20"], "lambdas", [-10.0, 20.0]),
        (["--lambdas", "-5e-5"], "lambdas", [-5e-5]),
        (["green"], "name", "green"),
        (["--seeds", "2..4"], "seeds", [2, 3, 4]),
        (["--seeds", "3,1,3"], "seeds", [3, 1]),
    ],
)
def test_what_is_taken(words, name, value):
    assert getattr(parser().parse_args(words), name) == value


@pytest.mark.parametrize(
    "words, sentence",
    [
        (["--steps", "many"], "--steps is 'many'; give a whole number."),
        (["--steps", "0"], "--steps is 0; give 1 or more."),
        (["--steps"], "argument --steps: expected one argument; see `cup try --help`."),
        (["--layers", "a,b"], "--layers is 'a,b'; give numbers such as 64,64."),
        (["--lambdas", "0;1"], "--lambdas is '0;1'; give numbers between commas, as in 0,1."),
        (["--lambdas", "nan"], "--lambdas is 'nan'; give numbers between commas, as in 0,1."),
        (["--lambdas", "none"], "--lambdas is 'none'; give numbers between commas, as in 0,1."),
        (["--seeds", "0..1e9"], "--seeds is 0..1e9, more than 100,000 seeds; give fewer, as 0..9."),
        (["--seeds", "3..1"], "--seeds is 3..1: the last seed is less than the first; give them in order, as 0..9."),
        (["gren"], "unknown colour 'gren'; did you mean green or red? Accepted: red, green."),
        (["--step=3"], "unknown flag '--step'; did you mean --steps"),
        (["red", "blue"], "unexpected argument 'blue'"),
    ],
)
def test_what_is_not(words, sentence):
    with pytest.raises(UserError) as error:
        parser().parse_args(words)
    assert str(error.value).startswith(sentence)


def test_arguments_may_depend_on_the_words():
    made = Parser(prog="cup try", completed_by=lambda parser, words: parser.add_argument("--more", default=list(words)))
    made.add_argument("--algo")
    assert made.parse_args(["--algo", "cup"]).more == ["--algo", "cup"]
