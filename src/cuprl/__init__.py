"""cuprl: policies that are good and safe. See README.md; `cup --help` is the command line."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from cuprl.registration import register_all

register_all()
__version__ = "0.1.0"

# Public names and where they live; imported when first used, so that `import cuprl` costs nothing.
_HOMES = {
    "train": "cuprl.loop",
    "resume": "cuprl.loop",
    "load": "cuprl.evaluation",
    "evaluate": "cuprl.evaluation",
    "make": "cuprl.envs",
    "TASKS": "cuprl.envs",
    "ALGORITHMS": "cuprl.algorithms",
    "Constraint": "cuprl.envs",
    "MujocoTask": "cuprl.envs",
}

if TYPE_CHECKING:
    from cuprl.algorithms import ALGORITHMS
    from cuprl.envs import TASKS, Constraint, MujocoTask, make
    from cuprl.evaluation import evaluate, load
    from cuprl.loop import resume, train

__all__ = ["ALGORITHMS", "TASKS", "Constraint", "MujocoTask", "evaluate", "load", "make", "resume", "train"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'cuprl' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
