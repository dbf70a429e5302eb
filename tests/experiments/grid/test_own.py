"""Experiments of one's own, from files."""

import os
from pathlib import Path

import pytest

from cuprl.cli import main
from cuprl.experiments.grid.expand import expand
from cuprl.experiments.grid.shipped import EXPERIMENTS, find
from experiments.tiny import FILE


def test_an_experiment_of_ones_own(tmp_path):
    (tmp_path / "mine.toml").write_text(
        FILE
        + """
        [[block]]
        sweep = { alpha = [0.1, 0.3], limit = [40, 50.5] }
        [[block]]
        tasks = ["swimmer-speed"]
        seeds = [3, 5]
        steps = 2.5e4
        limits = ["speed=20"]
    """
    )
    cells = expand(find(str(tmp_path / "mine.toml")))
    assert [str(cell) for cell in cells if cell.task == "hopper-speed" and cell.seed == 1] == [
        f"hopper-speed cup alpha={alpha}+limit={limit} seed 1" for alpha in ("0.1", "0.3") for limit in ("40", "50.5")
    ]
    swimmers = [cell for cell in cells if cell.task == "swimmer-speed"]
    assert [(cell.seed, cell.steps, cell.limits, cell.variant) for cell in swimmers] == [
        (seed, 25_000, ("speed=20",), "") for seed in (3, 5)
    ]
    assert swimmers[0].resolved()["settings"]["hidden"] == [8]


def test_blocks_of_other_settings_have_labels(tmp_path):
    more = "[[block]]\n[[block]]\nlabel = 'long'\nsettings = { batch_size = 200, init_log_std = -5e-5 }\n"
    (tmp_path / "mine.toml").write_text(FILE + more)
    cells = expand(find(str(tmp_path / "mine.toml")))
    assert [cell.variant for cell in cells] == ["", "long"] * 2
    assert main(["train", *cells[1].train_words("--steps", "many")[1:]]) == 2  # of the steps alone: -5e-5 is a number


def test_the_file_in_the_docs(tmp_path):
    page = (Path(__file__).parents[3] / "docs" / "experiments.md").read_text()
    (tmp_path / "mine.toml").write_text(page.split("```toml\n")[1].split("```")[0])
    assert len(expand(find(str(tmp_path / "mine.toml")))) == 5 * (2 * 2 + 1 * 4 + 2 * 2)
    assert all(f"| `{name}` | " in page and f"| {len(expand(find(name)))} |" in page for name in EXPERIMENTS)


@pytest.mark.parametrize(
    "text, words",
    [
        ("tasks = [", "is not TOML"),
        ("", "tasks is missing"),
        (FILE + "speed = 1", "unknown field 'speed'"),
        (FILE + "name = 'quick'", "comes with cuprl"),
        (FILE + "name = 'a/b'", "becomes a folder's"),
        (FILE + "block = 3", "[[block]]"),
        (FILE + "sweep = { alpha = 3 }", "list of its values"),
        (FILE + "sweep = { alpha = [] }", "list of its values"),
        (FILE + "sweep = 3", "give a table"),
        (FILE + "limits = { speed = 3 }", "a word or a number"),
        (FILE + "label = '..'", "label is '..'"),
        (FILE + "label = 'a'\nsweep = { alpha = [0.1] }", "a sweep names its points itself"),
        (FILE + "evaluate = 1_000_000", "evaluate is 1000000; give a whole number from 0 to 100000"),
        (FILE + "evaluate = -1", "evaluate is -1; give a whole number from 0"),
        (FILE.replace("20_000", "'many'"), "steps is 'many'"),
        (FILE.replace("0..1", "1..0"), "in order"),
        (FILE.replace('["hopper-speed"]', "[]"), "tasks is empty"),
        (FILE.replace("hopper", "hoper"), "did you mean hopper-speed"),
        (FILE.replace("[8]", "[-8]"), "give 1 to 1e5"),
    ],
)
def test_a_wrong_file_is_one_sentence(text, words, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text(text)
    assert main(["bench", "mine.toml"]) == 2
    shown = capsys.readouterr().err
    assert words in shown and shown.count("\n") == 1 and os.listdir() == ["mine.toml"]
