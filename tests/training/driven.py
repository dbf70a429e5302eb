"""What is driven by hand in tests: a robot arm that is none, and a simulator that owns the clock."""

import cuprl

ARM = cuprl.Spec(
    "arm", 3, cuprl.Box(2, (-1.0, -1.0), (1.0, 1.0)), (cuprl.Constraint("heat", 5.0), cuprl.Constraint("force", 2.5)), 50
)
TINY = {"batch_size": 20, "hidden": (8,), "minibatch": 10, "epochs": 2, "critic_epochs": 2, "steps": 60}


def drive(agent, env, obs, steps=10**9):
    """As a simulator that owns the clock would; returns the observation to go on from."""
    while not agent.done and steps:
        step = env.step(agent.act(obs))
        agent.observe(step.next_obs, step.reward, step.cost, step.terminated, step.truncated)
        obs = step.obs.copy()
        steps -= 1
        if agent.ready:
            agent.update()
    return obs
