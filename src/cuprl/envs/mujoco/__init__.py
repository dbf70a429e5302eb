"""Constrained tasks on MuJoCo robots, stepped together on `mujoco.batch`."""
