"""Critics: their loss, and that none learns from another."""

from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from cuprl import algorithms
from cuprl.learn.critics import critic_loss, fit_critics, init_critics, values
from cuprl.learn.full_batch import fit_critics_full_batch
from cuprl.learn.minibatch import init_adam
from cuprl.learn.settings import Common
from cuprl.learn.types import State


def test_critic_loss_and_its_gradient():
    config = Common(hidden=(4,), critic_l2=0.01)
    (critic,) = init_critics(jax.random.PRNGKey(0), 2, config, 0)
    rng = np.random.default_rng(0)
    obs, target = jnp.array(rng.normal(size=(9, 2))), jnp.array(rng.normal(size=9))
    plain = float(((np.asarray(values([critic], obs, config))[:, 0] - np.asarray(target)) ** 2).mean()) + 0.01 * sum(
        float((np.asarray(leaf) ** 2).sum()) for leaf in jax.tree.leaves(critic)
    )
    assert critic_loss(critic, obs, target, config) == pytest.approx(plain, rel=1e-5)
    gradient = jax.grad(critic_loss)(critic, obs, target, config)["layers"]
    (weight, bias), last = critic["layers"]
    nudge = jnp.zeros_like(bias).at[1].set(1e-2)
    up, down = ({"layers": [(weight, bias + s * nudge), last]} for s in (1, -1))
    slope = (critic_loss(up, obs, target, config) - critic_loss(down, obs, target, config)) / 2e-2
    assert gradient[0][1][1] == pytest.approx(float(slope), rel=2e-2)


@pytest.mark.parametrize("algo", ["ppo", "trpo"])  # minibatches, the whole batch
def test_critics_are_fitted_apart_on_the_same_rows(algo):
    """Three critics fitted together are what each alone becomes from the same key."""
    module, preset = algorithms.find(algo)
    config = module.Config(**preset, hidden=(8,), minibatch=16, critic_epochs=3)
    rng = np.random.default_rng(1)
    obs, ret = (jnp.array(rng.normal(size=(50, k)), jnp.float32) for k in (4, 3))
    critics = init_critics(jax.random.PRNGKey(2), 4, config, 2)

    def fitted(critics: list, ret: jax.Array):
        state = State({}, critics, {}, init_adam(critics), {}, jax.random.PRNGKey(3))
        batch = SimpleNamespace(obs=obs, ret=ret, lr_scale=1.0)
        if algo == "trpo":
            return fit_critics_full_batch(state, batch, config)
        return fit_critics(state, batch, state.key, config)

    together, alone = fitted(critics, ret), [fitted([c], ret[:, [i]]) for i, c in enumerate(critics)]
    for i, one in enumerate(alone):
        np.testing.assert_allclose(ravel_pytree(together.params[i])[0], ravel_pytree(one.params[0])[0], rtol=1e-6)
        assert not np.allclose(ravel_pytree(critics[i])[0], ravel_pytree(one.params[0])[0], rtol=1e-3)
    np.testing.assert_allclose(together.opt_state.mu, np.concatenate([c.opt_state.mu for c in alone]), rtol=1e-5)
    assert together.opt_state.count == alone[0].opt_state.count > 0
