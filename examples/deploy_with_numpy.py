"""From training to a robot's computer: train, export one file, and run it in a process that has NumPy and no JAX."""

import subprocess
import sys

import cuprl

# What runs on the robot. The robot is simulated here; the policy sees only what its sensors give.
ROBOT = """
import sys
sys.modules["jax"] = None  # as if JAX were not installed

import gymnasium
import cuprl

policy = cuprl.load(sys.argv[1])
robot = gymnasium.make("cuprl/HopperSpeed-v0")
obs, _ = robot.reset(seed=1)
total = cost = steps = 0
ended = False
while not ended:
    action = policy.clip(policy.predict(obs))  # within what the motors accept
    obs, reward, terminated, truncated, info = robot.step(action)
    total, cost, steps = total + reward, cost + 0.99**steps * info["cost"], steps + 1
    ended = terminated or truncated
limit = policy.info["limits"]["speed"]
print(f"{steps} steps, return {total:.1f}, discounted cost {cost:.2f} (limit {limit:g})")
"""


def main(steps: int = 250_000, out: str | None = None, **settings) -> str:
    run = cuprl.train("hopper-speed", steps=steps, out=out, **settings)
    file = cuprl.export_policy(run, to="numpy", evaluation=cuprl.evaluate(run))
    print(f"{file}: {file.stat().st_size:,} bytes")
    shown = subprocess.run([sys.executable, "-c", ROBOT, str(file)], check=True, capture_output=True, text=True).stdout
    print(shown, end="")
    return shown


if __name__ == "__main__":
    main()
