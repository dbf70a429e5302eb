"""Seeds taken together, and which group is best."""

from cuprl.experiments.grid.cells import Block
from cuprl.experiments.report.groups import winners
from experiments.synthetic import groups_of

TWO = ("hopper-speed", "swimmer-speed")
STEPS = 100_000  # 20 iterations
RETURN = "rollout/ep_rew_mean"


def test_the_best_is_of_those_held_to_the_same_limits():
    groups = groups_of(Block(TWO[:1], ("cup", "ppo-lag"), (0,), STEPS, sweep=(("limit", ("40", "80")),)))
    for value, g in enumerate(groups):
        g.results[0].metrics[RETURN][-1] = value
    assert sorted(g.label for g in winners(groups)) == ["ppo-lag limit=40", "ppo-lag limit=80"]
