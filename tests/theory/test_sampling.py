"""Random problems are proper ones."""

import numpy as np
import pytest

from cuprl.theory.sampling import SIZES, random_pairs, round_pairs


@pytest.mark.parametrize("kind", ["random", "round"])
def test_samples_are_proper_problems(kind):
    rng = np.random.default_rng(0)
    x = random_pairs(rng, 40, 4, 3) if kind == "random" else round_pairs(rng, 40, 4, 3, parts=10)
    for distribution in (x.P, x.rho, x.pi, x.ref):
        assert (distribution >= 0).all()
        np.testing.assert_allclose(distribution.sum(axis=-1), 1)
    assert ((x.gamma >= 0) & (x.gamma < 1)).all()
    assert (SIZES[0], SIZES[-1]) == ((2, 2), (8, 4))
