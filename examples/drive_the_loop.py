"""Drive the loop yourself, as for a robot that owns its clock.

Here the robot is Gymnasium's cart with a pole: it is paid for every step that the pole stands, and its speed is a cost
with a limit. Stopped and started again with the same folder, it goes on where it was.
"""

from pathlib import Path

import gymnasium

import cuprl

CART = cuprl.Spec(
    "cart-pole",
    obs_dim=4,
    action=cuprl.Discrete(2),
    constraints=(cuprl.Constraint("speed", limit=15.0),),  # of the discounted (0.99) sum over an episode
    horizon=500,
)


def main(folder: str = "runs/cart-pole", steps: int = 100_000, **settings) -> cuprl.Agent:
    robot = gymnasium.make("CartPole-v1")
    if Path(folder, "config.json").exists():
        agent = cuprl.Agent.load(folder)
        agent.cut()  # the episode it was in is over: the robot starts a new one
        obs, _ = robot.reset()
    else:
        agent = cuprl.Agent(CART, "cup", seed=0, steps=steps, **settings)
        obs, _ = robot.reset(seed=0)
    while not agent.done:
        action = agent.act(obs)
        next_obs, reward, terminated, truncated, _ = robot.step(action)
        agent.observe(next_obs, reward, {"speed": abs(next_obs[1])}, terminated, truncated)
        obs = robot.reset()[0] if terminated or truncated else next_obs
        if agent.ready:
            row = agent.update()
            agent.save(folder)
            cost, limit = row["rollout/ep_cost_mean"], row["rollout/cost_limit"]
            print(f"steps {row['steps']:>7,}  return {row['rollout/ep_rew_mean']:5.1f}  speed {cost:5.2f} / {limit:g}")
    print(f"done: cup plot {folder} draws it, cup export {folder} --to onnx writes the policy")
    return agent


if __name__ == "__main__":
    main(batch_size=2000, policy_lr=1e-3, critic_lr=1e-3)
