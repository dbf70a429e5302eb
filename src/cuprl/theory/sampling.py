"""Random problems with two policies each, in batches of equal size, for `cuprl.theory.study`."""

from __future__ import annotations

import numpy as np

from cuprl.theory.pair import Pair

SIZES = tuple((states, actions) for states in range(2, 9) for actions in range(2, 5))
DISCOUNTS = (0.5, 0.8, 0.9, 0.95, 0.99)
CONCENTRATIONS = (0.1, 0.3, 1.0)  # of Dirichlet draws: from nearly deterministic to uniform on the simplex
STEPS = (0.01, 0.1, 0.3, 1.0)  # how far pi goes from pi' towards an independent policy; 1 is all the way


def random_pairs(rng: np.random.Generator, count: int, states: int, actions: int) -> Pair:
    """Draw `count` independent problems of this size, near and far pairs of policies alike."""
    transition = _simplex(rng, count, (states, actions), states)
    old = _simplex(rng, count, (states,), actions)
    other = _simplex(rng, count, (states,), actions)
    step = rng.choice(STEPS, size=(count, 1, 1))
    reward, cost = rng.normal(size=(2, count, states, actions, 1))
    return Pair(
        P=transition,
        r=np.broadcast_to(reward, transition.shape),
        c=np.broadcast_to(np.abs(cost), transition.shape),
        rho=_simplex(rng, count, (), states),
        gamma=rng.choice(DISCOUNTS, size=count),
        pi=(1 - step) * old + step * other,
        ref=old,
        phi=rng.normal(size=(count, states)),
    )


def _simplex(rng: np.random.Generator, count: int, shape: tuple[int, ...], size: int) -> np.ndarray:
    """Distributions over `size` outcomes, shape [count, *shape, size], one concentration for each problem.

    A Dirichlet draw is normalised gamma variables; numpy's own takes one concentration only. The smallest weight
    keeps logarithms finite and every sum away from zero.
    """
    concentration = rng.choice(CONCENTRATIONS, size=count).reshape(count, *[1] * len(shape), 1)
    weights = rng.gamma(np.broadcast_to(concentration, (count, *shape, size))) + 1e-12
    return weights / weights.sum(axis=-1, keepdims=True)


def round_pairs(rng: np.random.Generator, count: int, states: int, actions: int, parts: int) -> Pair:
    """Draw `count` problems whose probabilities are multiples of 1/parts and whose rewards are -1, 0 or 1.

    With parts = 2 every number is a half; such problems can be checked with pencil and paper.
    """

    def simplex(shape: tuple[int, ...], size: int) -> np.ndarray:
        leaning = rng.gamma(0.3, size=(count, *shape, size)) + 1e-12  # most outcomes 0, as hand-made examples have
        return rng.multinomial(parts, leaning / leaning.sum(axis=-1, keepdims=True)) / parts

    shape = (count, states, actions, states)
    return Pair(
        P=simplex((states, actions), states),
        r=np.broadcast_to(rng.integers(-1, 2, size=(count, states, actions, 1)).astype(float), shape),
        c=np.broadcast_to(rng.integers(0, 2, size=(count, states, actions, 1)).astype(float), shape),
        rho=simplex((), states),
        gamma=rng.choice((0.5,) if parts == 2 else (0.5, 0.9), size=count),
        pi=simplex((states,), actions),
        ref=simplex((states,), actions),
        phi=rng.integers(-1, 2, size=(count, states)).astype(float),
    )
