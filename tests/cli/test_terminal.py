"""Tables as a terminal shows them, narrow or wide, and as a pipe gets them."""

import pytest

from cuprl.cli.terminal import Styled, by_task, laid_out, pieces, show
from cuprl.experiments.report.formats import Table

WIDE = Table(
    ["task", "algorithm", "return IQM", "cost IQM", "plain cost IQM", "broken at the end", "steps to 90%", "seeds"],
    [
        [
            "hopper",
            "trpo-lag",
            "2071.3 [1741.2, 2236.7]",
            "85.03 [80.34, 90.86]",
            "**1089.3 ± 743.7**",
            "100% [34%, 100%]",
            "1,117,500 (2 seeds)",
            "3",
        ]
    ],
)


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_no_number_is_cut_in_two(width, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", str(width))
    show([WIDE])
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= width and "**" not in shown
    for whole in (
        "2071.3",
        "[1741.2, 2236.7]",
        "[80.34, 90.86]",
        "1089.3",
        "± 743.7",
        "[34%, 100%]",
        "1,117,500",
        "(2 seeds)",
    ):
        assert whole in shown


def test_a_table_too_wide_becomes_several_with_the_same_lines():
    columns = Table(WIDE.header[1:], [row[1:] for row in WIDE.rows])
    assert [piece.header for piece in pieces(columns, 200)] == [columns.header]
    cut = pieces(columns, 60)
    assert len(cut) > 1 and all(piece.header[0] == "algorithm" for piece in cut)
    assert [name for piece in cut for name in piece.header[1:]] == columns.header[1:]


def test_numbers_stand_at_the_right_and_words_at_the_left():
    table = Table(["name", "cost", "note"], [["a", "1.5 ± 0.2", "7 of them"], ["b", "**120.25**", "-"], ["c", "-", "3"]])
    assert [column.justify for column in laid_out(table, 80).columns] == ["left", "right", "left"]


def test_a_pipe_gets_a_row_in_one_line(capsys, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    show([Table(["name", "meaning"], [["a", "word " * 60], ["b", Styled("[red]short", "red")]])])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3 and lines[2].split() == ["b", "[red]short"]


def test_tasks_have_tables_of_their_own():
    rows = [["x", "cup", "1", "25"], ["x", "cpo", "2", "25"], ["y", "cup", "3", "10"], ["y", "cpo", "4", "20"]]
    first, second = by_task(Table(["task", "algorithm", "return", "limit"], rows, note="read so"))
    assert first.title == "x, limit 25" and first.header == ["algorithm", "return"] and not first.note
    assert second.title == "y" and second.header == ["algorithm", "return", "limit"] and second.note == "read so"
