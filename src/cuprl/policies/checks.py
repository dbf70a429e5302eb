"""What a policy's file may hold, checked before it is believed; with NumPy alone, as `deployed` reads it."""

from __future__ import annotations

import math
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from cuprl.core.values import is_number, is_of

ACTIONS = ("Box", "Discrete", "MultiDiscrete")
LARGEST_FILE = 2**30  # bytes of a policy unpacked: more than twice the largest network
NOT_FINITE = "it has NaN or infinite weights"


def check_archive(path: Path) -> None:
    """ValueError where the arrays would take more memory than any policy's, or more than the archive has of them."""
    with zipfile.ZipFile(path) as archive:
        if (size := sum(member.file_size for member in archive.infolist())) > LARGEST_FILE:
            raise ValueError(f"it would take {size:,} bytes, more than the {LARGEST_FILE:,} of any policy")
        for member in archive.infolist():
            with archive.open(member) as file:
                major, _ = np.lib.format.read_magic(file)
                read_header = {1: np.lib.format.read_array_header_1_0, 2: np.lib.format.read_array_header_2_0}[major]
                shape, _, dtype = read_header(file)
                if math.prod(shape) * dtype.itemsize != member.file_size - file.tell():
                    raise ValueError(f"{member.filename} says it has {list(shape)} numbers, and has not")


def check_info(info: dict[str, Any]) -> None:
    """ValueError, TypeError or KeyError for metadata with which no policy acts or is evaluated."""
    for key, kind in {"task": str, "algo": str, "seed": int, "iteration": int, "limits": dict, "spec": dict}.items():
        if not is_of(info[key], kind):
            raise ValueError(f"its {key} is {info[key]!r}")
    if not all(map(is_number, info["limits"].values())):
        raise ValueError(f"its limits are {info['limits']}")
    action = info["spec"]["action"]
    sizes = (info["spec"]["obs_dim"], outputs_of(action), *action.get("sizes", ()))
    if action["kind"] not in ACTIONS or not all(is_of(size, int) and size > 0 for size in sizes):
        raise ValueError(f"its observations and actions are of the sizes {sizes}")
    for name in ("low", "high") if action["kind"] == "Box" else ():
        if len(action[name]) != action["dim"] or not all(bound is None or is_number(bound) for bound in action[name]):
            raise ValueError(f"the bound {name} of its actions is {action[name]}")


def outputs_of(action: dict[str, Any]) -> int:
    """How many numbers the network gives for an action."""
    if action["kind"] == "Box":
        return action["dim"]
    return action["n"] if action["kind"] == "Discrete" else sum(action["sizes"])


def check_sizes(arrays: dict[str, np.ndarray], log_std: Any, spec: dict[str, Any]) -> None:
    """ValueError or KeyError for arrays that are not those of one network, from the spec's observations to its actions."""
    size, outputs = (spec["obs_dim"],), (outputs_of(spec["action"]),)
    expected: dict[str, tuple[int, ...]] = {"mean": size, "scale": size, "clip": ()}
    for i, (_, bias) in enumerate(layers_of(arrays)):
        expected |= {f"weight{i}": (*size, len(bias)), f"bias{i}": (len(bias),)}
        size = (len(bias),)
    wrong = [name for name, shape in expected.items() if arrays[name].shape != shape or arrays[name].dtype.kind != "f"]
    if wrong or size != outputs:
        raise ValueError("the network is not of the spec's sizes")
    if (spec["action"]["kind"] == "Box" or log_std is not None) and np.shape(log_std) != outputs:
        raise ValueError("log_std does not fit the actions")


def layers_of(arrays: dict[str, np.ndarray]) -> list[tuple[np.ndarray, np.ndarray]]:
    count = sum(name.startswith("weight") for name in arrays)
    return [(arrays[f"weight{i}"], arrays[f"bias{i}"]) for i in range(count)]


def check_weights(arrays: dict[str, np.ndarray]) -> None:
    """ValueError for numbers with which no policy acts: a scale of 0, of infinite variance, would show it nothing."""
    weights = [array for name, array in arrays.items() if name not in ("clip", "floor")]  # infinite without a normaliser
    if not all(np.isfinite(array).all() for array in weights) or not (arrays["scale"] > 0).all():
        raise ValueError(NOT_FINITE)
