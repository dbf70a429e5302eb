"""What a config.json may say, checked once, where the file is opened, so that no reader behind has to doubt it."""

from __future__ import annotations

import json
import math
from typing import Any

from cuprl import algorithms
from cuprl.core.spec_json import spec_from_json
from cuprl.core.values import is_number, is_of
from cuprl.errors import UserError
from cuprl.runs.history import check_history

# What a run's numbers depend on.
KINDS: dict[str, type] = {"task": str, "algo": str, "seed": int, "steps": int, "limits": dict, "settings": dict}
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
    if not 1 <= planned_iterations(config) <= MOST_ITERATIONS:
        raise wrong("steps", config["steps"])
    check_history(config)
    if "spec" in config:
        check_spec(config["spec"], list(config["limits"]))


def planned_iterations(config: dict[str, Any]) -> int:
    """Count the iterations that a run of a config.json, or of a result's configuration, is to have."""
    return config["steps"] // config["settings"]["batch_size"]


def check_settings(algo: str, settings: dict[str, Any]) -> None:
    """Refuse values that the algorithm's Config does not take. A setting it has not, or no longer, says nothing here.

    Of an algorithm of one's own, whose module may be a stranger's, only what is read without it is checked.
    """
    from cuprl.learn.fields import configure, field_names
    from cuprl.learn.settings import Common

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


def check_spec(spec: Any, limited: list[str]) -> None:
    """Refuse a spec that `spec_json.spec_from_json` cannot read, or whose constraints are not those that are limited."""
    try:
        names = [constraint.name for constraint in spec_from_json(spec).constraints]
        if names != limited:
            raise ValueError(f"its constraints are {names}, the limits {limited}")
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UserError(f"has a spec that is none ({type(error).__name__}: {error})") from None


def wrong(what: str, value: Any) -> UserError:
    """Make the clause that names a wrong value."""
    said = repr(value)
    return UserError(f"has {what} {said if len(said) <= SHOWN else said[:SHOWN] + '…'}")
