"""The tasks as Gymnasium ids: `cuprl/HopperSpeed-v0`, … Light, because `import cuprl` runs it."""

from __future__ import annotations

from gymnasium.envs.registration import register, registry

IDS = {
    "cuprl/HopperSpeed-v0": "hopper-speed",
    "cuprl/AntSpeed-v0": "ant-speed",
    "cuprl/SwimmerSpeed-v0": "swimmer-speed",
    "cuprl/HumanoidSpeed-v0": "humanoid-speed",
    "cuprl/HalfCheetahSpeed-v0": "halfcheetah-speed",
    "cuprl/Walker2dSpeed-v0": "walker2d-speed",
    "cuprl/HumanoidCircle-v0": "humanoid-circle",
    "cuprl/AntCircle-v0": "ant-circle",
}


def register_all() -> None:
    for identifier, task in IDS.items():
        if identifier not in registry:
            # No max_episode_steps: the tasks end their episodes at the horizon themselves.
            register(
                identifier,
                entry_point="cuprl.envs.gymnasium_api:SafeEnv",
                vector_entry_point="cuprl.envs.gymnasium_api:SafeVectorEnv",
                kwargs={"task": task},
            )
