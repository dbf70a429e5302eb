"""Text that comes from files is data, wherever it is shown; and a terminal that knows only ASCII is enough."""

import csv
import io
import os
import subprocess
import sys

import pytest

from cuprl.cli import main
from cuprl.cli.inspect import print_evaluation
from cuprl.cli.terminal import show
from cuprl.core.text import csv_text, printable
from cuprl.experiments.report.formats import Table, markdown_text, to_csv, to_latex, to_markdown
from cuprl.training.train import train
from small import QUIET, SMALL

NASTY = "\x1b[2J[red]=cmd|'/C calc'!A0[/red]\n\u202e$\\frac{"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return train("hopper-speed", steps=200, out=tmp_path_factory.mktemp("runs") / "r", **SMALL, **QUIET)


def test_what_would_steer_a_terminal_is_written_out():
    assert printable("a\x1b[31mb\r\n\u202e± µ") == "a\\x1b[31mb\\r\\n\\u202e± µ"


def test_names_are_shown_letter_by_letter(capsys):
    keys = ("mean", "std", "undiscounted_mean", "limit", "violation_rate")
    cost = {f"cost_{key}": {NASTY: 1.0, "b": 1.0} for key in keys}
    print_evaluation(
        [
            {
                "task": NASTY,
                "algo": "[bold]cup",
                "episodes": 1,
                "iteration": 1,
                "deterministic": True,
                "return_mean": 1.0,
                "return_std": 1.0,
                "length_mean": 1.0,
                **cost,
            }
        ]
    )
    show([Table(["task", "return"], [[NASTY, "**1.0 ± 2.0**"]], title="[bold]x")])
    shown = capsys.readouterr().out
    assert "\x1b[2J" not in shown and "\u202e" not in shown and "[bold]cup" in shown and "[red]" in shown


def test_an_error_is_one_line_whatever_a_file_says(tmp_path, capsys):
    (tmp_path / "config.json").write_text('{"task": ["\\u001b[2J"]}')
    assert main(["eval", str(tmp_path)]) == 2
    (tmp_path / "p.npz").write_bytes(b"x")
    assert main(["eval", str(tmp_path / "p.npz\x1b[2J")]) == 2
    shown = capsys.readouterr().err
    assert "\x1b" not in shown and shown.count("\n") == 2


@pytest.mark.parametrize("name", ["=1+1", "+1+1", "-x", "@SUM(A1)", " =1", "\t=1"])
def test_a_spreadsheet_takes_names_for_text(name):
    rows = list(csv.reader(io.StringIO(to_csv([{"task": name, "mean": -1.5, "text": "-1.5"}]))))
    assert rows[1][0].startswith("'") and rows[1][1:] == ["-1.5", "-1.5"]
    assert csv_text("gym:A-v0") == "gym:A-v0"


def test_markdown_and_latex_take_names_for_text():
    rows = [["a|b <img src=x> [l](javascript:x) **y** `z`"], ["**1.0 ± 2.0**"], ["[1, 2] < 3"]]
    table = Table(["task"], rows, "t\n\\input{x}")
    lines = to_markdown([table]).splitlines()
    assert lines[4] == r"| a\|b \<img src=x> [l]\(javascript:x) \*\*y\*\* \`z\` |"
    assert lines[5:] == ["| **1.0 ± 2.0** |", "| [1, 2] < 3 |"] and markdown_text("a\\|b") == r"a\\\|b"
    latex = to_latex([table]).splitlines()
    assert latex[2] == r"% t\n\input{x}" and r"\textbf{1.0 $\pm$ 2.0} \\" in latex


def test_a_terminal_of_ascii_is_enough(run):
    command = [sys.executable, "-m", "cuprl", "eval", str(run.path), "--episodes", "1"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    done = subprocess.run(command, capture_output=True, env=environment)
    assert done.returncode == 0 and b" +- " in done.stdout, done.stderr
