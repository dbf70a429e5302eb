"""Links, pipes and folders in the place of a run's files: nothing is written elsewhere, nothing hangs, it is said."""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from cuprl.cli import main
from cuprl.errors import UserError
from cuprl.experiments.report.plot import plot_runs
from cuprl.runs.files import held, read, try_writing, write_atomically, write_with_folders
from cuprl.runs.folder import Run
from cuprl.training.train import resume, train
from small import QUIET, SMALL


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run of 2 iterations of which the second is to be done again."""
    run = train("hopper-speed", steps=400, out=tmp_path_factory.mktemp("runs") / "r", checkpoint_every=1, **SMALL, **QUIET)
    run.checkpoints()[0].unlink()
    return run


@pytest.fixture
def run(whole, tmp_path):
    return Run(shutil.copytree(whole.path, tmp_path / "r"))


@pytest.mark.parametrize("name", ["lock", "progress.csv", "checkpoints"])
def test_a_link_is_not_written_through(name, run, tmp_path, capsys):
    theirs = (run.path / name).rename(tmp_path / "theirs")
    (run.path / name).symlink_to(theirs)
    before = theirs.read_bytes() if theirs.is_file() else sorted(theirs.iterdir())
    assert main(["resume", str(run.path)]) == (0 if name == "progress.csv" else 2)
    if name == "progress.csv":  # rewritten whole: the link is replaced
        assert not run.metrics.is_symlink() and run.recorded() == {1, 2}
    else:
        assert f"{name} is a symbolic link" in capsys.readouterr().err
    assert (theirs.read_bytes() if theirs.is_file() else sorted(theirs.iterdir())) == before


def test_a_row_is_not_appended_through_a_link(run, tmp_path):
    (tmp_path / "theirs").write_text("mine\n")
    run.metrics.unlink()
    run.metrics.symlink_to(tmp_path / "theirs")
    with pytest.raises(UserError, match=r"progress.csv is a symbolic link.*remove it"):
        run.append({"iteration": 1})
    assert (tmp_path / "theirs").read_text() == "mine\n"


def test_a_folder_prepared_with_links_is_not_trained_into(tmp_path, capsys):
    (tmp_path / "theirs").mkdir()
    (tmp_path / "r").mkdir()
    (tmp_path / "r" / "checkpoints").symlink_to(tmp_path / "theirs")
    assert main(["train", "hopper-speed", "--out", str(tmp_path / "r")]) == 2
    assert "checkpoints is a symbolic link" in capsys.readouterr().err and not list((tmp_path / "theirs").iterdir())


def test_a_link_in_the_way_of_a_whole_file_is_replaced(run, tmp_path):
    theirs = tmp_path / "theirs"
    theirs.write_text("mine")
    (tmp_path / f"file.{os.getpid()}.part").symlink_to(theirs)
    (tmp_path / "file").symlink_to(theirs)
    write_atomically(tmp_path / "file", b"new")
    (run.path / "curve.png").symlink_to(theirs)
    plot_runs([run.path])
    assert theirs.read_text() == "mine" and read(tmp_path / "file", 99) == b"new"
    assert not (run.path / "curve.png").is_symlink() and (run.path / "curve.png").stat().st_size > 10_000


def test_folders_are_made_for_what_a_person_wants_and_not_for_a_run_that_is_gone(tmp_path):
    write_with_folders(tmp_path / "new" / "folder" / "page.html", b"whole")
    assert (tmp_path / "new" / "folder" / "page.html").read_bytes() == b"whole"
    with pytest.raises(FileNotFoundError):
        write_atomically(tmp_path / "gone" / "config.json", b"{}")
    assert not (tmp_path / "gone").exists()


def test_whether_a_file_can_be_written_is_known_before_it_is(tmp_path):
    file = tmp_path / "new" / "film.gif"
    try_writing(file)
    assert file.parent.is_dir() and not os.listdir(file.parent)
    file.write_text("mine")
    try_writing(file)
    assert file.read_text() == "mine" and os.listdir(file.parent) == [file.name]
    with pytest.raises(UserError, match="new is a folder; give a file in it"):
        try_writing(file.parent)
    for wrong in ("/proc/c.json", file / "c.json", tmp_path / ("long" * 99)):
        with pytest.raises(OSError) as error:
            try_writing(Path(wrong))
        assert error.value.filename in (str(wrong), str(file))


def test_an_interruption_leaves_nothing_half_written(tmp_path, monkeypatch):
    def interrupted(descriptor):
        assert os.listdir(tmp_path)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(tmp_path / "file", b"half")
    assert not os.listdir(tmp_path)


def test_the_names_of_tensorboard_events_cannot_be_foreseen_and_its_writer_is_closed(run):
    config = run.path / "config.json"
    config.write_text(json.dumps({**run.config, "tensorboard": True}))  # no part of what its hash covers
    before = threading.active_count()
    resume(run, **QUIET)
    (events,) = run.path.glob("events.out.tfevents.*")
    assert len(events.name.rpartition(".")[2]) == 16
    give_up = time.monotonic() + 60
    while threading.active_count() > before:  # the last one, with the pipe it writes to, ends a moment after the run
        assert time.monotonic() < give_up
        time.sleep(0.01)


@pytest.mark.parametrize("name", ["config.json", "progress.csv", "lock"])
def test_a_pipe_in_the_place_of_a_file_is_refused_and_not_waited_for(name, run, capsys):
    (run.path / name).unlink()
    os.mkfifo(run.path / name)
    assert main(["resume", str(run.path)]) == 2
    assert f"{name} is a pipe" in capsys.readouterr().err
    assert not held(run.path)


def test_a_pipe_in_the_place_of_a_result_is_refused(tmp_path, capsys):
    (tmp_path / "tiny").mkdir()
    os.mkfifo(tmp_path / "tiny" / "hopper-speed-cup-seed0-0123456789abcdef.json.gz")
    assert main(["results", "list", "--results", str(tmp_path)]) == 1
    assert "is a pipe" in capsys.readouterr().out


@pytest.mark.parametrize("put", [os.mkdir, os.mkfifo])
def test_what_is_no_file_in_the_place_of_a_checkpoint_is_fallen_back_from(put, run):
    put(run.path / "checkpoints" / f"00000002-{'0' * 16}.safetensors")
    arrays, (sentence,) = run.latest()
    assert arrays["counters"][0] == 1 and "00000002" in sentence
    for iteration in (3, 4, 5, 6):  # nor is it in the way of those to come
        run.save(iteration, arrays)
    assert len([path for path in run.checkpoints() if path.is_file()]) == 3


def test_a_forked_process_does_not_keep_the_lock(tmp_path):
    """As an environment's helper that outlives its run, which was killed."""
    fork = f"""if True:
        import os, signal, time
        from pathlib import Path
        from cuprl.runs.files import locked
        with locked(Path({str(tmp_path)!r})):
            helper = os.fork()
            if helper:
                print(helper, flush=True)
                os.kill(os.getpid(), signal.SIGKILL)
            os.close(1)
            time.sleep(600)
    """
    helper = int(subprocess.run([sys.executable, "-c", fork], stdout=subprocess.PIPE, text=True).stdout)
    assert not held(tmp_path)
    os.kill(helper, signal.SIGKILL)


def test_a_full_disk_names_the_file_and_leaves_the_one_before(tmp_path):
    file = tmp_path / "file"
    write_atomically(file, b"before")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(OSError, match="file") as error:
            write_atomically(file, bytes(10_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert error.value.filename == str(file) and os.listdir(tmp_path) == ["file"] and read(file, 99) == b"before"
