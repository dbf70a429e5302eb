"""The policy of a run: out of one of its checkpoints, or of a learner in memory."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from cuprl.core.activations import USUAL
from cuprl.core.encoder import NO_ENCODER, Encoder, find_encoder
from cuprl.core.normaliser import Moments, Normaliser
from cuprl.core.spec_json import action_from_json, spec_to_json
from cuprl.core.task import Task
from cuprl.core.user_modules import Trust, named_by
from cuprl.errors import UserError, first_line
from cuprl.policies.acting import SavedPolicy, numpy_network
from cuprl.policies.checks import ENCODER, check_network, check_sizes, check_spread
from cuprl.policies.deployed import KIND, KIND_2
from cuprl.runs import provenance
from cuprl.runs.checkpoint import Arrays, misfit, within
from cuprl.runs.folder import Run

BOUNDS = "not applied: an action may lie outside of low and high; clip it where the actuators do not clamp by themselves"

WITHIN_BOUNDS = "applied: every action lies within low and high"
USUAL_ONES = {"activation": USUAL, "policy": "gaussian", "encoder": NO_ENCODER}  # of which a file says nothing


class RunPolicy(SavedPolicy):
    """Acts as a run does, and can be exported: its `arrays` are plain, as `numpy_network` takes them."""

    def __init__(
        self, checkpoint: Arrays, config: dict[str, Any], run: Run | None = None, encoder: Encoder | str | None = None
    ):
        """Take it out of a checkpoint's arrays; config: as in config.json, with the spec; encoder: None: as it names it."""
        spec, settings = config["spec"], {**USUAL_ONES, **config["settings"]}
        encoder = find_encoder(encoder or settings["encoder"]) if settings["encoder"] != NO_ENCODER else None
        try:
            if settings["normalise"]:
                normaliser = Normaliser.of(Moments(**within("normaliser", checkpoint)))
            else:
                normaliser = Normaliser.off(spec["obs_dim"])
            arrays = normaliser.arrays()
            for i in range(len(settings["hidden"]) + 1):
                arrays |= {name: checkpoint[f"policy/{name}"] for name in (f"weight{i}", f"bias{i}")}
            real = spec["action"]["kind"] == "Box"
            log_std = checkpoint["policy/log_std"].tolist() if real else None
            iteration = int(checkpoint["counters"][0])
            count = int(checkpoint["normaliser/count"]) if settings["normalise"] else None
            arrays |= {name: array for name, array in within("policy", checkpoint).items() if name.startswith(ENCODER)}
            check_sizes(arrays, spec, encoder is not None)
            check_spread(log_std, action_from_json(spec["action"]))
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise misfit(error) from None
        self.learnt = checkpoint  # all of it, as another run may begin from
        self.file: Path | None = None  # where that was read
        unusual = {name: settings[name] for name, usual in USUAL_ONES.items() if settings[name] != usual}
        info = {
            "kind": KIND_2 if unusual else KIND,
            **{name: config[name] for name in ("task", "algo", "seed", "limits")},
            "iteration": iteration,
            "steps": iteration * settings["batch_size"],
            "spec": spec,
            "bounds": WITHIN_BOUNDS if settings["policy"] == "squashed" else BOUNDS,
            "log_std": log_std,
            "seen": count,
            "evaluation": None,
            "certificate": None,
            "versions": config.get("versions") or provenance.versions(),
            "sources": config.get("sources") or {},
            "cost_return": settings.get("cost_return", "discounted"),
            **unusual,
        }
        self.run = run
        try:
            check_network(info)
            network = numpy_network(arrays, settings["activation"], encoder)
            super().__init__(info, network, run.path if run else None, arrays)
        except Exception as error:  # an encoder's own code may raise anything
            whose = run.path if run else "this agent"
            raise UserError(f"the policy of {whose} cannot act: {first_line(error)}; train it again.") from None
        self.encoder = encoder


def read_run(
    run: Run,
    task: Task | None = None,
    trust: Trust = False,
    checkpoint: str | int | None = None,
    encoder: Encoder | None = None,
) -> RunPolicy:
    """Read the policy in a run's newest intact checkpoint, or in the one that is asked for: "best", or an iteration.

    The task and the encoder themselves are needed where their names do not find them.
    """
    config = run.config
    provenance.refuse_altered(run.path, config)
    if "spec" not in config:  # a run from before config.json had it
        from cuprl import envs

        with named_by(run.path, trust):
            config = {**config, "spec": spec_to_json(envs.spec_of(task or config["task"], config["limits"]))}
    file, arrays, refused = run.read(run.choose(checkpoint))
    for sentence in refused:
        warnings.warn(f"{sentence} The policy is taken from the one before it.", stacklevel=3)
    with named_by(run.path, trust):
        policy = RunPolicy(arrays, config, run, encoder)
    policy.task, policy.trust, policy.file = task, trust, file
    return policy
