"""The algorithms: one file per paper. A new one is one file and one line here.

A name maps to a module (imported when asked for) and the settings in which a preset differs from that module's Config.
`python:my_package.my_algorithm` names a module outside: anything with a Config, `init` and `update` is an algorithm.
"""

from __future__ import annotations

import dataclasses
import importlib
import json
from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

from cuprl.core.user_modules import import_own
from cuprl.errors import UserError, unknown

OWN = "python:"


class Entry(NamedTuple):
    """An algorithm as it is listed: its module, what it is, and the settings that make it so."""

    module: str
    summary: str
    preset: dict[str, Any]
    numerics: int = 1  # raised when the same settings give other numbers: what was stored before is then stale


# What `cup` changes of the printed algorithm, part by part: docs/why-cup.md. `cup bench cup-ablation` tries each.
MENDED: dict[str, dict[str, Any]] = {
    "horizon": {"gamma": 0.997, "critic_unit": "step", "critic_l2": 0.0},
    "steps": {
        "policy_lr": 1.5e-4, "delta": 0.05, "projection_delta": 0.08, "stop_checks": 4, "improvement": "both", "clip": 0.5},
    "nu": {"multiplier": "projection", "multiplier_lr": 3.0, "projection_surrogate": "clip", "beta": 0.05},
    "cost": {
        "cost_weights": "discounted", "cost_lam": 0.8, "cost_ends": "bootstrap",
        "cost_estimate": "steps", "cost_memory": 10.0},
}  # fmt: skip

# What depends on a problem's own discount and on the size of its networks: a task's word goes before a preset's there.
OF_THE_TASK = ("gamma", "policy_lr", "critic_lr")

ALGORITHMS: dict[str, Entry] = {
    "cup": Entry("cup", "Conservative Update Policy (Yang et al. 2022), its losses mended: recommended", {
        name: value for part in MENDED.values() for name, value in part.items()}, numerics=3),
    "cup-paper": Entry("cup", "CUP with the losses and the rule for nu that the paper prints", {}),
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
    """Give the name as it is listed, of one in other case or with underscores: CUP_clip is cup-clip."""
    listed = name.lower().replace("_", "-")
    return listed if listed in ALGORITHMS else name


def find(name: str) -> tuple[ModuleType, dict[str, Any]]:
    """Find the module of an algorithm and its preset."""
    if name.startswith(OWN):
        return find_own(name), {}
    name = full_name(name)
    if name not in ALGORITHMS:
        raise unknown("algorithm", name, [*ALGORITHMS, f"{OWN}MODULE (one of your own)"])
    return importlib.import_module(f"cuprl.algorithms.{ALGORITHMS[name].module}"), ALGORITHMS[name].preset


def find_own(name: str) -> ModuleType:
    """Import an algorithm of one's own, python:MODULE; a module that is none is refused."""
    path = name.removeprefix(OWN)
    module = import_own(path)
    missing = [part for part in ("Config", "init", "update") if not hasattr(module, part)]
    if missing:
        raise UserError(f"algorithm {name}: {path} has no {' and no '.join(missing)}; docs/algorithms.md shows how.")
    from cuprl.learn.fields import field_names
    from cuprl.learn.settings import Common

    config: Any = module.Config
    has = field_names(config) if isinstance(config, type) and dataclasses.is_dataclass(config) else []
    if lacking := [field for field in field_names(Common) if field not in has]:
        said = f"algorithm {name}: its Config has no {lacking[0]}"
        raise UserError(f"{said}; derive it from cuprl.learn.settings.Common, as a frozen dataclass.")
    return module


def load(name: str, changes: dict[str, Any] | None = None, of_task: dict[str, Any] | None = None) -> tuple[ModuleType, Any]:
    """Find the module of an algorithm and make its Config: the task's own settings, then the preset's, then `changes`.

    Where a task has a discount or rates of learning of its own (OF_THE_TASK), they go before the preset's.
    """
    from cuprl.learn.fields import configure, field_names

    module, preset = find(name)
    fitting = {key: value for key, value in (of_task or {}).items() if key in field_names(module.Config)}
    own = {key: value for key, value in fitting.items() if key in OF_THE_TASK}
    return module, configure(module.Config, {**fitting, **preset, **own, **(changes or {})}, name)


def numerics(name: str) -> int:
    """Give the number that changes when an algorithm's numbers do; a stored run with another is stale."""
    name = full_name(name)
    return ALGORITHMS[name].numerics if name in ALGORITHMS else 1


def as_now(config: dict[str, Any]) -> dict[str, Any]:
    """Put a configuration that was stored, a config.json's or a result's, into today's words.

    Before numerics were recorded, "cup" was the printed algorithm. A setting that came later has the default of the
    algorithm's Config, which leaves its numbers alone: not that of a preset, which may be newer than what was stored.
    """
    if config.get("algo") == "cup" and "numerics" not in config:
        config = {**config, "algo": "cup-paper"}
    return {"numerics": 1, **config, "settings": {**default_settings(config["algo"]), **config["settings"]}}


def default_settings(name: str) -> dict[str, Any]:
    """Give the defaults of the algorithm's Config, as JSON has them, without a preset; of one's own none."""
    known = full_name(name)
    return json.loads(written_defaults(find(known)[0].Config)) if known in ALGORITHMS else {}


@cache  # a table asks for them again and again, for each of its hundreds of runs
def written_defaults(config_class: type) -> str:
    """Write the defaults of a Config as JSON."""
    config: Any = config_class()
    return json.dumps(dataclasses.asdict(config))


def settings_that_differ(name: str, settings: dict[str, Any]) -> dict[str, Any]:
    """Keep the settings that are not the defaults of the algorithm's Config: one that is added later is none of them."""
    default = default_settings(name)
    return {key: value for key, value in settings.items() if key not in default or default[key] != value}
