"""The algorithms: one file per paper. A new one is one file and one line here.

A name maps to a module (imported when asked for) and the settings in which a preset differs from that module's Config.
`python:my_package.my_algorithm` names a module outside: anything with a Config, `init` and `update` is an algorithm.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any, NamedTuple

from cuprl.errors import UserError, unknown
from cuprl.modules import import_own

OWN = "python:"


class Entry(NamedTuple):
    module: str
    summary: str
    preset: dict[str, Any]


ALGORITHMS: dict[str, Entry] = {
    "cup": Entry("cup", "Conservative Update Policy (Yang et al. 2022), as the paper states it", {}),
    "cup-clip": Entry("cup", "CUP as its authors released it: PPO's clip instead of sqrt(KL)", {
        "improvement": "clip", "projection_kl": "new-half"}),
    "cup-omnisafe": Entry("cup", "CUP as OmniSafe has it", {
        "improvement": "clip", "projection_kl": "new-half", "cost_advantage": "centre",
        "cost_return": "undiscounted", "cost_window": 100, "multiplier": "adam", "multiplier_lr": 0.035,
        "epochs": 40, "projection_epochs": 40, "projection_stop": "half", "projection_delta": 0.01}),
    "cup-safepo": Entry("cup", "CUP as SafePO has it", {
        "improvement": "clip", "projection_kl": "new-half", "cost_advantage": "centre",
        "cost_return": "undiscounted", "cost_window": 50, "multiplier": "adam", "multiplier_lr": 0.035,
        "multiplier_max": 0.2, "epochs": 40, "projection_epochs": 40, "projection_stop": "half"}),
    "ppo": Entry("ppo", "Proximal Policy Optimization (Schulman et al. 2017), unconstrained", {}),
    "ppo-lag": Entry("ppo_lag", "PPO-L: PPO on the Lagrangian (Ray et al. 2019)", {}),
    "trpo": Entry("trpo", "Trust Region Policy Optimization (Schulman et al. 2015), unconstrained", {}),
    "trpo-lag": Entry("trpo_lag", "TRPO-L: TRPO on the Lagrangian (Ray et al. 2019)", {}),
    "cpo": Entry("cpo", "Constrained Policy Optimization (Achiam et al. 2017)", {}),
    "pcpo": Entry("pcpo", "Projection-Based Constrained Policy Optimization (Yang et al. 2020), KL projection", {}),
    "pcpo-l2": Entry("pcpo", "PCPO with its projection in the plain distance of parameters", {"projection": "l2"}),
    "focops": Entry("focops", "First Order Constrained Optimization in Policy Space (Zhang et al. 2020)", {}),
}  # fmt: skip


def full_name(name: str) -> str:
    """The name as it is listed, of one in other case or with underscores: CUP_clip is cup-clip."""
    listed = name.lower().replace("_", "-")
    return listed if listed in ALGORITHMS else name


def find(name: str) -> tuple[ModuleType, dict[str, Any]]:
    """The module of an algorithm and its preset."""
    if name.startswith(OWN):
        return find_own(name), {}
    name = full_name(name)
    if name not in ALGORITHMS:
        raise unknown("algorithm", name, [*ALGORITHMS, f"{OWN}MODULE (one of your own)"])
    return importlib.import_module(f"cuprl.algorithms.{ALGORITHMS[name].module}"), ALGORITHMS[name].preset


def find_own(name: str) -> ModuleType:
    path = name.removeprefix(OWN)
    module = import_own(path)
    missing = [part for part in ("Config", "init", "update") if not hasattr(module, part)]
    if missing:
        raise UserError(f"algorithm {name}: {path} has no {' and no '.join(missing)}; docs/algorithms.md shows how.")
    return module


def load(
    name: str, changes: dict[str, Any] | None = None, of_task: dict[str, Any] | None = None
) -> tuple[ModuleType, Any]:
    """The module of an algorithm and its Config: the task's own settings, then the preset's, then `changes`."""
    from cuprl.learn.settings import configure, field_names

    module, preset = find(name)
    fitting = {key: value for key, value in (of_task or {}).items() if key in field_names(module.Config)}
    return module, configure(module.Config, {**fitting, **preset, **(changes or {})}, name)
