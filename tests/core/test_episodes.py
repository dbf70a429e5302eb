"""Episode accounting against a slow loop, over several rollouts."""

import numpy as np

from cuprl.core.episodes import Episodes, Running, split_episodes


def test_split_episodes_against_a_slow_loop():
    rng = np.random.default_rng(0)
    envs, discount = 3, np.array([0.9, 1.0])
    parts = [(rng.normal(size=(t, envs, 3)), rng.random((t, envs)) < 0.15) for t in (20, 1, 35)]
    running, found = Running.start(envs, 2), Episodes.none(2)
    for signal, done in parts:
        ended, running = split_episodes(running, signal, done, discount)
        found += ended
    signal, done = (np.concatenate(x) for x in zip(*parts))
    expected = []
    for n in range(envs):
        start = 0
        for t in range(len(signal)):
            if done[t, n]:
                episode = signal[start : t + 1, n]
                powers = discount ** np.arange(len(episode))[:, None]
                expected.append((t, len(episode), *episode.sum(axis=0), *(powers * episode[:, 1:]).sum(axis=0)))
                start = t + 1
        np.testing.assert_allclose(running.total[n], signal[start:, n].sum(axis=0))
        assert running.length[n] == len(signal) - start
    expected.sort(key=lambda row: row[0])
    assert len(expected) == len(found.length) > 5
    got = np.column_stack((found.length, found.total, found.discounted))
    np.testing.assert_allclose(got[np.lexsort(got.T)], np.array(expected)[:, 1:][np.lexsort(np.array(expected)[:, 1:].T)])


def test_no_episode_ends():
    ended, running = split_episodes(Running.start(2, 1), np.ones((5, 2, 2)), np.zeros((5, 2), bool), np.array([0.5]))
    assert len(ended.length) == 0
    np.testing.assert_allclose(running.discounted, 1.9375)
