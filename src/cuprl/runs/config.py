"""What a run is made with: `RunConfig`, which config.json keeps; its `Plan`, looked up before anything is made; and what a
config.json may say, checked once, where the file is opened, so that no reader behind has to doubt it."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, field, fields, replace
from types import ModuleType
from typing import Any, NamedTuple

from cuprl import algorithms
from cuprl.core.parse import as_whole
from cuprl.core.spec import Spec
from cuprl.core.spec_json import spec_from_json, spec_to_json
from cuprl.core.task import Task
from cuprl.core.values import is_number, is_of
from cuprl.errors import UserError
from cuprl.runs.history import check_history

# What a run's numbers depend on.
KINDS: dict[str, type] = {"task": str, "algo": str, "seed": int, "steps": int, "limits": dict, "settings": dict}
IDENTITY = (*KINDS, "numerics")  # what makes it that run and no other; old files lack the last
HISTORY = ("extensions", "start")  # and that too, of a run that was trained further or began from a policy
# What else is read where it is there: an older run may lack it.
MORE: dict[str, type] = {
    "numerics": int,
    "threads": int,
    "checkpoint_every": int,
    "eval_every": int,
    "eval_episodes": int,
    "tensorboard": bool,
    "wandb": bool,
    "agent": bool,
    "versions": dict,
    "machine": dict,
    "git": str,
    "hash": str,
    "spec": dict,
    "extensions": list,
    "start": dict,
    "start_source": str,
}
UNKNOWN = ("machine", "git", "hash")  # may be null
# Settings that are read without the algorithm's Config.
READ = ("batch_size", "hidden", "normalise", "activation", "policy", "encoder")
MOST_ITERATIONS = 10**8 - 1  # a checkpoint's name has eight digits for them
COUNTS = {"checkpoint_every": (1, math.inf), "eval_every": (0, math.inf), "eval_episodes": (1, 1000)}
RANGES = {"seed": (0, 2**32 - 1), "threads": (1, 4096), **COUNTS}  # least and most
SHOWN = 60  # letters of a wrong value


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
    module: ModuleType  # the algorithm
    settings: Any  # its Config
    iterations: int


def settings_to_json(settings: Any) -> dict[str, Any]:
    """Write an algorithm's settings, an encoder that was given as itself by its name."""
    encoder = settings.encoder
    return {**asdict(settings), "encoder": encoder if isinstance(encoder, str) else encoder.name}


def iterations_of(steps: int, batch_size: int) -> int:
    """Count the batches of so many steps; fewer than one, and more than can be named, are refused."""
    if steps < batch_size:
        raise UserError(f"steps is {steps}, less than one batch; give at least {batch_size}.")
    if steps // batch_size > MOST_ITERATIONS:
        most = MOST_ITERATIONS * batch_size
        raise UserError(f"steps is {steps:g}; give at most {most:,}, {MOST_ITERATIONS:,} batches.")
    return steps // batch_size


# --- what a file may say ----------------------------------------------------------------------------------------------


def check_configuration(config: Any) -> None:
    """Refuse what no run is made with, as a clause: 'has no seed', 'has limits 3'. Names are looked up later."""
    for key, kind in {**KINDS, **MORE}.items():
        if not isinstance(config, dict) or (key in KINDS and key not in config):
            raise UserError(f"has no {key}: it is not a run's")
        if key in config and not is_of(config[key], kind) and not (config[key] is None and key in UNKNOWN):
            raise wrong(key, config[key])
    for name, text in config.get("versions", {}).items():
        if not isinstance(text, str):
            raise wrong(f"the version of {name}", text)
    for name, limit in config["limits"].items():
        if not is_number(limit) or limit < 0:
            raise wrong(f"the limit of {name}", limit)
    for key, (least, most) in RANGES.items():
        if key in config and not least <= config[key] <= most:
            raise wrong(key, config[key])
    check_settings(config["algo"], config["settings"])
    if "batch_size" not in config["settings"]:
        raise UserError("has no batch_size in its settings")
    if not 1 <= config["steps"] // config["settings"]["batch_size"] <= MOST_ITERATIONS:
        raise wrong("steps", config["steps"])
    check_history(config)
    if "spec" in config:
        check_spec(config["spec"])


def check_settings(algo: str, settings: dict[str, Any]) -> None:
    """Refuse values that the algorithm's Config does not take. A setting it has not, or no longer, says nothing here.

    Of an algorithm of one's own, whose module may be a stranger's, only what is read without it is checked.
    """
    from cuprl.learn.settings import Common, configure, field_names

    known = algorithms.full_name(algo) in algorithms.ALGORITHMS
    config_class = algorithms.find(algo)[0].Config if known else Common
    names = field_names(config_class) if known else READ
    given = {name: value for name, value in settings.items() if name in names}
    try:
        taken = configure(config_class, given if known else {**given, "num_envs": 1}, algo)
    except UserError as error:
        raise UserError(f"has settings that {algo} does not take ({error.args[0].rstrip('.')})") from None
    for name, value in given.items():  # a command line's "64,64" would be taken too, but JSON has the numbers themselves
        if json.loads(json.dumps(getattr(taken, name))) != value:
            raise wrong(f"the setting {name}", value)


def check_spec(spec: Any) -> None:
    """Refuse a spec that `spec_json.spec_from_json` cannot read."""
    try:
        spec_from_json(spec)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UserError(f"has a spec that is none ({type(error).__name__}: {error})") from None


def wrong(what: str, value: Any) -> UserError:
    """Make the clause that names a wrong value."""
    said = repr(value)
    return UserError(f"has {what} {said if len(said) <= SHOWN else said[:SHOWN] + '…'}")
