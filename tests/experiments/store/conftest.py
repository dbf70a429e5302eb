import pytest

from cuprl.experiments.grid import shipped
from cuprl.experiments.grid.expand import expand
from cuprl.experiments.store.of_run import from_run
from cuprl.experiments.store.results import store
from cuprl.training.train import train
from experiments.tiny import TWO_TASKS
from small import QUIET, SMALL


@pytest.fixture(scope="session")
def runs(tmp_path_factory):
    """The runs of TWO_TASKS, really trained; the second task has two constraints."""
    root = tmp_path_factory.mktemp("runs")
    return {
        cell: train(cell.task, cell.algo, seed=cell.seed, steps=600, out=cell.path(root), **SMALL, **QUIET)
        for cell in expand(TWO_TASKS)
    }


@pytest.fixture
def tiny(runs, tmp_path, monkeypatch):
    """Its runs stored; the folder of all results."""
    monkeypatch.setitem(shipped.EXPERIMENTS, "tiny", TWO_TASKS)
    for run in runs.values():
        store(from_run(run), tmp_path / "tiny")
    return tmp_path
