"""Files with a row an iteration: what was written is read, half a line is no row, damage is told."""

import math

import numpy as np
import pytest

from cuprl.errors import UserError
from cuprl.runs.progress import Rows


def test_numbers_come_back_to_the_last_bit(tmp_path):
    rows = Rows(tmp_path / "p.csv")
    assert rows.table() == [] and rows.columns() == {} and rows.recorded() == set()
    values = [0.1, 1e-300, math.pi * 1e17, float("nan"), -float("inf")]
    for i, value in enumerate(values, 1):
        rows.append({"iteration": i, "x": value})
    np.testing.assert_array_equal(rows.columns()["x"], values)
    assert rows.recorded() == {1, 2, 3, 4, 5}


def test_the_first_row_decides_the_columns_also_of_a_file_that_is_found(tmp_path):
    Rows(tmp_path / "p.csv").append({"iteration": 1, "x": 1.0})
    found = Rows(tmp_path / "p.csv")
    found.append({"iteration": 2, "new": 5.0})
    assert found.table() == [["iteration", "x"], ["1", "1.0"], ["2", "nan"]]


@pytest.mark.parametrize("end", ["\u2028", "\x85", "\x0b", "\n"])
def test_a_name_may_hold_what_elsewhere_ends_a_line(end, tmp_path):
    name = f"rollout/ep_cost_mean/a{end}b"
    for i in (1, 2):
        Rows(tmp_path / "p.csv").append({"iteration": i, name: 1.0})
    assert list(Rows(tmp_path / "p.csv").columns()) == ["iteration", name]


def test_half_a_last_line_is_no_row_and_is_dropped_with_what_is_forgotten(tmp_path):
    rows = Rows(tmp_path / "p.csv")
    for i in (1, 2, 3):
        rows.append({"iteration": i, "x": 0.5})
    with rows.path.open("a") as file:
        file.write("4,0.")
    assert rows.recorded() == {1, 2, 3}
    rows.forget_after(2)
    assert rows.path.read_text() == "iteration,x\n1,0.5\n2,0.5\n"


@pytest.mark.parametrize(
    "text, words",
    [
        ("x,iteration\n1,2\n", "its first line is not the names of its columns"),
        ("iteration,x,x\n1,2,3\n", "its first line is not the names of its columns"),
        ("iteration,x\n1,much\n", "could not convert"),
        ("iteration,x\n1," + "9" * 200_000 + "\n", "field larger"),
    ],
)
def test_damage_is_told(text, words, tmp_path):
    (tmp_path / "p.csv").write_text(text)
    with pytest.raises(UserError, match=words):
        Rows(tmp_path / "p.csv").columns()


@pytest.mark.parametrize("number", ["0", "-1", "1.0", "²", "9" * 19, "x"])
def test_a_row_whose_number_is_damaged_counts_for_none(number, tmp_path):
    (tmp_path / "p.csv").write_text(f"iteration,x\n{number},1.0\n7,1.0\n")
    assert Rows(tmp_path / "p.csv").recorded() == {7}
