"""The one normaliser: what it learns, what it leaves alone, and its formula in NumPy, in JAX and in an exported file."""

import numpy as np

from cuprl.core.normaliser import Moments, Normaliser

DATA = np.random.default_rng(0).normal((3.0, -50.0, 0.0), (2.0, 0.1, 30.0), size=(100, 4, 3))


def test_in_pieces_equals_the_whole():
    pieces = Normaliser.identity(3)
    for part in np.split(DATA, [10, 55]):
        pieces = pieces.update(part)
    flat = DATA.reshape(-1, 3)
    assert pieces.seen.count == len(flat)
    np.testing.assert_allclose(pieces.mean, flat.mean(axis=0))
    np.testing.assert_allclose(pieces.seen.var, flat.var(axis=0))
    expected = np.clip((flat - flat.mean(axis=0)) / flat.std(axis=0), -5, 5)
    np.testing.assert_allclose(pieces.apply(flat), expected, atol=1e-5)
    assert pieces.apply(flat + 1e9).max() == 5.0 and pieces.apply(flat - 1e9).min() == -5.0


def test_what_is_constant_is_not_divided_by_zero():
    normaliser = Normaliser.identity(1).update(np.full((8, 1), 2.0))
    np.testing.assert_array_equal(normaliser.apply(np.array([[2.0], [2.0001], [9.0]])).round(3), [[0.0], [1.0], [5.0]])


def test_switched_off_it_leaves_observations_alone_to_the_last_bit():
    off = Normaliser.off(2).update(np.ones((4, 2)))
    obs = np.array([[50.0, -80.0], [-0.0, 1e30], [1 / 3, np.pi]])
    assert off.seen is None
    assert off.apply(obs).tobytes() == obs.astype(np.float32).tobytes()


def test_results_are_float32_and_go_where_they_are_wanted():
    normaliser = Normaliser.identity(3).update(DATA)
    out = np.empty((4, 3), np.float32)
    assert normaliser.apply(DATA[0], out=out) is out
    found = normaliser.apply(DATA[0])
    assert found.dtype == np.float32
    np.testing.assert_array_equal(out, found)
    np.testing.assert_array_equal(normaliser.apply(DATA[0, 1]), found[1])  # one observation as among many


def test_what_is_exported_applies_the_same_and_learns_nothing():
    for normaliser in (Normaliser.identity(3).update(DATA), Normaliser.off(3)):
        again = Normaliser.from_arrays({**normaliser.arrays(), "weight0": np.zeros((3, 1))})
        np.testing.assert_array_equal(again.apply(DATA), normaliser.apply(DATA))
        assert again.update(DATA + 1.0) is again


def test_made_again_of_what_was_seen_it_goes_on_to_the_last_bit():
    first = Normaliser.identity(3).update(DATA[:50])
    assert first.seen is not None
    again = Normaliser.of(Moments(*first.seen))
    for now, then in zip(again.update(DATA[50:]).seen, first.update(DATA[50:]).seen):
        np.testing.assert_array_equal(now, then)


def test_the_same_in_jax():
    import jax.numpy as jnp

    from cuprl.policies.deployed import double_precision

    normaliser = Normaliser.identity(3).update(DATA)
    with double_precision():
        found = normaliser.apply(jnp.asarray(DATA), xp=jnp)
    np.testing.assert_array_equal(found, normaliser.apply(DATA))


def test_what_it_clips_is_told_and_nan_with_it():
    normaliser = Normaliser(np.array([0.0, 10.0]), np.array([1.0, 0.5]), np.array(5.0))
    obs = np.array([[5.0, 20.0], [-5.1, 20.1], [np.nan, np.inf]])
    np.testing.assert_array_equal(normaliser.beyond(obs), [[False, False], [True, True], [True, True]])


def test_what_was_seen_is_got_back_from_what_it_applies():
    seen = Moments.none(3).with_batch(DATA)
    again = Normaliser.from_arrays(Normaliser.of(seen).arrays()).moments(seen.count)
    for now, then in zip(again, seen):
        np.testing.assert_allclose(now, then, rtol=1e-12)
