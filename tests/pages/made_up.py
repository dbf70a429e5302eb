"""Runs as a training would leave them, made up in an instant."""

import numpy as np

from cuprl.pages.reading import Seen
from cuprl.runs.config import RunConfig
from cuprl.runs.folder import Run

BATCH = 100
ACTION = {"kind": "Box", "dim": 2, "low": [-1.0, -1.0], "high": [1.0, 1.0]}


def config(iterations=200, limits=None, task="hopper-speed", **settings):
    limits = {"speed": 50.0} if limits is None else limits
    constraints = [{"name": name, "limit": limit, "discount": 0.99} for name, limit in limits.items()]
    spec = {"name": task, "obs_dim": 3, "action": ACTION, "constraints": constraints, "horizon": 1000}
    settings = {"batch_size": BATCH, **settings}
    steps = iterations * BATCH
    return RunConfig(task, seed=3, steps=steps, limits=limits, settings=settings, numerics=1, spec=spec).to_json()


def rows(n, limits=("speed",), **columns):
    """n rows in which nothing is wrong; a column that is given is in their place, by its name with _ for /."""
    number = np.arange(1.0, n + 1)
    made = {"iteration": number, "steps": number * BATCH, "rollout/ep_rew_mean": 10 * number}
    for name in limits:
        end = f"/{name}" if len(limits) > 1 else ""
        for key in ("rollout/ep_cost_mean", "train/cost_return", "train/predicted_cost"):
            made[key + end] = np.full(n, 40.0)
        made[f"rollout/ep_cost_undiscounted_mean{end}"] = np.full(n, 400.0)
        made[f"train/multiplier{end}"] = np.full(n, 0.5)
    made |= {"train/approx_kl": np.full(n, 0.01), "train/entropy": np.full(n, 1.0)}
    made |= {"time/fps": np.full(n, 1000.0), "time/collect": np.full(n, 0.06), "time/update": np.full(n, 0.04)}
    return {**made, **columns}


def seen(n=200, iterations=200, columns=None, limits=None, checkpoint=None, **more):
    limits = {"speed": 50.0} if limits is None else limits
    made = {"path": "runs/r", "config": config(iterations, limits), "rows": rows(n, limits, **(columns or {}))}
    return Seen(**{**made, "checkpoint": n if checkpoint is None else checkpoint, **more})


def folder(path, n=30, iterations=200, **changes):
    """A run folder with n rows."""
    made = config(iterations, **changes)
    run = Run.create(path, RunConfig.from_json(made))
    for i in range(n):
        run.append(row(i + 1, made["limits"]))
    return run


def row(iteration, limits=("speed",)):
    """One row as a training appends it."""
    made = {name: values[-1].item() for name, values in rows(iteration, limits).items()}
    return {**made, "iteration": iteration, "steps": iteration * BATCH}


def by_id(page):
    return {panel["id"]: panel for panel in page["panels"]}
