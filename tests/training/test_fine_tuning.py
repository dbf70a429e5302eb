"""What a trained policy is worth to another limit: a study of about an hour."""

import numpy as np
import pytest

import cuprl

SEEDS, STEPS, LIMIT = range(5), 1_500_000, 60.0


@pytest.mark.slow
def test_a_trained_hopper_learns_a_limit_of_60_in_a_third_of_the_steps(tmp_path):
    """Begun from a hopper trained under its own limit, a third of the steps bring as much return, within the limit."""
    ends = {}
    for seed in SEEDS:
        taught = cuprl.train("hopper-speed", seed=seed, steps=STEPS, out=tmp_path / f"taught{seed}")
        alone = cuprl.train("hopper-speed", seed=seed, steps=STEPS, limits=LIMIT, out=tmp_path / f"alone{seed}")
        tuned = cuprl.train(
            "hopper-speed",
            seed=seed,
            steps=STEPS // 3,
            limits=LIMIT,
            out=tmp_path / f"tuned{seed}",
            start_from=taught,
            start_critics=True,
        )
        for name, run in (("alone", alone), ("tuned", tuned)):
            rows = run.progress()
            ends.setdefault(name, []).append((rows["rollout/ep_rew_mean"][-1], rows["rollout/ep_cost_mean"][-1]))
    found = {name: np.mean(pairs, axis=0) for name, pairs in ends.items()}
    print(ends)
    assert found["tuned"][0] >= found["alone"][0] and found["tuned"][1] <= LIMIT
