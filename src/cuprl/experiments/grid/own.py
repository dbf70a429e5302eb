"""An experiment of one's own, from a TOML file with the fields of `Block`; [[block]] gives several."""

from __future__ import annotations

import dataclasses
import re
import tomllib
from pathlib import Path
from typing import Any

from cuprl.algorithms import full_name
from cuprl.core.parse import parse_value
from cuprl.core.values import whole
from cuprl.envs import MOST_AT_ONCE
from cuprl.errors import UserError, unknown
from cuprl.experiments.grid.cells import Block, Experiment
from cuprl.experiments.grid.expand import parse_seeds
from cuprl.policies.start import Origin

FIELDS = tuple(field.name for field in dataclasses.fields(Block))
NEEDED = ("tasks", "algos", "seeds", "steps")
NAME = r"\w[\w.-]*"  # of an experiment: also a folder's


def read_experiment(path: Path) -> Experiment:
    """Read the experiment of a file; its name is the file's unless it gives one."""
    try:
        content = tomllib.loads(path.read_text())
    except FileNotFoundError:
        raise UserError(f"there is no file {path}; give the path of a TOML file, or an experiment's name.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{path} is not TOML: {error}.") from None
    try:
        return experiment_of(content, path.stem)
    except UserError as error:
        raise UserError(f"{path}: {error}") from None


def experiment_of(content: dict[str, Any], name: str) -> Experiment:
    """Check what a file says and make its experiment."""
    name = content.pop("name", name)
    if not isinstance(name, str) or not re.fullmatch(NAME, name):
        raise UserError(f"name is {name!r}; it becomes a folder's: give letters, digits, - and _.")
    summary = str(content.pop("summary", ""))
    blocks = content.pop("block", [{}])
    if not isinstance(blocks, list) or not all(isinstance(block, dict) for block in blocks) or not blocks:
        raise UserError("block is not a list; write [[block]] above the fields of each.")
    for part in (content, *blocks):
        for key in part:
            if key not in FIELDS:
                raise unknown("field", key, [*FIELDS, "name", "summary", "block"])
    # What stands above the blocks holds for all of them.
    return Experiment(name, summary, tuple(block_of({**content, **block}) for block in blocks))


def block_of(fields: dict[str, Any]) -> Block:
    """Check the fields of one block and make it."""
    for key in NEEDED:
        if key not in fields:
            raise UserError(f"{key} is missing; an experiment needs {', '.join(NEEDED)}.")
    seeds = fields["seeds"]
    steps = parse_value(int, text(fields["steps"], "steps"), "steps")
    tables = {key: table(fields.get(key, {}), key) for key in ("settings", "sweep")}
    return Block(
        tasks=texts(fields["tasks"], "tasks"),
        algos=tuple(map(full_name, texts(fields["algos"], "algos"))),
        seeds=tuple(seed for part in texts(seeds, "seeds") for seed in parse_seeds(part, "seeds")),
        steps=steps,
        settings=tuple((key, setting_text(value, key)) for key, value in tables["settings"].items()),
        limits=texts(fields["limits"], "limits") if "limits" in fields else (),
        start_from=origin(fields["start_from"]) if "start_from" in fields else None,
        sweep=tuple((key, points(values, key)) for key, values in tables["sweep"].items()),
        label=label(fields.get("label", ""), tables["sweep"]),
        evaluate=episodes(fields.get("evaluate", 0)),
    )


def episodes(value: Any) -> int:
    """Read how many episodes of the last policy's mode are run when a run is stored."""
    return whole(parse_value(int, text(value, "evaluate"), "evaluate"), "evaluate", least=0, most=MOST_AT_ONCE)


def label(value: Any, sweep: dict[str, Any]) -> str:
    """Read what a block's settings are called; it becomes a folder's name."""
    name = text(value, "label")
    if name and not re.fullmatch(NAME, name):
        raise UserError(f"label is {name!r}; it becomes a folder's name: give letters, digits, dots and dashes.")
    if name and sweep:
        raise UserError(f"label = {name!r} names a block's settings, and a sweep names its points itself; leave one away.")
    return name


def origin(value: Any) -> Origin:
    """Read where runs begin: a run's folder or a policy's file, or a table with `run`, `checkpoint` and `critics`."""
    parts = value if isinstance(value, dict) else {"run": value}
    for key in parts:
        if key not in ("run", "checkpoint", "critics"):
            raise unknown("field of start_from", key, ("run", "checkpoint", "critics"))
    critics = parts.get("critics", False)
    if "run" not in parts or not isinstance(critics, bool):
        raise UserError(f"start_from is {value!r}; give a run's folder, or {{ run = …, checkpoint = …, critics = true }}.")
    checkpoint = text(parts["checkpoint"], "checkpoint") if "checkpoint" in parts else None
    return Origin(text(parts["run"], "start_from"), checkpoint, critics)


def table(value: Any, name: str) -> dict[str, Any]:
    """Check that a field is a table; its keys may be written with - for _."""
    if not isinstance(value, dict):
        example = "[0.1, 0.2]" if name == "sweep" else "0.1"
        raise UserError(f"{name} is {value!r}; give a table, as {name} = {{ alpha = {example} }}.")
    return {key.replace("-", "_"): part for key, part in value.items()}


def texts(value: Any, name: str) -> tuple[str, ...]:
    """Write one value or a list of them as words of a command line."""
    parts = value if isinstance(value, list) else [value]
    if not parts:
        raise UserError(f"{name} is empty; give at least one.")
    return tuple(text(part, name) for part in parts)


def points(values: Any, name: str) -> tuple[str, ...]:
    """Check the values of a sweep."""
    if not isinstance(values, list) or not values:
        raise UserError(f"sweep: {name} is {values!r}; give the list of its values.")
    return tuple(setting_text(value, name) for value in values)


def setting_text(value: Any, name: str) -> str:
    """Write a setting as a word of a command line; of a list, its parts with commas."""
    return ",".join(texts(value, name) if value != [] else ["none"])


def text(value: Any, name: str) -> str:
    """Write one value as a word of a command line."""
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str | int | float):
        raise UserError(f"{name} is {value!r}; give a word or a number, or a list of them.")
    return str(value)
