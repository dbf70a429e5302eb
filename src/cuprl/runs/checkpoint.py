"""Checkpoints: all that a run needs to go on exactly, as named arrays in one file that carries its own checksum.

    policy/weight0 policy/bias0 …  policy/log_std      the network that acts
    policy/encoder/…               critic0/encoder/…   the parameters of an encoder of one's own, by its own names
    critic0/weight0 …              critic1/…           the reward's critic, then each cost's
    optimiser/policy/…             optimiser/critics/… Adam's moments
    state/multiplier/… state/key   state/belief/…      what else the algorithm keeps
    normaliser/count mean var                          of the observations; none where they are not normalised
    running/…  episodes/…                              the unfinished episodes, and the last that ended
    counters                                           the iteration, and for how many a multiplier is at its bound
    env/…                                              the environment's own state; of an Agent batch/…, its steps so far

The names are those of a file format: they stay when the classes that the arrays come from are changed.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from cuprl.errors import UserError
from cuprl.runs import files

KEEP = 3  # checkpoints of a run: if the newest is damaged, there is one before it
LARGEST = 2**33  # bytes
FILE = re.compile(r"(\d{8})-([0-9a-f]{16})\.safetensors")  # the iteration, the checksum of the content

Arrays = dict[str, np.ndarray]


# --- files ------------------------------------------------------------------------------------------------------------


def list_checkpoints(folder: Path) -> list[Path]:
    """Find the checkpoints in a folder, newest first."""
    return sorted((path for path in folder.glob("*.safetensors") if FILE.fullmatch(path.name)), reverse=True)


def iteration_of(path: Path) -> int:
    """Tell the iteration that a checkpoint was written after."""
    return int(path.name[:8])


def write_checkpoint(folder: Path, iteration: int, arrays: Arrays) -> Path:
    """Write a checkpoint, whole or not at all."""
    files.refuse_link(folder)
    content = save({name: np.asarray(array, order="C") for name, array in arrays.items()})
    path = folder / f"{iteration:08d}-{checksum(content)}.safetensors"
    files.write_atomically(path, content)
    return path


def prune(written: Path, spared: int | None = None) -> None:
    """Remove what a checkpoint that was just written replaces: others of its iteration, and of those before it the old ones.

    The last before it stay, and that of the iteration that is spared. Later ones are of a run that has gone back, and are
    not counted: what it has just written must not pass for the oldest.
    """
    own = iteration_of(written)
    others = [path for path in list_checkpoints(written.parent) if not path.is_dir() and path != written]
    before = [path for path in others if iteration_of(path) < own]
    replaced = [path for path in others if iteration_of(path) == own]
    for old in [*replaced, *(path for path in before[KEEP - 1 :] if iteration_of(path) != spared)]:
        old.unlink()


def read_checkpoint(path: Path) -> Arrays:
    """Read a checkpoint's arrays, an old one's under today's names; a damaged file is refused."""
    named = FILE.fullmatch(path.name)
    if named is None or checksum(files.read(path, LARGEST)) != named[2]:
        raise UserError(f"the checkpoint {path} is damaged: its content does not match the checksum in its name.")
    try:
        with safe_open(path, framework="np") as file:
            return today({name: file.get_tensor(name) for name in file.keys()})  # noqa: SIM118
    except SafetensorError as error:
        raise UserError(f"the checkpoint {path} is damaged: {error}.") from None


def checksum(content: bytes) -> str:
    """Give the 16 hex digits by which damage is seen."""
    return hashlib.sha256(content).hexdigest()[:16]


def misfit(error: Exception) -> UserError:
    """Say that a checkpoint is intact, but not of this configuration."""
    return UserError(f"the checkpoint does not fit the run's settings ({error}); restore config.json.")


# --- names ------------------------------------------------------------------------------------------------------------


def name_of(parts: list[str]) -> str:
    """Name the array at this place of a learner: attributes, keys and indices from the outside in."""
    match parts:
        case ["state", "policy", "layers", layer, ("0" | "1") as which]:
            return f"policy/{'bias' if which == '1' else 'weight'}{layer}"
        case ["state", "critics", critic, "layers", layer, ("0" | "1") as which]:
            return f"critic{critic}/{'bias' if which == '1' else 'weight'}{layer}"
        case ["state", "critics", critic, layer, ("0" | "1") as which] if (
            layer.isdigit()
        ):  # before a critic could have more than layers
            return f"critic{critic}/{'bias' if which == '1' else 'weight'}{layer}"
        case ["state", "critics", critic, *rest]:
            return "/".join([f"critic{critic}", *rest])
        case ["state", "policy", *rest]:
            return "/".join(["policy", *rest])
        case ["state", "policy_opt", *rest]:
            return "/".join(["optimiser", "policy", *rest])
        case ["state", "critic_opt", *rest]:
            return "/".join(["optimiser", "critics", *rest])
    return "/".join(parts)


def to_arrays(tree: Any) -> Arrays:
    """Name all arrays of a pytree by where they stand in it."""
    import jax  # here, so that whoever only reads a run's rows need not load it

    return {_name(path): np.asarray(leaf) for path, leaf in jax.tree_util.tree_leaves_with_path(tree)}


def from_arrays(template: Any, arrays: Arrays) -> Any:
    """Make a pytree like `template`; KeyError or ValueError for an array that is missing or of another shape or type."""
    import jax

    def leaf(path: Any, like: Any) -> Any:
        array = arrays[name := _name(path)]
        if (array.shape, array.dtype) != (like.shape, like.dtype):
            found, expected = (f"{x.dtype} {list(x.shape)}" for x in (array, like))
            raise ValueError(f"{name} is {found}, expected {expected}")
        return jax.numpy.asarray(array) if isinstance(like, jax.Array) else array

    return jax.tree_util.tree_map_with_path(leaf, template)


def _name(path: Any) -> str:
    from jax.tree_util import keystr

    return name_of([keystr((key,), simple=True) for key in path])


def under(group: str, arrays: Arrays) -> Arrays:
    """Put arrays under a name in front of their own: 'env/obs'."""
    return {f"{group}/{name}": array for name, array in arrays.items()}


def within(group: str, arrays: Arrays) -> Arrays:
    """Take out the arrays of a group, by their own names."""
    return {name.removeprefix(f"{group}/"): array for name, array in arrays.items() if name.startswith(f"{group}/")}


# --- old names --------------------------------------------------------------------------------------------------------

OLD = "learner["  # these were paths as JAX writes them, "learner['state'].policy['layers'][0][1]", or as "env.obs"
PART = re.compile(r"\['(.*?)'\]|\[(\d+)\]|\.(\w+)")


def today(arrays: Arrays) -> Arrays:
    """Give the arrays of an old checkpoint the names they would have now."""
    if not any(name.startswith(OLD) for name in arrays):
        return arrays
    return {_name_today(name): array for name, array in arrays.items()}


def _name_today(old: str) -> str:
    if old.startswith(OLD):
        return name_of(["".join(groups) for groups in PART.findall(old)])
    return old.replace(".", "/", 1)
