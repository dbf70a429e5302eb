"""What a run is made with: `RunConfig`, which config.json keeps, and its `Plan`, looked up before anything is made."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from cuprl import algorithms
from cuprl.core.parse import as_whole
from cuprl.core.spec import Spec
from cuprl.core.spec_json import spec_to_json
from cuprl.core.task import Task
from cuprl.errors import UserError
from cuprl.runs.config_checks import COUNTS, KINDS, MOST_ITERATIONS, RANGES, check_configuration

if TYPE_CHECKING:
    from cuprl.learn.types import Algorithm

IDENTITY = (*KINDS, "numerics")  # what makes it that run and no other; old files lack the last
HISTORY = ("extensions", "start")  # and that too, of a run that was trained further or began from a policy


@dataclass(frozen=True)
class RunConfig:
    """What is asked for. Whole numbers may come as people write them: steps=2.5e6, steps="2_500_000"."""

    task: str  # its name
    algo: str = "cup"
    seed: int = 0
    steps: int = 2_500_000  # of all environments together
    threads: int = 1  # of the physics: they change no result
    checkpoint_every: int = 10  # iterations
    eval_every: int = 0  # iterations between two evaluations; 0: none
    eval_episodes: int = 10  # of the mode, and as many of sampled actions
    limits: dict[str, float] | float | None = None  # by constraint, or of the only one; None: the task's own
    tensorboard: bool = False
    wandb: bool = False
    settings: dict[str, Any] = field(default_factory=dict)  # of the algorithm; those left out are the defaults
    numerics: int | None = None  # the algorithm's, of when the run began; None: as they are now
    spec: dict[str, Any] | None = None  # the task's, as JSON; known once there is an environment
    agent: bool = False  # driven by hand: an `Agent`, not `train`
    extensions: list[dict[str, Any]] | None = None  # how it was given more steps, as `history.extension` has it
    start: dict[str, Any] | None = None  # the policy it began from, as `policies.start` has it; None: from nothing
    start_source: str | None = None  # where that policy was

    def __post_init__(self) -> None:
        object.__setattr__(self, "algo", algorithms.full_name(self.algo))
        for name in ("seed", "steps", "threads", "checkpoint_every", "eval_every", "eval_episodes"):
            object.__setattr__(self, name, as_whole(getattr(self, name), name))
        for name, (least, most) in RANGES.items():
            if not least <= (value := getattr(self, name)) <= most:
                accepted = f"of at least {least}" if most == math.inf else f"from {least} to {most}"
                raise UserError(f"{name} is {value}; give a whole number {accepted}.")

    def plan(self, task: Task | None = None) -> Plan:
        """Look the algorithm up and fill in what was left to it, and to the task where there is one."""
        module, settings = algorithms.load(self.algo, self.settings, getattr(task, "settings", None))
        full = replace(self, settings=settings_to_json(settings))
        if self.numerics is None:
            full = replace(full, numerics=algorithms.numerics(self.algo))
        if task is not None:
            from cuprl.envs import with_limits

            limits = {c.name: c.limit for c in with_limits(task.constraints, self.limits)}
            full = replace(full, task=task.name, limits=limits)
        return Plan(full, module, settings, iterations_of(self.steps, settings.batch_size))

    def on(self, spec: Spec) -> RunConfig:
        """Add what an environment of the task tells."""
        return replace(self, limits={c.name: c.limit for c in spec.constraints}, spec=spec_to_json(spec))

    def identity(self) -> dict[str, Any]:
        """Give what the numbers of a planned run depend on, as JSON has it."""
        return identity_of(self.to_json())

    def to_json(self) -> dict[str, Any]:
        """Write what config.json says of it; `provenance.facts` are beside it there."""
        unsaid = (*COUNTS, "tensorboard", "wandb") if self.agent else ("agent",)
        said = {name: value for name, value in vars(self).items() if value is not None and name not in unsaid}
        return json.loads(json.dumps(said))

    @staticmethod
    def from_json(values: Any) -> RunConfig:
        """Read a config.json, in today's words if it is an old one; what is none is refused as by `check_configuration`."""
        check_configuration(values)
        now = algorithms.as_now(values)
        return RunConfig(**{f.name: now[f.name] for f in fields(RunConfig) if f.name in now})


def identity_of(values: dict[str, Any]) -> dict[str, Any]:
    """Take out of a config.json, or of a result's configuration, what the run's numbers depend on."""
    return {name: values[name] for name in (*IDENTITY, *HISTORY) if name in values}


class Plan(NamedTuple):
    """A configuration with nothing left open, and what its algorithm's name stands for."""

    config: RunConfig
    module: Algorithm
    settings: Any  # its Config
    iterations: int


def settings_to_json(settings: Any) -> dict[str, Any]:
    """Write an algorithm's settings, an encoder that was given as itself by its name."""
    encoder = settings.encoder
    return {**asdict(settings), "encoder": encoder if isinstance(encoder, str) else encoder.name}


def iterations_of(steps: int, batch_size: int) -> int:
    """Count the batches of so many steps; fewer than one, and more than can be named, are refused."""
    if steps < batch_size:
        raise UserError(f"steps is {steps}, less than one batch; give at least {batch_size}, or a smaller --batch-size.")
    if steps // batch_size > MOST_ITERATIONS:
        most = MOST_ITERATIONS * batch_size
        raise UserError(f"steps is {steps:g}; give at most {most:,}, {MOST_ITERATIONS:,} batches.")
    return steps // batch_size
