"""SBX: Stable-Baselines3's PPO rewritten in JAX; its networks are 2x64 tanh as shipped."""

from __future__ import annotations

import sys

from sb3_driver import train
from sbx import PPO

if __name__ == "__main__":
    train(PPO, {}, ("sbx-rl", "jax", "gymnasium", "mujoco"), *sys.argv[2:4])
