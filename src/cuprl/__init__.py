"""cuprl: policies that are good and safe. See README.md; `cup --help` is the command line."""

from __future__ import annotations

import importlib
import logging
from typing import TYPE_CHECKING, Any

from cuprl.core.registration import register_with_gymnasium

register_with_gymnasium()
logging.getLogger("cuprl").addHandler(logging.NullHandler())  # a library prints nothing that its user has not asked for
__version__ = "0.1.0"

# Public names and where they live; imported when first used, so that `import cuprl` costs nothing.
_HOMES = {
    "train": "cuprl.training.train",
    "resume": "cuprl.training.train",
    "load": "cuprl.policies.load",
    "evaluate": "cuprl.policies.evaluate",
    "certify": "cuprl.policies.certify",
    "export_policy": "cuprl.policies.export",
    "report": "cuprl.pages.report",
    "video": "cuprl.film.video",
    "Agent": "cuprl.training.agent",
    "make": "cuprl.envs",
    "TASKS": "cuprl.envs",
    "ALGORITHMS": "cuprl.algorithms",
    "Spec": "cuprl.core.spec",
    "Box": "cuprl.core.actions",
    "Discrete": "cuprl.core.actions",
    "MultiDiscrete": "cuprl.core.actions",
    "Constraint": "cuprl.core.spec",
    "Encoder": "cuprl.core.encoder",
    "MujocoTask": "cuprl.envs",
    "reads": "cuprl.envs.mujoco.scores",
    "from_gymnasium": "cuprl.envs.gymnasium.task",
}

if TYPE_CHECKING:
    from cuprl.algorithms import ALGORITHMS
    from cuprl.core.actions import Box, Discrete, MultiDiscrete
    from cuprl.core.encoder import Encoder
    from cuprl.core.spec import Constraint, Spec
    from cuprl.envs import TASKS, MujocoTask, make
    from cuprl.envs.gymnasium.task import from_gymnasium
    from cuprl.envs.mujoco.scores import reads
    from cuprl.film.video import video
    from cuprl.pages.report import report
    from cuprl.policies.certify import certify
    from cuprl.policies.evaluate import evaluate
    from cuprl.policies.export import export_policy
    from cuprl.policies.load import load
    from cuprl.training.agent import Agent
    from cuprl.training.train import resume, train

__all__ = [
    "ALGORITHMS",
    "TASKS",
    "Agent",
    "Box",
    "Constraint",
    "Discrete",
    "Encoder",
    "MujocoTask",
    "MultiDiscrete",
    "Spec",
    "certify",
    "evaluate",
    "export_policy",
    "from_gymnasium",
    "load",
    "make",
    "reads",
    "report",
    "resume",
    "train",
    "video",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'cuprl' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """List the public names, also those not yet imported: tab completion shows them."""
    return [*__all__, "__version__"]
