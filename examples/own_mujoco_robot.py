"""A robot of your own from its MJCF, with two costs, trained at full speed: a cart that balances a pole while it runs.

It is paid for running; the force of its motor and the tilt of its pole are to stay under a limit.

    python examples/own_mujoco_robot.py [STEPS]
"""

import sys

import numpy as np

import cuprl

CART = """
<mujoco>
  <option timestep="0.01" integrator="RK4"/>
  <worldbody>
    <body name="cart">
      <joint name="slide" type="slide" axis="1 0 0" damping="0.5"/>
      <geom type="box" size="0.2 0.1 0.05" mass="1"/>
      <body name="pole" pos="0 0 0.05">
        <joint name="hinge" type="hinge" axis="0 1 0"/>
        <geom type="capsule" fromto="0 0 0 0 0 0.6" size="0.03" mass="0.1"/>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="slide" gear="10" ctrllimited="true" ctrlrange="-1 1"/></actuator>
</mujoco>
"""


def reset(qpos, qvel, rng):  # one cart at a time; all other functions see N carts at once
    return qpos + rng.uniform(-0.05, 0.05, 2), qvel + rng.uniform(-0.05, 0.05, 2)


task = cuprl.MujocoTask(
    name="running-cart",
    model=CART,
    frame_skip=2,
    horizon=500,
    constraints=(cuprl.Constraint("force", 40.0), cuprl.Constraint("tilt", 8.0)),
    observe=lambda physics: physics.qpos_qvel[:, 1:],  # where it is does not matter
    position=lambda physics: physics.qpos[:, :1],  # its change per second is motion.velocity
    reward=lambda physics, motion: 1.0 + motion.velocity[:, 0],
    costs=lambda physics, motion: np.abs(np.column_stack((physics.ctrl[:, 0], physics.qpos[:, 1]))),
    terminated=lambda physics: np.abs(physics.qpos[:, 1]) > 0.5,
    reset=reset,
)


def main(steps: float = 300_000, **settings) -> None:
    run = cuprl.train(task, "cup", steps=steps, **settings)
    found = cuprl.evaluate(cuprl.load(run, task), episodes=20)
    costs = ", ".join(f"{name} {cost:.1f} / {found['cost_limit'][name]:g}" for name, cost in found["cost_mean"].items())
    print(f"return {found['return_mean']:.1f}, {costs}")


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
