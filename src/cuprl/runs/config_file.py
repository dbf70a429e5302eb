"""What `cup train --config` reads: a run's config.json, or a TOML (or JSON) file with what a run is made with.

    task = "hopper-speed"
    algo = "cup"
    steps = 250_000
    limits = { speed = 60 }
    settings = { alpha = 0.1, hidden = [32, 32] }

The modules that it names are imported by nobody here: that is for `core.user_modules`.
"""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from cuprl import algorithms
from cuprl.core.encoder import NO_ENCODER
from cuprl.core.values import is_number, is_of
from cuprl.errors import UserError, unknown
from cuprl.runs import files
from cuprl.runs.config import RunConfig
from cuprl.runs.provenance import LARGEST_CONFIG, modules_of

# What config.json has beside: of the run that was made, not of the one to make.
TOLD = (
    *("numerics", "spec", "agent", "versions", "machine", "git", "hash", "sources", "command"),
    *("extensions", "extended_by", "start", "start_source"),
)
ACCEPTED = tuple(field.name for field in fields(RunConfig) if field.name not in TOLD)
KINDS: dict[str, tuple[type, str]] = {
    "task": (str, "a word"),
    "algo": (str, "a word"),
    "settings": (dict, "a table, as settings = { alpha = 0.1 }"),
    "tensorboard": (bool, "true or false"),
    "wandb": (bool, "true or false"),
}


@dataclass(frozen=True)
class ConfigFile:
    """A file's values, checked by name and kind; what they may be is for whoever makes the run."""

    path: Path
    values: dict[str, Any]  # of ACCEPTED
    settings: dict[str, Any]
    numerics: int | None = None  # of the run whose config.json it is
    started: bool = False  # that run began from a trained policy

    @property
    def task(self) -> str:
        """Give the task's name; "" where it names none."""
        return self.values.get("task", "")

    @property
    def algo(self) -> str:
        """Give the algorithm's name; cup where it names none."""
        return self.values.get("algo", "cup")

    @property
    def modules(self) -> list[str]:
        """Find the modules of one's own that it names."""
        return modules_of(self.task, self.algo, str(self.settings.get("encoder", NO_ENCODER)))


def read_config_file(path: str | Path) -> ConfigFile:
    """Read a file, or the config.json of a run's folder; a name that no run has is refused with those that are accepted."""
    path = Path(path) / "config.json" if Path(path).is_dir() else Path(path)
    values = parsed(path)
    for name in values:
        if name not in (*ACCEPTED, *(TOLD if "versions" in values else ())):  # a run's own config.json tells more
            raise UserError(f"{path}: {unknown('key', name, ACCEPTED)}")
    for name, (kind, wanted) in KINDS.items():
        if name in values and not is_of(values[name], kind):
            raise UserError(f"{path}: {name} is {values[name]!r}; give {wanted}.")
    limits = values.get("limits", {})
    if not all(map(is_number, limits.values() if isinstance(limits, dict) else [limits])):
        raise UserError(f"{path}: limits is {limits!r}; give a number, or a table, as limits = {{ speed = 60 }}.")
    if "versions" in values and "settings" in values and "algo" in values:  # a run's own, perhaps in yesterday's words
        values = algorithms.as_now(values)
    settings = {name.replace("-", "_"): value for name, value in values.get("settings", {}).items()}
    kept = {name: value for name, value in values.items() if name in ACCEPTED and name != "settings" and value is not None}
    if not kept.get("eval_every", True):  # no evaluations, of however many episodes
        kept.pop("eval_episodes", None)
    return ConfigFile(path, kept, settings, values.get("numerics"), bool(values.get("start")))


def parsed(path: Path) -> dict[str, Any]:
    """Parse a file by its ending, .toml or .json."""
    kinds = {".toml": tomllib.loads, ".json": json.loads}
    if path.suffix not in kinds:
        raise UserError(f"--config is {path}; give a run's folder, its config.json, or a .toml file.")
    try:
        values = kinds[path.suffix](files.read(path, LARGEST_CONFIG).decode())
    except FileNotFoundError:
        raise UserError(f"there is no file {path}; give a run's folder, its config.json, or a .toml file.") from None
    except UserError:
        raise
    except (ValueError, RecursionError) as error:  # not of that kind, or not text
        raise UserError(f"{path} is not {path.suffix[1:].upper()} ({error}); mend it.") from None
    if not isinstance(values, dict):
        raise UserError(f"{path} holds no keys; accepted: {', '.join(ACCEPTED)}.")
    return values
