"""CartPole, kept left of the centre: each step right of it costs 1, and at most 50 of 500 steps may. Then without a limit.

python examples/cartpole_with_a_limit.py [SEED]
"""

import sys

import cuprl

LIMIT = 50.0  # on the plain sum over an episode, not the discounted one
SETTINGS = {
    "batch_size": 2000,
    "gamma": 0.995,  # a slow drift off the track must be seen in time
    "policy_lr": 1e-3,
    "critic_lr": 1e-3,
    "multiplier": "pid",  # the price of the cost follows it at once; plain ascent comes late and swings
    "multiplier_lr": 0.002,  # costs here are counted in steps, up to 500 an episode
}


def right(obs, action, next_obs, info):
    return next_obs[0] > 0.0


def solve(limit: float, **settings) -> dict:
    task = cuprl.from_gymnasium("CartPole-v1", {"right": right}, limit, discount=1.0, num_envs=10)
    run = cuprl.train(task, "cup-paper", **{"steps": 200_000, **SETTINGS, **settings})
    return cuprl.evaluate(cuprl.load(run, task), episodes=50, deterministic=False)


def main(**settings) -> tuple[dict, dict]:
    safe, free = (solve(limit, **settings) for limit in (LIMIT, 1e6))
    for name, result in (("under the limit", safe), ("without one", free)):
        print(f"{name:<16} return {result['return_mean']:6.1f}   steps right of the centre {result['cost_mean']:6.1f}")
    return safe, free


if __name__ == "__main__":
    main(seed=int(sys.argv[1]) if len(sys.argv) > 1 else 0)
