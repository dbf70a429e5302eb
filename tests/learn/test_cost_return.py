"""J^C: from the episodes that ended, from the unfinished, and from single steps, against plain sums."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest

from cuprl.core.actions import Box
from cuprl.core.episodes import Episodes, Running, split_episodes
from cuprl.core.spec import Constraint, Spec
from cuprl.learn.cost_return import EpisodeCosts, cost_from_steps, cost_return
from cuprl.learn.settings import Common
from cuprl.learn.visits import visits

DISCOUNTS = (0.9, 1.0)
SPEC = Spec("x", 2, Box(1, (-1.0,), (1.0,)), tuple(Constraint(f"c{d}", 1.0, d) for d in DISCOUNTS), 6)
ENDED = Episodes(np.array([[9.0, 4.0, 10.0], [9.0, 8.0, 30.0]]), np.array([[2.0, 10.0], [3.0, 30.0]]), np.array([6, 6]))
RUNNING = Running(np.array([[0.0, 5.0, 6.0]]), np.array([[1.5, 6.0]]), np.array([2]))  # one environment, two steps in


def measured(counted, config):
    """For a rollout of three steps of one environment, within one episode; the critics say 7 and 70 of its last state."""
    costs = EpisodeCosts.of(counted, RUNNING, np.array([1]), SPEC, config)
    zeros, done = jnp.zeros((3, 1, 2)), jnp.zeros((3, 1))
    next_value = zeros.at[-1].set(jnp.array([7.0, 70.0]))
    return cost_return(costs, zeros, zeros, next_value, done, visits(costs.first_step, done, SPEC, config), config, SPEC)


@pytest.mark.parametrize(
    "kind, ended, unfinished",
    [
        ("discounted", [2.5, 20.0], [1.5 + 0.9**2 * (1 - 0.9**4) * 7, 6.0 + 4 * 0.01 * 70.0]),
        ("undiscounted", [6.0, 20.0], [5.0 + 4 * 0.1 * 7.0, 6.0 + 4 * 0.01 * 70.0]),
    ],
)
def test_the_mean_of_the_ended_episodes_or_what_the_unfinished_will_have_cost(kind, ended, unfinished):
    """Four steps are left; the critics, discounted by 0.9 and 0.99 without an end, see 10 and 100."""
    config = Common(cost_return=kind)
    np.testing.assert_allclose(measured(ENDED, config), ended, rtol=1e-6)
    np.testing.assert_allclose(measured(Episodes.none(2), config), unfinished, rtol=1e-6)


def test_a_cost_that_is_not_a_number_does_not_pass_for_no_episode():
    broken = ENDED._replace(discounted=np.array([[np.nan, 10.0], [3.0, 30.0]]))
    np.testing.assert_array_equal(measured(broken, Common()), [np.nan, 20.0])


def test_from_steps_only_where_an_episode_began():
    """None begins in the rollout: how many it holds is not known, and the episodes are asked."""
    np.testing.assert_allclose(measured(ENDED, Common(cost_estimate="steps")), [2.5, 20.0])


@pytest.mark.parametrize("shift", [0, 2])
def test_cost_from_steps_is_the_mean_of_whole_episodes_whatever_the_critic(shift):
    """Two environments, episodes of six steps; with shift 2 a batch has the end of one and the start of the next."""
    rng = np.random.default_rng(0)
    cost = rng.normal(size=(6, 2, 2))  # by the step in the episode, alike in all episodes
    value = rng.normal(size=(7, 2, 2))  # of the state at that step
    order = (np.arange(6) + shift) % 6
    done = np.broadcast_to((order == 5)[:, None], (6, 2)).astype(float)
    seen = visits(jnp.full(2, shift), jnp.array(done), SPEC, Common(cost_weights="discounted"))
    found = cost_from_steps(cost[order], value[order], value[order + 1], done, seen, jnp.array(DISCOUNTS))
    expected = [(cost[..., i] * d ** np.arange(6)[:, None]).sum(axis=0).mean() for i, d in enumerate(DISCOUNTS)]
    np.testing.assert_allclose(found, expected, rtol=1e-4)


@pytest.mark.parametrize("time_limits", ["bootstrap", "terminal"])
@pytest.mark.parametrize("estimate", ["episodes", "steps"])
@pytest.mark.parametrize("rows", [2, 3, 4, 6, 8, 9])
def test_every_batch_is_right_however_it_cuts_its_episodes(rows, estimate, time_limits):
    """Robots in lockstep pay 1 a step, their critics are right; limits discounted by 0.9 and for the plain sum."""
    config = Common(gamma=0.99, cost_estimate=estimate, time_limits=time_limits)
    left = 6 - np.arange(7)
    critic = np.stack(
        [(1 - g ** (left if time_limits == "terminal" else np.inf)) / (1 - g) * np.ones(7) for g in (0.9, 0.99)], -1
    )
    running, true = Running.start(2, 2), [(1 - 0.9**6) / 0.1, 6.0]
    for _ in range(6):
        first = running.length
        step = (first + np.arange(rows)[:, None]) % 6  # [T, N]
        done, signal = step == 5, np.ones((rows, 2, 3))
        ended, running = split_episodes(running, signal, done, np.array(DISCOUNTS))
        costs = EpisodeCosts.of(ended, running, first, SPEC, config)
        value, next_value = (jnp.array(critic[t]) for t in (step, step + 1))
        seen = visits(jnp.array(first), jnp.array(done, float), SPEC, config)
        found = cost_return(costs, signal[..., 1:], value, next_value, jnp.array(done, float), seen, config, SPEC)
        np.testing.assert_allclose(found, true, rtol=1e-4)


def test_a_critic_is_taken_at_its_word_where_episodes_end_by_chance():
    """How many steps are left is not known there; 1.5 + 0.9² 7 and 6 + 70."""
    spec = replace(SPEC, ends_by_chance=True)
    costs = EpisodeCosts.of(Episodes.none(2), RUNNING, np.array([1]), spec, Common())
    np.testing.assert_allclose(costs.so_far + costs.rest * np.array([7.0, 70.0]), [[7.17, 76.0]])
