"""The tasks as Gymnasium ids: `cuprl/HopperSpeed-v0`, … Light, because `import cuprl` runs it."""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from typing import Any

ROBOTS = ("Hopper", "Ant", "Swimmer", "Humanoid", "HalfCheetah", "Walker2d")
IDS = {
    **{f"cuprl/{robot}{kind}-v0": f"{robot.lower()}-{kind.lower()}" for kind in ("Speed", "Velocity") for robot in ROBOTS},
    "cuprl/HumanoidCircle-v0": "humanoid-circle",
    "cuprl/AntCircle-v0": "ant-circle",
    "cuprl/HopperSpeedEffort-v0": "hopper-speed-effort",
    "cuprl/AntSpeedHeight-v0": "ant-speed-height",
}


def register_with_gymnasium() -> None:
    """Register the ids: now if Gymnasium is imported, else when it is, for its import takes longer than `cup --help`."""
    if "gymnasium" in sys.modules:
        register_all()
    else:
        sys.meta_path.insert(0, WhenImported())


class WhenImported:
    """Watches for imports of Gymnasium. It stays, for not all who ask where a module is import it then."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Find Gymnasium as anyone would, with the ids registered at the end of its import; other modules not at all."""
        if name != "gymnasium":
            return None
        after = sys.meta_path[sys.meta_path.index(self) + 1 :]  # those before it were asked, and found nothing
        spec = next((found for finder in after if (found := finder.find_spec(name, path, target)) is not None), None)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_and_register(module: Any) -> None:
                execute(module)
                register_all()

            spec.loader.exec_module = execute_and_register  # type: ignore[method-assign]
        return spec


def register_all() -> None:
    """Register the ids; none where Gymnasium is not installed, as on a robot that only runs an exported policy."""
    try:
        from gymnasium.envs.registration import register, registry
    except ImportError:
        return
    for identifier, task in IDS.items():
        if identifier not in registry:
            # No max_episode_steps: the tasks end their episodes at the horizon themselves.
            register(
                identifier,
                entry_point="cuprl.envs.gymnasium.api:SafeEnv",
                vector_entry_point="cuprl.envs.gymnasium.api:SafeVectorEnv",
                kwargs={"task": task},
            )
