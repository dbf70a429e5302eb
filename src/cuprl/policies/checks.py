"""What a policy may hold, checked before it is believed; with NumPy alone."""

from __future__ import annotations

import math
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from cuprl.core.actions import Action, Box
from cuprl.core.activations import ACTIVATIONS, USUAL
from cuprl.core.encoder import NO_ENCODER
from cuprl.core.spec_json import action_from_json
from cuprl.core.values import is_number, is_of, whole

LARGEST_FILE = 2**30  # bytes of a policy unpacked: more than twice the largest network
ENCODER = "encoder/"  # before the names of its parameters, in a file and in a checkpoint
NOT_FINITE = "it has NaN or infinite weights"
OTHER_SIZES = "the network is not of the spec's sizes"


def check_archive(path: Path) -> None:
    """Raise ValueError where the arrays would take more memory than any policy's, or more than the archive has of them."""
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
    """Raise ValueError, TypeError or KeyError for metadata with which no policy acts or is evaluated."""
    for key, kind in {"task": str, "algo": str, "seed": int, "iteration": int, "limits": dict, "spec": dict}.items():
        if not is_of(info[key], kind):
            raise ValueError(f"its {key} is {info[key]!r}")
    if not all(map(is_number, info["limits"].values())):
        raise ValueError(f"its limits are {info['limits']}")
    action = info["spec"]["action"]
    for name in {"low", "high"} & action.keys():
        if not all(bound is None or is_number(bound) for bound in action[name]):
            raise ValueError(f"the bound {name} of its actions is {action[name]}")
    whole(info["spec"]["obs_dim"], "its obs_dim")
    if not is_number(step := info["spec"].get("step_seconds", 1.0)) or step <= 0.0:
        raise ValueError(f"its step_seconds is {step!r}")
    check_spread(info["log_std"], action_from_json(action))  # which refuses what is none
    check_network(info)


def check_network(info: dict[str, Any]) -> None:
    """Raise ValueError for a network or a policy that is none here; those that are said nothing of are the usual ones."""
    if (activation := info.get("activation", USUAL)) not in ACTIVATIONS:
        raise ValueError(f"its activation is {activation!r}")
    if (policy := info.get("policy", "gaussian")) not in ("gaussian", "squashed"):
        raise ValueError(f"its policy is {policy!r}")
    action = action_from_json(info["spec"]["action"])
    if policy == "squashed" and (not isinstance(action, Box) or action.unbounded()):
        raise ValueError("it is squashed into bounds that its actions have not")
    if not isinstance(info.get("encoder", NO_ENCODER), str):
        raise ValueError(f"its encoder is {info['encoder']!r}")


def check_spread(log_std: Any, action: Action) -> None:
    """Raise ValueError unless there is one for each real action, and none for choices."""
    real = isinstance(action, Box)
    fitting = isinstance(log_std, list) and len(log_std) == action.outputs and all(isinstance(x, float) for x in log_std)
    if not (fitting if real else log_std is None):
        raise ValueError("log_std does not fit the actions")


def check_sizes(arrays: dict[str, np.ndarray], spec: dict[str, Any], encoded: bool = False) -> None:
    """Raise ValueError or KeyError for arrays that are not one network's, from the spec's observations to its actions.

    encoded: the layers are given an encoder's features, whose number shows when it is run.
    """
    size, outputs = (spec["obs_dim"],), (action_from_json(spec["action"]).outputs,)
    expected: dict[str, tuple[int, ...]] = {"mean": size, "scale": size, "clip": ()}
    if encoded:
        size = arrays["weight0"].shape[:1]
    for i, (_, bias) in enumerate(layers_of(arrays)):
        expected |= {f"weight{i}": (*size, len(bias)), f"bias{i}": (len(bias),)}
        size = (len(bias),)
    wrong = [name for name, shape in expected.items() if arrays[name].shape != shape or arrays[name].dtype.kind != "f"]
    if wrong or size != outputs:
        raise ValueError(OTHER_SIZES)


def check_outputs(out: np.ndarray, std: np.ndarray | None, action: Action) -> None:
    """Raise ValueError for what a network gives for one observation, or for a deviation, with which no policy acts."""
    if out.shape != (action.outputs,):
        raise ValueError(OTHER_SIZES)
    if not (np.isfinite(out).all() and np.isfinite(0.0 if std is None else std).all()):
        raise ValueError(NOT_FINITE)


def layers_of(arrays: dict[str, np.ndarray]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Give each layer's (weight [in, out], bias [out]), first to last."""
    count = sum(name.startswith("weight") for name in arrays)
    return [(arrays[f"weight{i}"], arrays[f"bias{i}"]) for i in range(count)]


def sizes_of(arrays: dict[str, np.ndarray]) -> str:
    """Write how many numbers go into each layer and out of the last: 11 x 64 x 64 x 3."""
    layers = layers_of(arrays)
    return " x ".join(str(n) for n in [*(len(weight) for weight, _ in layers), layers[-1][1].size])


def of_encoder(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Give the parameters of an encoder, by its own names."""
    return {name.removeprefix(ENCODER): array for name, array in arrays.items() if name.startswith(ENCODER)}


def check_weights(arrays: dict[str, np.ndarray]) -> None:
    """Raise ValueError for numbers with which no policy acts: a scale of 0, of infinite variance, would show it nothing."""
    weights = [array for name, array in arrays.items() if name not in ("clip", "floor")]  # infinite without a normaliser
    if not all(np.isfinite(array).all() for array in weights) or not (arrays["scale"] > 0).all():
        raise ValueError(NOT_FINITE)
