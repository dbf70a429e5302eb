"""A run folder in trouble: two processes at once, rows or checkpoints lost. What can be had back is, the rest is said."""

import shutil

import pytest

from cuprl.cli import main
from cuprl.errors import UserError
from cuprl.experiments.store.of_run import from_run
from cuprl.runs.config import RunConfig
from cuprl.runs.folder import Run, iterations
from cuprl.training.display import Plain
from cuprl.training.train import resume, train
from small import QUIET, SMALL, same_arrays, same_progress


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A finished run of 6 iterations, with the checkpoints 2, 4 and 6."""
    return train("hopper-speed", steps=1200, out=tmp_path_factory.mktemp("runs") / "r", checkpoint_every=2, **SMALL, **QUIET)


@pytest.fixture
def run(whole, tmp_path):
    return Run(shutil.copytree(whole.path, tmp_path / "r"))


def drop_rows(run, *lost):
    lines = run.metrics.read_text().splitlines(keepends=True)
    run.metrics.write_text("".join(line for i, line in enumerate(lines) if i not in lost))


def test_a_refused_resume_changes_nothing(run, capsys):
    """The run's last rows are past its newest checkpoint, as those of a run at work."""
    run.checkpoints()[0].unlink()
    before = {path: path.read_bytes() for path in run.path.rglob("*") if path.is_file()}
    with run.locked():
        assert main(["resume", str(run.path)]) == 2
    assert "another process" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in run.path.rglob("*") if path.is_file()} == before


def test_lost_rows_are_written_again_from_a_checkpoint_before_them(whole, run, capsys):
    drop_rows(run, 5, 6)
    with pytest.raises(UserError, match=r"finished, but progress.csv lacks iterations 5 to 6; `cup resume .* iteration 4"):
        from_run(run)
    resume(run, display=Plain())
    assert "progress.csv lacks iterations 5 to 6: going back to iteration 4" in capsys.readouterr().err
    same_progress(whole, run)
    same_arrays(whole.latest()[0], run.latest()[0])


def test_rows_lost_before_every_checkpoint_are_named_and_the_rest_stays(run, capsys):
    drop_rows(run, 1)
    before = run.metrics.read_bytes()
    resume(run, display=Plain())
    assert "the metrics of iteration 1 are lost, with no checkpoint from before" in capsys.readouterr().err
    assert run.metrics.read_bytes() == before
    with pytest.raises(UserError, match=r"the metrics of iteration 1 are lost.*train it again") as error:
        from_run(run)
    assert "resume" not in str(error.value)


def test_without_checkpoints_no_metrics_are_wiped(run, capsys):
    shutil.rmtree(run.path / "checkpoints")
    before = run.metrics.read_bytes()
    assert main(["resume", str(run.path)]) == 2
    assert "metrics of 6 iterations but no checkpoint" in capsys.readouterr().err and run.metrics.read_bytes() == before


def test_a_run_killed_before_its_first_checkpoint_begins_again(whole, run):
    for path in run.checkpoints():
        path.unlink()
    drop_rows(run, 3, 4, 5, 6)
    same_progress(whole, resume(run, **QUIET))


@pytest.mark.parametrize(
    "stretches, words",
    [
        ([range(7, 8)], "iteration 7"),
        ([range(3, 6)], "iterations 3 to 5"),
        ([range(1, 2), range(3, 5), range(9, 10)], "iterations 1, 3 to 4, 9"),
    ],
)
def test_iterations_in_words(stretches, words):
    assert iterations(stretches) == words


def test_a_run_begun_with_fewer_columns_keeps_them(run):
    """An older cuprl recorded less: the rows of a newer one must not be lost for it."""
    rows = [line.split(",") for line in run.metrics.read_text().splitlines()]
    at = rows[0].index("train/predicted_cost")
    older = [[cell for i, cell in enumerate(row) if i != at] for row in rows[:5]]
    run.metrics.write_text("".join(",".join(row) + "\n" for row in older))
    resume(run, display=Plain())
    found = run.progress()
    assert "train/predicted_cost" not in found
    assert found["iteration"].tolist() == list(range(1, len(rows)))


@pytest.mark.parametrize("left", ["", "iteration,st", "iteration,steps\n", "iteration,steps\n1,200\n2,4"])
def test_whatever_a_killed_run_leaves_of_its_metrics_is_continued(left, tmp_path):
    run = Run.create(tmp_path / "run", RunConfig("x", "y", steps=1, limits={}, settings={"batch_size": 1}))
    (run.path / "progress.csv").write_text(left)
    run.forget_after(1)
    run.append({"iteration": 2, "steps": 400})
    assert run.progress()["steps"].tolist() == ([200.0, 400.0] if "200" in left else [400.0])
