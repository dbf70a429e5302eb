"""Agents of each kind of action, to export and to load; and files that are wrong."""

import io

import numpy as np

import cuprl

COST = (cuprl.Constraint("cost", 1.0),)
SPECS = {
    "gaussian": cuprl.Spec("arm", 5, cuprl.Box(2, (-1.0, -np.inf), (1.0, 0.5)), COST, 100),
    "categorical": cuprl.Spec("lift", 5, cuprl.Discrete(4), COST, 100),
    "multi": cuprl.Spec("desk", 5, cuprl.MultiDiscrete((3, 2, 4)), COST, 100),
}


def agent_with(spec, hidden=(16, 16), normalise=True, **settings):
    """One that has seen observations far from 0, one of them constant: there the normaliser scales by 10 000."""
    agent = cuprl.Agent(spec, seed=1, steps=5000, hidden=hidden, normalise=normalise, **settings)
    obs = np.random.default_rng(0).normal((0, 3, -50, 0.1, 800), (1, 0.1, 5, 0, 100), size=(1000, 5))
    agent.learner.normaliser = agent.learner.normaliser.update(obs)
    return agent, obs[:200]


def archive(**contents):
    file = io.BytesIO()
    np.savez(file, **contents)
    return file.getvalue()


def broken_arrays(arrays, name, value):
    broken = {**arrays, name: arrays[name].copy()}
    broken[name].flat[0] = value
    return broken
