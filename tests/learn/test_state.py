"""The state that an algorithm starts from."""

import jax
import numpy as np

from algorithms.plain_policies import spec_for
from cuprl.learn.settings import Common, Lagrangian
from cuprl.learn.state import init_state


def test_each_part_has_its_own_chance_and_a_key_is_left():
    spec = spec_for("gaussian", m=2)
    key = jax.random.PRNGKey(0)
    state = init_state(key, Common(hidden=(8,)), spec)
    assert len(state.critics) == 3  # of the reward and of each cost
    first = [np.asarray(network["layers"][0][0]) for network in (state.policy, *state.critics)]
    assert all(not np.array_equal(a, b) for i, a in enumerate(first) for b in first[:i])
    assert not np.array_equal(state.key, key)
    again = init_state(key, Common(hidden=(8,)), spec)
    jax.tree.map(np.testing.assert_array_equal, state, again)


def test_multipliers_start_where_the_settings_say():
    spec = spec_for("categorical", m=2)
    assert (init_state(jax.random.PRNGKey(0), Common(hidden=(8,)), spec).multiplier.value == 0).all()
    started = init_state(jax.random.PRNGKey(0), Lagrangian(hidden=(8,), multiplier_init=0.3), spec)
    np.testing.assert_allclose(started.multiplier.value, [0.3, 0.3])
