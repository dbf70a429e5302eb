"""J^C: from the episodes that ended, from the unfinished, and from single steps, against plain sums."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest

from cuprl.core.actions import Box
from cuprl.core.episodes import Episodes, Running
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
        ("discounted", [2.5, 20.0], [1.5 + 0.9**2 * 7, 6.0 + 4 * 0.01 * 70.0]),
        ("undiscounted", [6.0, 20.0], [5.0 + 4 * 0.1 * 7.0, 6.0 + 4 * 0.01 * 70.0]),
    ],
)
def test_the_mean_of_the_ended_episodes_or_what_the_unfinished_will_have_cost(kind, ended, unfinished):
    """A plain sum has four steps left; its critics, discounted by 0.9 and 0.99 without an end, see 10 and 100."""
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


@pytest.mark.parametrize("limits", ["bootstrap", "terminal"])
@pytest.mark.parametrize("first", [0, 2, 3])
def test_a_plain_sum_is_whole_where_a_rollout_is_shorter_than_an_episode(limits, first):
    """Robots in lockstep that pay 1 a step, and critics that are right: 6 an episode, whichever half of it a batch holds."""
    config = Common(cost_estimate="steps", time_limits=limits)
    step = first + np.arange(3)
    critic = [(1 - g ** (6 - np.arange(8)).clip(0) * (limits == "terminal")) / (1 - g) for g in (0.9, 0.99)]
    value, next_value = (jnp.array(np.stack([v[t] for v in critic], axis=-1)[:, None]) for t in (step, step + 1))
    running = Running(np.zeros((1, 3)) + step[-1] + 1.0, np.zeros((1, 2)), np.array([step[-1] + 1]))
    spec = replace(SPEC, constraints=tuple(replace(c, discount=1.0) for c in SPEC.constraints))
    config = replace(config, gamma=0.99)
    costs = EpisodeCosts.of(Episodes.none(2), running, np.array([first]), spec, config)
    done, cost = jnp.zeros((3, 1)), jnp.ones((3, 1, 2))
    value, next_value = value[..., 1:].repeat(2, axis=-1), next_value[..., 1:].repeat(2, axis=-1)
    found = cost_return(costs._replace(so_far=running.total[:, 1:]), cost, value, next_value, done,
                        visits(costs.first_step, done, spec, config), config, spec)  # fmt: skip
    np.testing.assert_allclose(found, [6.0, 6.0], rtol=1e-4)
