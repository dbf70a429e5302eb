"""The floor under the noise falls with the learning rates and undoes nothing above it."""

import jax.numpy as jnp
import numpy as np
import pytest

from cuprl.core.actions import Box
from cuprl.core.spec import Constraint, Spec
from cuprl.errors import UserError
from cuprl.learn.noise import with_noise
from cuprl.learn.policy import policy_for
from cuprl.learn.settings import Common, NoiseFloor

SPEC = Spec("x", 2, Box(3, (-1.0,) * 3, (1.0,) * 3), (Constraint("a", 1.0, 0.9),), 10)
POLICY = policy_for(SPEC, Common(hidden=(4,), init_log_std=0.0))


@pytest.mark.parametrize(("lr_scale", "floor"), [(1.0, 0.4), (0.5, 0.3), (0.0, 0.2)])
def test_the_floor_falls_from_its_first_value_to_its_last(lr_scale, floor):
    before, after = {"log_std": jnp.log(jnp.array([0.5, 0.25, 0.9]))}, {"log_std": jnp.log(jnp.array([0.1, 0.1, 0.8]))}
    kept = with_noise(POLICY, after, before, lr_scale, NoiseFloor(noise_floor=(0.4, 0.2)))
    # Noise that was below the floor before the step is not raised to it.
    np.testing.assert_allclose(np.exp(kept["log_std"]), [floor, min(0.25, floor), 0.8], rtol=1e-5)


def test_without_a_floor_nothing_is_undone():
    after = {"log_std": jnp.zeros(3)}
    assert with_noise(POLICY, after, None, 1.0, NoiseFloor()) is after


def test_a_floor_is_two_numbers():
    with pytest.raises(UserError, match=r"noise_floor is 0.3; give two numbers"):
        NoiseFloor(noise_floor=(0.3,))
