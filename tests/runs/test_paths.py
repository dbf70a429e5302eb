"""Folders of runs: begun at once by many, unnamed, or without a name."""

import threading
from dataclasses import replace

import pytest

from cuprl.cli import main
from cuprl.errors import UserError
from cuprl.runs.config import RunConfig
from cuprl.runs.folder import Run
from small import FLAGS

CONFIG = RunConfig("x", "y", steps=1, limits={}, settings={"batch_size": 1})


def test_of_many_that_begin_in_one_folder_one_does(tmp_path):
    begun, refused, go = [], [], threading.Barrier(8)

    def begin(number):
        go.wait()
        try:
            with Run.begun(tmp_path / "r", replace(CONFIG, seed=number)) as run:
                begun.append(run)
                run.append({"iteration": number})
        except UserError as error:
            refused.append(str(error))

    threads = [threading.Thread(target=begin, args=(number,)) for number in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (run,) = begun
    assert Run(run.path).config["seed"] == run.config["seed"] and run.recorded() == {run.config["seed"]}
    assert len(refused) == 7 and all("is not empty" in r or "another process" in r for r in refused)


def test_runs_that_begin_in_the_same_second_get_their_own_folders(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = {Run.create(None, CONFIG).path for _ in range(3)}
    assert len(made) == 3


def test_a_folder_of_runs_names_one_of_them(tmp_path):
    run = Run.create(tmp_path / "runs" / "task" / "algo" / "seed0", CONFIG)
    for folder in (tmp_path / "runs", run.path.parent):
        with pytest.raises(UserError, match=f"is not a run: it has no config.json. .*: give one, as {run.path}.$"):
            Run(folder)
    with pytest.raises(UserError, match="Give a folder that `cup train` made"):
        Run(run.path / "checkpoints")


def test_a_folder_without_a_name_is_not_the_one_you_are_in(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["train", "hopper-speed", "--steps", "200", "--out", "", *FLAGS]) == 2
    assert main(["resume", ""]) == 2
    assert capsys.readouterr().err.count("the folder of the run is ''; name it") == 2 and not list(tmp_path.iterdir())


def test_a_used_folder_says_what_may_be_done(tmp_path):
    """`cup resume` is a way out of a run's folder alone."""
    run, other, file = Run.create(tmp_path / "run", CONFIG), tmp_path / "other", tmp_path / "file"
    other.mkdir()
    for path in (other / "notes", file):
        path.touch()
    for path, words in (
        (run.path, f"is not empty; give another, or `cup resume {run.path}`[.]"),
        (other, "is not empty; give another[.]"),
        (file, "is a file; give another[.]"),
        (3, "the folder of the run is 3; give its path"),
    ):
        with pytest.raises(UserError, match=words):
            Run.create(path, CONFIG)
