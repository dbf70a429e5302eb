"""A run's folder as a result: a whole one becomes one, any other is refused."""

import shutil

import pytest

from cuprl.cli import main
from cuprl.experiments.store.of_run import from_run
from cuprl.experiments.store.results import Result


def damage(run, tmp_path, change):
    copy = tmp_path / "copy"
    shutil.copytree(run.path, copy)
    change(copy)
    return copy


def cut_rows(path):
    lines = (path / "progress.csv").read_text().splitlines(keepends=True)
    (path / "progress.csv").write_text("".join(lines[:-1]))


def cut_run(path):
    """As it was before its last iteration was checkpointed."""
    cut_rows(path)
    for checkpoint in (path / "checkpoints").iterdir():
        checkpoint.unlink()


def replace_in(name, old, new):
    def change(path):
        text = (path / name).read_text()
        assert old in text
        (path / name).write_text(text.replace(old, new, 1))

    return change


@pytest.mark.parametrize(
    "change, words",
    [
        (cut_rows, "is finished, but the metrics of iteration 3 are lost, with no checkpoint from before; train it again"),
        (cut_run, "has 2 of 3 iterations; finish it with `cup resume"),
        (replace_in("progress.csv", "\n2,", "\n7,"), "its iterations are not 1 to 3"),
        (replace_in("progress.csv", "\n2,", "\ntwo,"), "is damaged"),
        (replace_in("config.json", '"limits"', '"limit"'), "has no limits"),
        (lambda path: (path / "progress.csv").unlink(), "no progress.csv"),
    ],
)
def test_a_run_that_is_not_whole_is_refused(runs, tmp_path, change, words, capsys):
    good, copy = next(iter(runs.values())), damage(next(iter(runs.values())), tmp_path, change)
    assert main(["results", "import", str(good.path), str(copy), "--results", str(tmp_path / "r")]) == 2
    shown = capsys.readouterr().err
    assert words in shown and "copy" in shown and shown.count("\n") == 1
    assert not (tmp_path / "r").exists()  # not even the good one: all or nothing


def test_a_finished_run_as_a_result_needs_no_folder(runs):
    assert isinstance(from_run(next(iter(runs.values()))), Result)
