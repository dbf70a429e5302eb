"""TRPO: the method without costs; what it shares with the others is in tests/learn/test_trust_region.py."""

from algorithms.second_order import same, updated


def test_it_ignores_the_costs():
    _, _, quiet, _ = updated("trpo", excess=-1.0)
    _, _, loud, _ = updated("trpo", excess=50.0)
    assert same(quiet.policy, loud.policy)
