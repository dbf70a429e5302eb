"""What ends a whole grid: no room for its runs, or no place for their results."""

import errno
import os

import pytest

from cuprl.experiments.engines.board import PlainBoard
from cuprl.experiments.engines.engine import Grid
from cuprl.experiments.engines.failure import Stopped, failure_of, refuse_full_disk
from cuprl.experiments.engines.local import LocalEngine, log_of
from cuprl.experiments.grid.expand import expand
from experiments.tiny import TINY, run_cells

NO_ROOM = f"cup: [Errno {errno.ENOSPC}] {os.strerror(errno.ENOSPC)}: 'policy.safetensors'"


def test_results_that_cannot_be_stored_are_known_before_anything_is_trained(tmp_path):
    (tmp_path / "results").write_text("in the way")
    with pytest.raises(Stopped, match=r"results cannot be stored in .*tiny \(Not a directory\); make room or mend it"):
        run_cells(expand(TINY), tmp_path)
    assert not (tmp_path / "runs").exists()


def test_a_finished_run_that_cannot_be_stored_ends_the_grid_and_is_not_called_failed(tmp_path, monkeypatch):
    def no_room(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    cells = expand(TINY)
    with monkeypatch.context() as patch, pytest.raises(Stopped, match="No space left on device"):
        patch.setattr("cuprl.experiments.engines.engine.store", no_room)
        run_cells(cells, tmp_path)
    assert not any(failure_of(cell.path(tmp_path / "runs")).exists() for cell in cells)
    assert run_cells(cells, tmp_path) == {}  # the same command goes on
    assert len(list((tmp_path / "results" / "tiny").iterdir())) == len(cells)


class Full(LocalEngine):
    """Runs that end as on a full disk."""

    def start(self, cell, root):
        return FullJob(cell, root)


class FullJob:
    def __init__(self, cell, root):
        self.cell = cell
        log = log_of(cell.path(root))
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text(f"training\n{NO_ROOM}\n")

    def status(self):
        return 1


def test_a_full_disk_ends_the_grid_at_once(tmp_path):
    cells = expand(TINY)
    with pytest.raises(Stopped, match=r"the disk of .* is full; make room or mend it, and the same command goes on"):
        Grid(cells, tmp_path / "runs", tmp_path / "results" / "tiny", PlainBoard()).run(Full(1))
    assert not any(failure_of(cell.path(tmp_path / "runs")).exists() for cell in cells)


def test_only_the_last_line_tells(tmp_path):
    run = tmp_path / "seed0"
    refuse_full_disk(run)  # it has said nothing
    log_of(run).write_text(f"{NO_ROOM}\ncup: another reason\n\n")
    refuse_full_disk(run)
    log_of(run).write_text(f"{NO_ROOM}\n\n")
    with pytest.raises(Stopped):
        refuse_full_disk(run)
