"""The search finds counterexamples to what is false, and none to what is true."""

import numpy as np
import pytest

from cuprl.theory import STATEMENTS, describe, find_counterexample
from cuprl.theory.registry import holds


@pytest.mark.parametrize("name", ["theorem-1", "lemma", "proposition-1", "proposition-2", "proposition-3-cost"])
def test_a_counterexample_is_small_round_and_real(name):
    example = find_counterexample(name)
    assert not holds(STATEMENTS[name].sides(example.pair))
    assert example.pair.ref.size <= 4
    numbers = np.concatenate([example.pair.P.ravel(), example.pair.pi.ravel(), example.pair.ref.ravel()])
    np.testing.assert_allclose(10 * numbers, np.round(10 * numbers), atol=1e-9)
    text = describe(example)
    assert f"{name} (" in text.splitlines()[0]
    assert "which is false by" in text
    assert max(len(line) for line in text.splitlines()) <= 100


@pytest.mark.parametrize("name", ["proposition-1", "proposition-2", "proposition-3-return"])
def test_propositions_fail_even_at_lambda_0(name):
    assert find_counterexample(name, lambdas=(0.0,)) is not None


def test_no_counterexample_to_what_is_true():
    assert find_counterexample("return-corrected") is None
    assert find_counterexample("lemma-corrected") is None
