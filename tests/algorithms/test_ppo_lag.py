"""PPO with multipliers."""

import jax
import numpy as np

from algorithms.plain_policies import batch_for, spec_for
from cuprl.algorithms import ppo, ppo_lag


def test_ppo_lag_with_no_multiplier_is_ppo():
    """Under the limits nu stays 0 and the advantage is the reward's; over them it is another one."""
    spec = spec_for("gaussian")
    config = ppo_lag.Config(hidden=(8,), minibatch=32, epochs=2, critic_epochs=1)
    state = ppo_lag.init(jax.random.PRNGKey(0), config, spec)
    update = jax.jit(ppo_lag.update, static_argnums=(2, 3))
    safe, unsafe = (update(state, batch_for(spec, state.policy, excess=x), config, spec)[0] for x in (-1.0, 50.0))
    plain, _ = jax.jit(ppo.update, static_argnums=(2, 3))(state, batch_for(spec, state.policy), config, spec)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-6), safe.policy, plain.policy)
    assert not np.allclose(unsafe.policy["log_std"], safe.policy["log_std"], atol=1e-6)
