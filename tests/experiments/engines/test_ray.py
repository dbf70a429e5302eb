"""The Ray engine on a real cluster of two nodes, one of which dies in the middle."""

import os
import socket
import sys
import threading
import time
from contextlib import closing

import pytest

from cuprl.cli import main
from cuprl.experiments.engines.ray import RayEngine
from cuprl.experiments.grid.expand import expand
from cuprl.experiments.grid.shipped import find
from cuprl.runs.folder import Run
from cuprl.training.train import train
from small import QUIET, same_progress

FILE = """
tasks = ["hopper-speed"]
algos = ["cup"]
seeds = [0, 1]
steps = 20_000
settings = { batch_size = 200, num_envs = 5, hidden = [8], minibatch = 50, epochs = 2, critic_epochs = 2 }
"""


@pytest.fixture(scope="module")
def cluster():
    pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    small = {"num_cpus": 1, "object_store_memory": 80 * 2**20, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=small)
    cluster.spare = cluster.add_node(**small)
    yield cluster
    cluster.shutdown()


def test_a_node_dies_and_nothing_is_lost(cluster, tmp_path, capsys):
    (tmp_path / "mine.toml").write_text(FILE)
    cells = expand(find(str(tmp_path / "mine.toml")))
    root = tmp_path / "runs" / "mine"

    def on_the_spare_node(cell):
        log = cell.path(root).with_name(f"seed{cell.seed}.log")
        return log.exists() and cluster.spare.node_id in log.read_text() and cell.fraction(root) >= 0.1

    def kill_a_node():
        while not any(on_the_spare_node(cell) for cell in cells):
            time.sleep(0.02)
        cluster.remove_node(cluster.spare, allow_graceful=False)

    killer = threading.Thread(target=kill_a_node)
    killer.start()
    words = ["bench", str(tmp_path / "mine.toml"), "--engine", "ray", "--address", cluster.address]
    assert main([*words, "--root", str(tmp_path / "runs"), "--results", str(tmp_path / "results")]) == 0
    killer.join()
    shown = capsys.readouterr().out
    assert "trying again" in shown and "| hopper-speed | cup |" in shown
    assert max(log.read_text().count("Ray node") for log in root.rglob("*.log")) == 2  # the killed one began twice
    for cell in cells:
        whole = train(
            cell.task,
            cell.algo,
            seed=cell.seed,
            steps=cell.steps,
            out=tmp_path / f"whole{cell.seed}",
            **dict(cell.settings),
            **QUIET,
        )
        same_progress(whole, Run(cell.path(root)))


def test_a_stopped_grid_leaves_a_checkpoint(cluster, tmp_path):
    (tmp_path / "mine.toml").write_text(FILE.replace("20_000", "2_000_000"))
    cell = expand(find(str(tmp_path / "mine.toml")))[0]
    with closing(RayEngine(cluster.address)) as engine:
        job = engine.start(cell, tmp_path)
        while not cell.fraction(tmp_path):
            assert job.status() is None
            time.sleep(0.1)
        job.stop()
        job.wait()
    run = Run(cell.path(tmp_path))
    assert len(run.progress()["iteration"]) == int(run.checkpoints()[0].name[:8])
    assert "stopped after iteration" in (run.path.with_name("seed0.log")).read_text()


def test_an_address_that_does_not_answer(tmp_path, capsys, monkeypatch):
    pytest.importorskip("ray")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("cuprl.experiments.engines.ray.PATIENCE", 3.0)
    with socket.socket() as closed, socket.socket() as silent:
        closed.bind(("127.0.0.1", 0))
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        for address, words in (
            (f"127.0.0.1:{closed.getsockname()[1]}", "no Ray cluster answers"),
            (f"ray://127.0.0.1:{closed.getsockname()[1]}", "no Ray cluster answers"),
            (f"127.0.0.1:{silent.getsockname()[1]}", "not as a Ray cluster in 3 seconds"),
            ("nowhere", "give HOST:PORT"),
            ("host:port", "give HOST:PORT"),
        ):
            assert main(["bench", "quick", "--engine", "ray", "--address", address]) == 2
            shown = capsys.readouterr().err
            assert words in shown and shown.count("\n") == 1
    assert not os.listdir()


def test_without_ray_it_says_how_to_get_it(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    assert main(["bench", "quick", "--engine", "ray"]) == 2
    assert "pip install 'cuprl[ray]'" in capsys.readouterr().err
