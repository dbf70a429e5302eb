"""Tables in the formats people write in."""

import pytest

from cuprl.experiments.report.formats import Table, latex_text, to_latex


@pytest.mark.parametrize(
    "text, latex",
    [
        ("cup > ppo-lag", r"cup $>$ ppo-lag"),
        ("16.04 [-7.12, 28.42]", r"16.04 [$-$7.12, 28.42]"),
        ("-", "-"),
        ("[1, 2]", "{}[1, 2]"),
        ("* x", "{}* x"),
        ("**-1.5 ± 2**", r"\textbf{$-$1.5 $\pm$ 2}"),
        ("alpha_x=1e-05", r"alpha\_x=1e-05"),
        ("50%", r"50\%"),
        (r"~^\{}<", r"\textasciitilde{}\textasciicircum{}\textbackslash{}\{\}$<$"),
    ],
)
def test_latex_prints_what_is_written(text, latex):
    assert latex_text(text) == latex


def test_places_are_said_once():
    rows = [["a", "1", "1"], ["a", "1", "1"], ["a", "2", "1"], ["b", "2", "1"]]
    lines = [["a", "1", "1"], ["", "", "1"], ["", "2", "1"], ["b", "2", "1"]]  # b's 2 is not a's
    assert Table([], rows, places=2).lines == lines and Table([], rows).lines == rows


def test_rules_stand_between_tasks_only():
    rows = [["a", "1"], ["a", "2"], ["b", "3"]]
    assert to_latex([Table(["task", "x"], rows)]).count(r"\midrule") == 2
    assert to_latex([Table(["task", "x"], rows, places=1)]).count(r"\midrule") == 2
    assert to_latex([Table(["algorithm", "x"], rows)]).count(r"\midrule") == 1
