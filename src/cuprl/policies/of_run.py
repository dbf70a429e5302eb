"""`load`: the policy of a run's folder, or of a file that `cup export` wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from cuprl.core.normaliser import CLIP, Normaliser
from cuprl.core.spec_json import spec_to_json
from cuprl.core.task import Task
from cuprl.core.user_modules import NotTrusted, Trust, named_by
from cuprl.errors import UserError, unknown
from cuprl.policies.checks import check_sizes
from cuprl.policies.deployed import KIND, READERS, SavedPolicy, numpy_network
from cuprl.runs import provenance
from cuprl.runs.folder import Run, misfit

BOUNDS = "not applied: an action may lie outside of low and high; clip it where the actuators do not clamp by themselves"


def load(source: str | Path | Run, task: Task | None = None, *, trust: Trust = False) -> SavedPolicy:
    """The policy of a run (its newest intact checkpoint), or of a file that `cup export` wrote.

    To be evaluated, a policy of a task of one's own needs that task again. trust: the modules named in the file or folder
    whose code may run, or True for all; a .jax file, which is a program itself, needs True.
    """
    if isinstance(source, Run):
        return read_run(source, task, trust)
    path = Path(source)
    if path.is_dir() or (path.suffix not in READERS and not path.exists()):
        return read_run(Run(path), task, trust)
    if path.suffix not in READERS:
        raise unknown("kind of policy file", path.suffix or path.name, READERS)
    if not path.is_file():
        raise UserError(f"there is no file {path}; `cup export RUN --out {path}` would write it.")
    if path.suffix == ".jax" and trust is not True:
        raise NotTrusted(f"{path} is a compiled program; if you trust who made it, add --trust (in Python trust=True).")
    policy = READERS[path.suffix](path)
    policy.task, policy.trust = task, trust
    return policy


class RunPolicy(SavedPolicy):
    """The policy of a run: plain arrays, as `numpy_network` takes them."""

    def __init__(self, checkpoint: dict[str, np.ndarray], config: dict[str, Any], run: Run | None = None):
        """checkpoint: its arrays; config: as in config.json, with the spec."""
        spec, settings = config["spec"], config["settings"]
        try:
            self.normaliser = Normaliser(*(checkpoint[f"learner['normaliser']['{x}']"] for x in ("count", "mean", "var")))
            scale, clip = self.normaliser.scale, CLIP
            if not settings["normalise"]:  # the mean stayed 0
                scale, clip = np.ones_like(scale), np.inf
            arrays = {"mean": self.normaliser.mean, "scale": scale, "clip": np.array(clip)}
            for i in range(len(settings["hidden"]) + 1):
                weight, bias = (checkpoint[f"learner['state'].policy['layers'][{i}][{k}]"] for k in (0, 1))
                arrays |= {f"weight{i}": weight, f"bias{i}": bias}
            real = spec["action"]["kind"] == "Box"
            log_std = checkpoint["learner['state'].policy['log_std']"].tolist() if real else None
            iteration = int(checkpoint["counters"][0])
            check_sizes(arrays, log_std, spec)
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise misfit(error) from None
        info = {
            "kind": KIND,
            **{name: config[name] for name in ("task", "algo", "seed", "limits")},
            "iteration": iteration,
            "steps": iteration * settings["batch_size"],
            "spec": spec,
            "bounds": BOUNDS,
            "log_std": log_std,
            "evaluation": None,
            "certificate": None,
            "versions": config.get("versions") or provenance.versions(),
            "sources": config.get("sources") or {},
        }
        self.run = run
        try:
            super().__init__(info, numpy_network(arrays), run.path if run else None, arrays)
        except ValueError as error:
            whose = run.path if run else "this agent"
            raise UserError(f"the policy of {whose} cannot act: {error}; train it again.") from None


def read_run(run: Run, task: Task | None = None, trust: Trust = False) -> RunPolicy:
    """From its newest intact checkpoint."""
    config = run.config
    if "spec" not in config:  # a run from before config.json had it
        from cuprl import envs

        with named_by(run.path, trust):
            config = {**config, "spec": spec_to_json(envs.make(task or config["task"], limits=config["limits"]).spec)}
    checkpoint, _ = run.latest()
    policy = RunPolicy(checkpoint, config, run)
    policy.task, policy.trust = task, trust
    return policy
