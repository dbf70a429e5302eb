"""Results as a long run would leave them, made up in an instant: for pictures, sizes and counts."""

import numpy as np

import cuprl
from cuprl.experiments.grid.cells import Block, Experiment
from cuprl.experiments.grid.expand import expand
from cuprl.experiments.report import paper
from cuprl.experiments.report.groups import group
from cuprl.experiments.store.results import Result

PAPER = Experiment(
    "like-paper",
    "for tests",
    (Block(("hopper-speed", "swimmer-speed"), ("cup", "pcpo", "ppo-lag"), (0, 1, 2), paper.STEPS),),
)


def made_up(cell, cost=0.95, value=100.0):
    """A run whose return rises to about `value` and whose costs end at `cost` times their limits."""
    config = cell.resolved()
    n = config["steps"] // config["settings"]["batch_size"]
    random, x = np.random.default_rng(cell.seed), np.linspace(0, 1, n)
    noise = lambda: 1 + 0.05 * random.normal() + 0.01 * random.normal(size=n)  # noqa: E731
    metrics = {
        "iteration": np.arange(1.0, n + 1),
        "steps": np.arange(1.0, n + 1) * config["settings"]["batch_size"],
        "rollout/ep_rew_mean": value * (1 - np.exp(-5 * x)) * noise(),
        "time/collect": 0.5 + 0.1 * random.random(n),
        "time/update": 0.4 + 0.1 * random.random(n),
    }
    for name, limit in config["limits"].items():
        end = f"/{name}" if len(config["limits"]) > 1 else ""
        metrics[f"rollout/ep_cost_mean{end}"] = np.full(n, cost * limit) * (1 - 0.5 * np.exp(-9 * x))
        metrics[f"rollout/ep_cost_undiscounted_mean{end}"] = 4 * metrics[f"rollout/ep_cost_mean{end}"]
        metrics[f"train/cost_return{end}"] = metrics[f"rollout/ep_cost_mean{end}"] * noise()
        metrics[f"train/predicted_cost{end}"] = metrics[f"rollout/ep_cost_mean{end}"] * noise()
        if cell.algo != "ppo":
            metrics[f"train/multiplier{end}"] = np.abs(noise() - 1)
    return Result(config, metrics, {"cuprl": cuprl.__version__}, None, None)


def groups_of(*blocks, leave_out=lambda cell: False):
    """The groups of a grid whose runs are made up."""
    cells = expand(Experiment("made-up", "for tests", blocks))
    return group(cells, {cell: made_up(cell) for cell in cells if not leave_out(cell)})


def made_up_by(**numbers):
    """The groups of PAPER; numbers: the (cost, value) of each algorithm that has runs."""
    cells = expand(PAPER)
    chosen = {name.replace("_", "-"): pair for name, pair in numbers.items()}
    return group(cells, {cell: made_up(cell, *chosen[cell.algo]) for cell in cells if cell.algo in chosen})
