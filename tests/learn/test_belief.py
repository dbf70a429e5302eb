"""The filter of J^C: less noise than a batch has, no error that lasts, promises counted for what they were worth."""

import jax.numpy as jnp
import numpy as np

from cuprl.learn.belief import Belief, init_belief, outlook, predicted


def follow(truth, noise, change, memory=10.0, episodes=5.0):
    """What is believed after each batch, and the last belief; truth, noise, change [iterations]."""
    belief: Belief | None = init_belief(1)
    levels = []
    for true, off, promise in zip(truth, noise, change):
        cost = outlook(belief, jnp.array([true + off]), jnp.array(episodes), lambda promised: jnp.array([promised]), memory)
        levels.append(float(cost.now[0]))
        belief = cost.settled_on(promise)
    return np.array(levels), belief


def test_the_first_batch_is_believed():
    levels, belief = follow([7.0], [0.0], [0.0])
    assert levels == [7.0] and belief.drift == 0.0 and belief.count == 1


def test_a_constant_cost_is_known_better_than_a_batch_tells():
    noise = np.random.default_rng(0).normal(size=400)
    levels, _ = follow(np.full(400, 80.0), noise, np.zeros(400))
    assert np.std(levels[50:] - 80.0) < 0.75 * noise.std() and abs(levels[50:].mean() - 80.0) < 0.1


def test_a_promise_that_is_broken_every_time_leaves_no_error():
    """Each update promises that the cost falls by 3; it rises by 1."""
    truth = np.arange(200.0)
    levels, belief = follow(truth, np.zeros(200), np.full(200, -3.0))
    assert abs(levels[-1] - truth[-1]) < 0.05
    assert abs(predicted(belief, jnp.array([-3.0]))[0] - (truth[-1] + 1.0)) < 0.1  # and the next is foreseen


def test_the_share_of_promises_kept_is_learnt():
    rng = np.random.default_rng(1)
    change = rng.normal(size=600) * 5.0
    for share in (0.2, 0.8):
        truth = 80.0 + np.concatenate(([0.0], np.cumsum(share * change)[:-1]))
        _, belief = follow(truth, np.zeros(600), change)
        assert abs(float(belief.kept[0]) - share) < 0.1


def test_the_noise_of_batches_with_many_episodes_is_no_drift():
    """With 250 episodes a batch the level follows the batch; what is foreseen must not follow its last step as well."""
    missed = []
    for seed in range(12):
        noise = np.random.default_rng(seed).normal(size=40)
        _, belief = follow(np.full(40, 80.0), noise, np.zeros(40), episodes=250.0)
        missed.append(float(predicted(belief, jnp.zeros(1))[0]) - 80.0)
    assert np.sqrt(np.mean(np.square(missed))) < 1.05  # 0.87; 1.30 if the drift were as quick as the level
