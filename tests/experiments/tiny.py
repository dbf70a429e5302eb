"""Grids of two and four runs of seconds."""

from dataclasses import replace

from cuprl.experiments.engines.board import PlainBoard
from cuprl.experiments.engines.engine import Grid
from cuprl.experiments.engines.local import LocalEngine
from cuprl.experiments.grid.cells import Block, Experiment

SMALL = tuple(
    {"batch_size": "200", "num_envs": "5", "hidden": "8", "minibatch": "50", "epochs": "2", "critic_epochs": "2"}.items()
)
BLOCK = Block(("hopper-speed",), ("cup",), (0, 1), 600, SMALL)
TINY = Experiment("tiny", "for tests", (BLOCK,))
TWO_TASKS = replace(TINY, blocks=(replace(BLOCK, tasks=("hopper-speed", "hopper-speed-effort")),))  # 1 and 2 constraints
FILE = """
tasks = ["hopper-speed"]
algos = "cup"
seeds = "0..1"
steps = 20_000
settings = { batch_size = 200, num-envs = 5, hidden = [8], minibatch = 50, epochs = 2, critic_epochs = 2 }
"""


def run_cells(cells, folder, workers=2):
    return Grid(cells, folder / "runs", folder / "results" / "tiny", PlainBoard()).run(LocalEngine(workers))
