"""The `theory` command."""

import json

import pytest

from cuprl.cli import main, theory


def cup(*words):
    return main(["theory", *words])


def test_the_table_fits_80_columns_and_shows_what_fails(capsys):
    assert cup("--instances", "60", "--lambdas", "0,0.95") == 0
    captured = capsys.readouterr()
    lines = captured.out.splitlines()
    assert lines[0] == "60 random problems, seed 0"
    assert max(map(len, lines)) <= 80
    corrected = next(line for line in lines if " theorem-1-corrected " in line)
    assert corrected.split()[:4] == ["theorem-1-corrected", "0", "100%", "0"]
    first = next(i for i, line in enumerate(lines) if " theorem-1 " in line)
    assert "100%" in lines[first]
    assert "0.95" in lines[first + 1]
    assert "100%" not in lines[first + 1]
    assert "\x1b" not in captured.out + captured.err  # no bar and no colour away from a terminal


def test_json_holds_the_same_numbers(capsys):
    assert cup("--instances", "60", "--lambdas", "1", "--json") == 0
    rows = json.loads(capsys.readouterr().out)
    by_name = {row["statement"]: row for row in rows}
    assert by_name["cpo-return"]["held"] == by_name["cpo-return"]["instances"] == 60
    assert by_name["lemma"]["tightness"] is None  # at lambda = 1 both distributions are the initial one
    assert by_name["theorem-1"]["share"] < 0.5


def test_a_failure_is_never_rounded_up(capsys):
    from cuprl.theory.study import Row

    assert theory._percent(Row("x", "paper", "", 0.0, 100_000, 99_999, 0.1, 1.0)) == "99.99%"
    assert theory._percent(Row("x", "paper", "", 0.0, 100_000, 100_000, 0.0, 1.0)) == "100%"


def test_counterexample_is_printed(capsys):
    assert cup("--counterexample", "proposition-1", "--lambdas", "1") == 0
    assert "proposition-1 (return, below, TV) fails at lambda = 1" in capsys.readouterr().out
    assert cup("--counterexample", "cpo-return", "--lambdas", "0.5") == 0
    assert "no counterexample to cpo-return was found" in capsys.readouterr().out


def test_front(capsys):
    assert cup("front", "chain", "--points", "3") == 0
    assert "chain: best return under each limit on its cost (wear)" in capsys.readouterr().out
    assert cup("front", "chain", "--points", "3", "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert [point["limit"] for point in report["front"]] == pytest.approx([0, 10, 20])


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["optimun"], "unknown part of theory 'optimun'"),
        (["study", "chain"], "try cup theory front chain"),
        (["optimum", "gridworld"], "optimum takes no problem as 'gridworld'; give --problems gridworld"),
        (["optimum", "--points", "3"], "--points goes with `cup theory front`, not with optimum; leave it away"),
        (["front", "gridworld", "--algos", "cup"], "--algos goes with `cup theory optimum`, not with front"),
        (["front", "gridworld", "--counterexample", "x"], "--counterexample goes with `cup theory study`, not with front"),
        (["--seeds", "3"], "--seeds goes with `cup theory optimum`, not with study"),
        (["--counterexample", "proposition-1", "--json"], "in words; leave --instances and --json away"),
        (["front"], "front needs a problem"),
        (["front", "gridwold"], "unknown problem 'gridwold'; did you mean gridworld?"),
        (["front", "chain", "--points", "1"], "--points is 1; give 2 or more"),
        (["--instances", "many"], "--instances is 'many'; give a whole number"),
        (["--instances", "2.5"], "instances is '2.5'"),
        (["--instances", "0"], "instances is 0"),
        (["--lambdas", "0;1"], "--lambdas is '0;1'; give numbers between commas, as in 0,0.5"),
        (["--lambdas", "2"], "lambda is 2; accepted is 0 to 1"),
        (["--counterexample", "theorem-9"], "unknown statement 'theorem-9'; did you mean"),
        (["--counterexample", "lemma", "--seed", "-1"], "seed is -1; accepted is 0 or a larger"),
        (["--counterexample", "lemma", "--lambdas", "2"], "lambda is 2; accepted is 0 to 1"),
        (["optimum", "--out", "planes"], "planes is no kind of picture; let its name end in .png"),
    ],
)
def test_bad_input(words, sentence, capsys):
    assert cup(*words) == 2
    assert sentence in capsys.readouterr().err
