"""The exact quantities against samples, against their defining series, and against each other."""

import numpy as np
import pytest

from cuprl.theory import CMDP, evaluate, exact

LAMBDAS = (0.0, 0.5, 0.95, 1.0)


@pytest.fixture(scope="module")
def problem():
    """Three states, two actions, a reward that depends on the next state; (P, r, rho, gamma, pi)."""
    rng = np.random.default_rng(3)
    P = rng.dirichlet(np.ones(3), size=(3, 2))
    pi = np.array([[0.3, 0.7], [0.9, 0.1], [0.5, 0.5]])
    return P, rng.normal(size=(3, 2, 3)), np.array([0.6, 0.3, 0.1]), 0.8, pi


def walk(rng, P, pi, state):
    """One step of every walker: actions and next states."""
    action = (rng.random((len(state), 1)) > pi[state].cumsum(axis=1)).sum(axis=1)
    return action, (rng.random((len(state), 1)) > P[state, action].cumsum(axis=1)).sum(axis=1)


def agree(samples, truth):
    """The mean of the samples is within five standard errors of the truth."""
    error = samples.std(axis=0) / np.sqrt(len(samples))
    assert np.all(np.abs(samples.mean(axis=0) - truth) < 5 * error + 1e-12)


def test_return_and_visitation_agree_with_samples(problem):
    P, r, rho, gamma, pi = problem
    rng = np.random.default_rng(0)
    state = rng.choice(3, p=rho, size=40_000)
    total, visits = np.zeros(len(state)), np.zeros((len(state), 3))
    for t in range(80):  # 0.8^80 is below 2e-8
        action, following = walk(rng, P, pi, state)
        total += gamma**t * r[state, action, following]
        visits[np.arange(len(state)), state] += (1 - gamma) * gamma**t
        state = following
    agree(total, exact.objective(P, r, gamma, rho, pi))
    agree(visits, exact.visitation(P, gamma, rho, pi))


@pytest.mark.parametrize("lam", LAMBDAS)
def test_lambda_visitation_agrees_with_samples(problem, lam):
    """A step of P^(lambda) is 1 + K steps of P_pi, K geometric; d^lambda stops after a geometric number of those."""
    P, _, rho, gamma, pi = problem
    rng = np.random.default_rng(1)
    state = rng.choice(3, p=rho, size=40_000)
    going = rng.random(len(state)) < exact.gamma_tilde(gamma, lam)
    while going.any():
        _, following = walk(rng, P, pi, state)
        state = np.where(going, following, state)
        inside = rng.random(len(state)) < gamma * lam  # this step of P^(lambda) goes on
        going &= inside | (rng.random(len(state)) < exact.gamma_tilde(gamma, lam))
    agree(np.eye(3)[state], exact.lambda_visitation(P, gamma, lam, rho, pi))


@pytest.mark.parametrize("lam", LAMBDAS)
def test_gae_agrees_with_samples_for_a_wrong_value_estimate(problem, lam):
    P, r, _, gamma, pi = problem
    phi = np.array([1.0, -2.0, 0.5])
    rng = np.random.default_rng(2)
    state, action = np.full(40_000, 1), np.zeros(40_000, dtype=int)
    advantage = np.zeros(len(state))
    for l in range(80):
        if l:
            action, _ = walk(rng, P, pi, state)
        following = (rng.random((len(state), 1)) > P[state, action].cumsum(axis=1)).sum(axis=1)
        advantage += (gamma * lam) ** l * (r[state, action, following] + gamma * phi[following] - phi[state])
        state = following
    agree(advantage, exact.gae(P, r, gamma, lam, phi, pi)[1, 0])


@pytest.mark.parametrize("lam", LAMBDAS)
def test_gae_with_the_true_values_is_the_advantage(problem, lam):
    P, r, _, gamma, pi = problem
    V, Q = exact.state_values(P, r, gamma, pi), exact.action_values(P, r, gamma, pi)
    np.testing.assert_allclose(exact.gae(P, r, gamma, lam, V, pi), Q - V[:, None], atol=1e-12)
    np.testing.assert_allclose((pi * Q).sum(axis=1), V)


@pytest.mark.parametrize("lam", LAMBDAS)
def test_closed_forms_equal_their_series(problem, lam):
    P, r, rho, gamma, pi = problem
    P_pi = sum(pi[:, a, None] * P[:, a] for a in range(2))
    r_pi = np.array([sum(pi[s, a] * P[s, a, n] * r[s, a, n] for a in range(2) for n in range(3)) for s in range(3)])
    powers = [np.linalg.matrix_power(P_pi, t) for t in range(400)]
    g, gl = gamma * (1 - lam) / (1 - gamma * lam), gamma * lam
    P_lam = (1 - gl) * sum(gl**t * powers[t] @ P_pi for t in range(400))
    np.testing.assert_allclose(exact.lambda_transition(P, gamma, lam, pi), P_lam, atol=1e-12)
    R_lam = sum(gl**t * powers[t] @ r_pi for t in range(400))
    np.testing.assert_allclose(exact.lambda_reward(P, r, gamma, lam, pi), R_lam)
    d = (1 - g) * sum(g**t * rho @ np.linalg.matrix_power(P_lam, t) for t in range(400))
    np.testing.assert_allclose(exact.lambda_visitation(P, gamma, lam, rho, pi), d, atol=1e-12)
    np.testing.assert_allclose(d.sum(), 1)


def test_td_vectors_follow_their_definitions(problem):
    P, r, _, gamma, pi = problem
    ref = np.array([[0.5, 0.5], [0.2, 0.8], [1.0, 0.0]])
    phi = np.array([1.0, -2.0, 0.5])
    delta = r + gamma * phi - phi[:, None, None]
    for t in range(4):
        on, off = np.zeros(3), np.zeros(3)
        path_pi = np.linalg.matrix_power(np.einsum("sa,sap->sp", pi, P), t)
        path_ref = np.linalg.matrix_power(np.einsum("sa,sap->sp", ref, P), t)
        for start in range(3):
            for s in range(3):
                for a in range(2):
                    mean = P[s, a] @ delta[s, a]
                    on[start] += path_pi[start, s] * pi[s, a] * mean
                    off[start] += path_ref[start, s] * (pi[s, a] - ref[s, a]) * mean
        np.testing.assert_allclose(exact.td_vector(P, r, gamma, phi, pi, t), on)
        np.testing.assert_allclose(exact.delta_vector(P, r, gamma, phi, pi, ref, t), off, atol=1e-14)


def test_divergences():
    pi, ref = np.array([[0.5, 0.5], [1.0, 0.0]]), np.array([[0.25, 0.75], [0.5, 0.5]])
    np.testing.assert_allclose(exact.total_variation(pi, ref), [0.25, 0.5])
    np.testing.assert_allclose(exact.kl(pi, ref), [0.5 * np.log(2) + 0.5 * np.log(2 / 3), np.log(2)])
    assert exact.kl(ref, pi)[1] == np.inf
    assert exact.mean_kl(np.array([1.0, 0.0]), ref, pi) < np.inf  # a state never visited does not count


def test_functions_allow_a_batch_axis(problem):
    P, r, rho, gamma, pi = problem
    two = [np.stack([array, array]) for array in (P, rho, pi)]
    stacked = exact.lambda_visitation(two[0], np.array([gamma, 0.3]), 0.5, two[1], two[2])
    np.testing.assert_allclose(stacked[0], exact.lambda_visitation(P, gamma, 0.5, rho, pi))
    np.testing.assert_allclose(stacked[1], exact.lambda_visitation(P, 0.3, 0.5, rho, pi))
    values = exact.objective(np.stack([P, P]), np.stack([r, 2 * r]), np.array([gamma, gamma]), rho, pi)
    np.testing.assert_allclose(values[1], 2 * values[0])


def test_evaluate_gives_the_return_and_every_cost():
    stay = np.eye(2)[:, None].repeat(2, axis=1)
    cmdp = CMDP(stay, [[1, 0], [0, 0]], [[[0, 0], [0, 0]], [[2, 2], [0, 0]]], [1, 1], [0.5, 0.5], 0.5)
    value, costs = evaluate(cmdp, [[0.5, 0.5], [1, 0]])
    assert value == pytest.approx(0.5 * 0.5 * 2)
    np.testing.assert_allclose(costs, [0, 2])
