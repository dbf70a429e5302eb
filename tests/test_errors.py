"""Sentences about what is wrong."""

from cuprl.errors import UserError, blame, unknown


def test_an_unknown_name_gets_near_ones_and_all_that_are_accepted():
    said = str(unknown("task", "hoper-speed", ["hopper-speed", "tabular:queue"]))
    assert said == "unknown task 'hoper-speed'; did you mean hopper-speed? Accepted: hopper-speed, tabular:queue."
    assert str(unknown("task", "zzz", ["a", "b"])) == "unknown task 'zzz'; accepted: a, b."


def test_blame_names_the_line_that_raised():
    def divide():
        return 1 / 0

    try:
        divide()
    except ZeroDivisionError as error:
        told = blame("cost 'x'", error)
    assert isinstance(told, UserError)
    line = divide.__code__.co_firstlineno + 1
    assert str(told) == f"cost 'x' raised ZeroDivisionError: division by zero (test_errors.py, line {line}); mend it there."


def test_a_call_that_did_not_get_in_says_how_it_is_called():
    told = blame("cost 'x'", TypeError("missing argument"), "(obs, action)")  # no line of anybody's was reached
    assert str(told) == "cost 'x' raised TypeError: missing argument; it is called with (obs, action)."
    assert str(blame("importing x", ValueError("no"))) == "importing x raised ValueError: no; mend it."
