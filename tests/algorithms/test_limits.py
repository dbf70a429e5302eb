"""Limits are data: one compiled update serves all of them."""

from dataclasses import replace

import jax
import pytest

from algorithms.plain_policies import batch_for, spec_for
from cuprl import algorithms


@pytest.mark.parametrize("name", ["cup", "cup-paper", "focops", "ppo-lag", "trpo-lag", "cpo", "pcpo"])
def test_an_update_is_the_same_program_whatever_the_limits(name):
    module, config = algorithms.load(name, {"hidden": (8,), "minibatch": 16})
    spec = spec_for("gaussian")
    other = replace(spec, constraints=tuple(replace(c, limit=c.limit + 7.0) for c in spec.constraints))
    state = module.init(jax.random.PRNGKey(0), config, spec)
    batch = batch_for(spec, state.policy)
    lower = jax.jit(module.update, static_argnums=(2, 3)).lower
    assert lower(state, batch, config, spec).as_text() == lower(state, batch, config, other).as_text()
