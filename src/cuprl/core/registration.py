"""The tasks as Gymnasium ids: `cuprl/HopperSpeed-v0`, … Light, because `import cuprl` runs it."""

from __future__ import annotations

ROBOTS = ("Hopper", "Ant", "Swimmer", "Humanoid", "HalfCheetah", "Walker2d")
IDS = {
    **{f"cuprl/{robot}{kind}-v0": f"{robot.lower()}-{kind.lower()}" for kind in ("Speed", "Velocity") for robot in ROBOTS},
    "cuprl/HumanoidCircle-v0": "humanoid-circle",
    "cuprl/AntCircle-v0": "ant-circle",
    "cuprl/HopperSpeedEffort-v0": "hopper-speed-effort",
    "cuprl/AntSpeedHeight-v0": "ant-speed-height",
}


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
