"""A trained policy as the start of a new run: its network, its normaliser and, if asked for, its critics.

It comes from a run's folder or from an exported .npz file. What it is goes into the new run's config.json, with the sha256
of the file that it was read from: another start is another run.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cuprl.core.encoder import Encoder
from cuprl.core.normaliser import Normaliser
from cuprl.core.spec import Spec
from cuprl.core.user_modules import NotTrusted
from cuprl.core.values import is_number
from cuprl.errors import UserError
from cuprl.learn.fields import as_words
from cuprl.policies import zoo
from cuprl.policies.acting import SavedPolicy
from cuprl.policies.checks import ENCODER, LARGEST_FILE, layers_of
from cuprl.policies.deployed import damaged
from cuprl.policies.evaluate import refuse_other_sizes
from cuprl.policies.load import load
from cuprl.policies.of_run import USUAL_ONES, RunPolicy
from cuprl.runs import files
from cuprl.runs.checkpoint import LARGEST, Arrays, under
from cuprl.runs.config import RunConfig
from cuprl.runs.folder import Run


class Origin(NamedTuple):
    """Where a run begins: a run's folder or a policy's file, which of its checkpoints, and whether with its critics."""

    source: str | Path | Run
    checkpoint: str | int | None = None
    critics: bool = False

    def words(self) -> tuple[str, ...]:
        """Write it as `cup train` takes it."""
        chosen = ("--from-checkpoint", str(self.checkpoint)) if self.checkpoint is not None else ()
        return ("--from", str(self.source), *chosen, *(("--from-critics",) if self.critics else ()))


class Start(NamedTuple):
    """A policy that was read to begin from."""

    arrays: Arrays  # named as in a checkpoint
    info: dict[str, Any]
    network: dict[str, Any]  # the settings that its network has: what is left open of the new run's is these
    facts: dict[str, Any]  # config.json's `start`
    source: str

    def begun(self, config: RunConfig) -> RunConfig:
        """Give the configuration of a run that begins here."""
        settings = {**self.network, **config.settings}
        return replace(config, settings=settings, start=self.facts, start_source=self.source)

    def refuse_misfit(self, settings: Any, spec: Spec) -> None:
        """Refuse a run that cannot begin from this policy, in a sentence; settings: its algorithm's Config."""
        refuse_other_sizes(spec, self.info, f"begin from a policy of these sizes, or leave --from {self.source} away")
        for name, own in self.network.items():
            asked = getattr(settings, name)
            asked = asked.name if isinstance(asked, Encoder) else asked
            if asked != own:
                said = f"{self.source} has {name} {as_words(own)}, this run {as_words(asked)}"
                raise UserError(f"{said}; leave --{name} away, and it is as there.")
        if self.facts["critics"]:
            own, asked = [c["name"] for c in self.info["spec"]["constraints"]], [c.name for c in spec.constraints]
            if own != asked:
                said = f"the critics of {self.source} are of the costs {as_words(own)}, this run has {as_words(asked)}"
                raise UserError(f"{said}; leave --from-critics away.")
            unit = "step" if "signals/count" in self.arrays else "return"
            if unit != settings.critic_unit:
                said = f"the critics of {self.source} have critic_unit {unit}, this run {settings.critic_unit}"
                raise UserError(f"{said}; give --critic-unit {unit}, or leave --from-critics away.")


def origin_of(source: str | Path | Run | None, checkpoint: str | int | None, critics: bool) -> Origin | None:
    """Give where a run begins, None for nothing; what is said of no start is refused."""
    if source is not None:
        return Origin(source, checkpoint, critics)
    for flag, given in (("--from-checkpoint", checkpoint is not None), ("--from-critics", critics)):
        if given:
            raise UserError(f"{flag} goes with --from RUN; add it, or leave this away.")
    return None


def read_start(origin: Origin, encoder: Encoder | None = None) -> Start:
    """Read a policy to begin from. Nothing that its folder names is imported; encoder: the new run's, where it has one."""
    source = origin.source
    policy = read(origin, encoder)
    if isinstance(policy, RunPolicy) and policy.file is not None:
        arrays, content = policy.learnt, files.read(policy.file, LARGEST)
    elif policy.arrays and policy.source is not None:
        name = str(policy.source)
        file = zoo.file_of(name) if name.startswith(zoo.PREFIX) else policy.source
        arrays, content = of_file(policy, file), files.read(file, LARGEST_FILE)
        if origin.critics:
            mend = "give its run's folder, or leave --from-critics away"
            raise UserError(f"{policy.source} is a policy alone, without critics; {mend}.")
    else:
        raise UserError(no_network(source))
    layers = layers_of(policy.arrays)
    network = {
        "hidden": tuple(len(bias) for _, bias in layers[:-1]),
        "normalise": bool(np.isfinite(policy.arrays["clip"])),
        **{name: policy.info.get(name, usual) for name, usual in USUAL_ONES.items()},
    }
    facts = {
        "sha256": hashlib.sha256(content).hexdigest(),
        "critics": bool(origin.critics),
        **{name: policy.info[name] for name in ("task", "algo", "seed", "iteration")},
    }
    return Start(arrays, policy.info, network, facts, str(policy.source))


def read(origin: Origin, encoder: Encoder | None) -> SavedPolicy:
    """Load the policy; where the module of its encoder is refused, say which word of a new run is its user's."""
    try:
        return load(origin.source, checkpoint=origin.checkpoint, encoder=encoder)
    except NotTrusted as error:
        if str(origin.source).endswith(".jax"):
            raise UserError(no_network(origin.source)) from None
        said = str(error).partition(";")[0]
        raise NotTrusted(
            f"{said}; if you trust it, name the policy's encoder, as --encoder MODULE:NAME (in Python encoder=...)."
        ) from None


def no_network(source: str | Path | Run) -> str:
    """Say that a policy is a program, of which nothing can be learnt further."""
    return f"{source} does not show its network; begin from its run, or from a .npz file."


def of_file(policy: SavedPolicy, path: Path) -> Arrays:
    """Name what an exported policy has as a checkpoint names it; the variance is got back from the scale."""
    found: Arrays = {}
    for i, (weight, bias) in enumerate(layers_of(policy.arrays)):
        found |= {f"policy/{name}{i}": np.asarray(x, np.float32) for name, x in (("weight", weight), ("bias", bias))}
    found |= {f"policy/{name}": x for name, x in policy.arrays.items() if name.startswith(ENCODER)}
    if policy.info["log_std"] is not None:
        found["policy/log_std"] = np.array(policy.info["log_std"], np.float32)
    if np.isfinite(policy.arrays["clip"]):
        seen: Any = policy.info.get("seen") or policy.info.get("steps")  # an older file has only its steps
        if not is_number(seen) or seen < 1:
            raise damaged(path, "it does not tell how many observations its normaliser has seen")
        found |= under("normaliser", Normaliser.from_arrays(policy.arrays).moments(seen)._asdict())
    return found
