"""The small convex problems against their optimality conditions and against scipy, on thousands of random ones."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import minimize, nnls

from cuprl.algorithms import load
from cuprl.core.actions import Box
from cuprl.core.spec import Constraint, Spec
from cuprl.errors import UserError
from cuprl.learn.dual import INSIDE, REACHABLE, RECOVERY, SAFE, cpo_dual_many, cpo_dual_one, cpo_step, nearest, nearest_many

N, COUNT, DELTA = 6, 4000, 0.01


def problems(m, seed=0, count=COUNT):
    """H [count, n, n], g [count, n], A [count, m, n] and c [count, m] from far under the limits to far over them."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(count, N, N))
    H = root @ root.transpose(0, 2, 1) + 0.1 * np.eye(N)
    g = rng.normal(size=(count, N)) * 10.0 ** rng.uniform(-2, 1, size=(count, 1))
    A = rng.normal(size=(count, m, N)) * 10.0 ** rng.uniform(-2, 1, size=(count, m, 1))
    reach = np.sqrt(2 * DELTA * np.einsum("kin,knp,kip->ki", A, np.linalg.inv(H), A))
    middle = rng.choice([-1.7, -0.3, 0.8], size=(count, 1))
    return H, g, A, reach * (middle + rng.uniform(-0.7, 0.7, size=(count, m)))


def gram_of(H, g, A):
    G = np.concatenate((g[:, None], A), axis=1)
    natural = np.linalg.solve(H, G.transpose(0, 2, 1)).transpose(0, 2, 1)
    return natural, np.einsum("kin,kjn->kij", G, natural)


def in_float64(function, *arrays):
    with jax.enable_x64(True):
        return jax.tree.map(np.asarray, jax.jit(jax.vmap(function))(*map(jnp.asarray, arrays)))


def shortest(H, A, c):
    """The x of least x^T H x with c + A x <= 0, or None: least-distance programming by scipy's nnls (Lawson-Hanson)."""
    root = np.linalg.cholesky(H)  # x = root^-T y, so that x^T H x = |y|²
    G = -A @ np.linalg.inv(root).T  # G y >= c
    E = np.vstack((G.T, c))
    f = np.append(np.zeros(len(H)), 1.0)
    u, _ = nnls(E, f)
    residual = E @ u - f
    if np.linalg.norm(residual) < 1e-9:
        return None
    return np.linalg.inv(root).T @ (-residual[:-1] / residual[-1])


def step_of(solution, natural, k):
    return solution.along_reward[k] * natural[k, 0] - solution.along_costs[k] @ natural[k, 1:]


@pytest.mark.parametrize("m", [1, 2, 3])
def test_cpo_step_is_optimal_in_every_case(m):
    """The conditions of Karush, Kuhn and Tucker prove an optimum; scipy's nnls says where there is none to find."""
    H, g, A, c = problems(m, seed=m)
    natural, gram = gram_of(H, g, A)
    solution = in_float64(lambda G, c: cpo_step(G, c, DELTA), gram, c)
    assert all((solution.case == case).sum() > 200 for case in (RECOVERY, REACHABLE, SAFE, INSIDE))
    for k in range(COUNT):
        x, case, nu = step_of(solution, natural, k), solution.case[k], solution.nu[k]
        closest = shortest(H[k], A[k], c[k])
        reachable = closest is not None and closest @ H[k] @ closest / 2 <= DELTA
        size = np.abs(c[k]) + np.sqrt(2 * DELTA * np.diag(gram[k])[1:])
        if abs(closest @ H[k] @ closest / 2 - DELTA) < 1e-9:
            continue  # on the edge of a case either answer is right
        assert (case != RECOVERY) == reachable
        if case == RECOVERY:  # Eq. 14: straight towards the limits, to the edge of the trust region
            expected = closest * np.sqrt(2 * DELTA / (closest @ H[k] @ closest))
            np.testing.assert_allclose(x, expected, rtol=1e-5, atol=1e-7 * np.abs(expected).max())
            if m == 1:
                w = natural[k, 1]
                np.testing.assert_allclose(x, -np.sqrt(2 * DELTA / gram[k, 1, 1]) * w, rtol=1e-6)
            continue
        lam = 1.0 / solution.along_reward[k]
        value = c[k] + A[k] @ x
        assert lam > 0 and (nu >= 0).all()
        assert (value <= 1e-7 * size).all()  # the limits hold
        assert x @ H[k] @ x / 2 == pytest.approx(DELTA, rel=1e-6)  # lam > 0: the trust region is exhausted
        np.testing.assert_allclose(g[k] - nu @ A[k], lam * H[k] @ x, rtol=1e-6, atol=1e-7 * np.abs(g[k]).max())
        assert (np.abs(nu * value) <= 1e-6 * size * max(nu.max(), np.sqrt(gram[k, 0, 0]))).all()  # slack or multiplier is 0
        assert (case == REACHABLE) == (c[k] > 0).any()
        if case == INSIDE:
            assert (nu == 0).all()


@pytest.mark.parametrize("m", [1, 2, 3])
def test_cpo_step_against_slsqp(m):
    def solve(H, g, A, c, scale, widths):
        return minimize(
            lambda x: -(g @ x) / scale,
            shortest(H, A, c),
            jac=lambda x: -g / scale,
            method="SLSQP",
            constraints=[
                {"type": "ineq", "fun": lambda x: -(c + A @ x) / widths, "jac": lambda x: -A / widths[:, None]},
                {"type": "ineq", "fun": lambda x: 1 - x @ H @ x / (2 * DELTA), "jac": lambda x: -H @ x / DELTA},
            ],
            options={"ftol": 1e-12, "maxiter": 500},
        )

    H, g, A, c = problems(m, seed=10 + m, count=40)
    natural, gram = gram_of(H, g, A)
    solution = in_float64(lambda G, c: cpo_step(G, c, DELTA), gram, c)
    compared = 0
    for k in np.flatnonzero(solution.case != RECOVERY):
        scale = np.sqrt(gram[k, 0, 0] * 2 * DELTA)
        widths = np.sqrt(2 * DELTA * np.diag(gram[k])[1:])
        found = solve(H[k], g[k], A[k], c[k], scale, widths)
        if found.success:
            compared += 1
            np.testing.assert_allclose(g[k] @ step_of(solution, natural, k) / scale, -found.fun, atol=1e-5)
    assert compared >= 15


def test_closed_form_and_general_solver_agree_for_one_constraint():
    H, g, A, c = problems(1, seed=5)
    _, gram = gram_of(H, g, A)
    q, r, s, c = gram[:, 0, 0], gram[:, 0, 1], gram[:, 1, 1], c[:, 0]
    possible = (c <= 0) | (c**2 / s < 2 * DELTA)
    q, r, s, c = (x[possible] for x in (q, r, s, c))
    one = in_float64(lambda q, r, s, c: cpo_dual_one(q, r, s, c, DELTA), q, r, s, c)
    many = in_float64(lambda q, r, s, c: cpo_dual_many(q, r[None], s[None, None], c[None], DELTA), q, r, s, c)
    np.testing.assert_allclose(one.lam, many.lam, rtol=1e-6)
    np.testing.assert_allclose(one.nu, many.nu[:, 0], rtol=1e-6, atol=1e-6 * np.sqrt(q / s).max())
    assert (one.nu > 0).sum() > 200 and (one.nu == 0).sum() > 200
    near_one = in_float64(lambda s, c: nearest(s[None, None], c[None])[0], s, c)
    near_many = in_float64(lambda s, c: nearest_many(s[None, None], c[None])[0], s, c)
    np.testing.assert_allclose(near_one, near_many, rtol=1e-9)


@pytest.mark.parametrize("m", [1, 2, 3])
def test_nearest_is_the_projection_onto_the_constraints(m):
    H, _, A, d = problems(m, seed=20 + m)
    natural, gram = gram_of(H, A[:, 0], A)
    nu, exists = in_float64(nearest, gram[:, 1:, 1:], d)
    assert exists.all() and (nu > 0).any(axis=1).sum() > 500 and (nu == 0).all(axis=1).sum() > 100
    for k in range(COUNT):
        closest = shortest(H[k], A[k], d[k])
        np.testing.assert_allclose(-nu[k] @ natural[k, 1:], closest, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("m", [1, 2, 3])
def test_scaling_a_cost_changes_no_step(m):
    """Trap: a constraint value on another scale than its gradient. Both times 1000 must be the same problem."""
    H, g, A, c = problems(m, seed=30 + m, count=300)
    natural, gram = gram_of(H, g, A)
    natural2, gram2 = gram_of(H, g, 1000 * A)
    first = in_float64(lambda G, c: cpo_step(G, c, DELTA), gram, c)
    second = in_float64(lambda G, c: cpo_step(G, c, DELTA), gram2, 1000 * c)
    np.testing.assert_array_equal(first.case, second.case)
    for k in range(300):
        x = step_of(first, natural, k)
        np.testing.assert_allclose(x, step_of(second, natural2, k), rtol=1e-6, atol=1e-9 * np.abs(x).max())


@pytest.mark.parametrize("m", [1, 2, 3])
def test_in_float32_steps_stay_near_those_in_float64(m):
    H, g, A, c = problems(m, seed=40 + m)
    natural, gram = gram_of(H, g, A)
    exact = in_float64(lambda G, c: cpo_step(G, c, DELTA), gram, c)
    rough = jax.tree.map(
        np.asarray, jax.jit(jax.vmap(lambda G, c: cpo_step(G, c, DELTA)))(gram.astype(np.float32), c.astype(np.float32))
    )
    same = exact.case == rough.case
    assert same.mean() > 0.995
    for k in np.flatnonzero(same):
        apart = step_of(exact, natural, k) - step_of(rough, natural, k)
        assert apart @ H[k] @ apart <= 0.01 * 2 * DELTA or exact.case[k] != rough.case[k]


def step32(gram, c):
    return cpo_step(jnp.array(gram, jnp.float32), jnp.array(c, jnp.float32), DELTA)


def test_reward_along_the_cost_gives_the_step_back_to_the_limit_and_no_noise():
    """g = a: no part of g is off the constraint. The naive 1 / lam would blow rounding up to the trust region's edge."""
    step = step32([[1.0, 1.0], [1.0, 1.0]], [-0.05])
    assert step.case == SAFE
    assert float(step.along_reward - step.along_costs[0]) == pytest.approx(0.05, rel=1e-2)  # a^T x = 0.05
    assert float(step.along_reward) < 100


def test_equal_constraints_are_no_trouble():
    single = step32([[1.0, 0.5], [0.5, 1.0]], [-0.02])
    double = step32([[1.0, 0.5, 0.5], [0.5, 1.0, 1.0], [0.5, 1.0, 1.0]], [-0.02, -0.02])
    assert single.case == double.case == SAFE
    assert float(double.along_reward) == pytest.approx(float(single.along_reward), rel=1e-4)
    assert float(double.along_costs.sum()) == pytest.approx(float(single.along_costs[0]), rel=1e-3)


@pytest.mark.parametrize("apart", [1e-1, 1e-2, 1e-3, 1e-4])
def test_constraints_that_nearly_equal_one_another_give_the_same_step_in_float32(apart):
    """Their multipliers are hardly determined; the step is."""
    random = np.random.default_rng(0)
    A = random.normal(size=(COUNT, 1, 20)) + apart * random.normal(size=(COUNT, 3, 20))
    A = (A / np.linalg.norm(A, axis=2, keepdims=True)).astype(np.float32)
    d = (random.normal(size=(COUNT, 1)) + apart * random.normal(size=(COUNT, 3))).astype(np.float32)
    exact, _ = in_float64(nearest, A.astype(float) @ A.astype(float).transpose(0, 2, 1), d.astype(float))
    rough, exists = jax.jit(jax.vmap(nearest))(A @ A.transpose(0, 2, 1), d)
    assert exists.all()
    steps, others = (np.einsum("km,kmn->kn", nu, A) for nu in (exact, np.asarray(rough)))
    np.testing.assert_allclose(others, steps, atol=0.05 * np.abs(steps).max())


def test_constraints_that_exclude_one_another_go_down_both():
    """a x <= -0.1 and a x >= 0.1 with one direction a: no step keeps both."""
    gram = [[1.0, 0.0, 0.0], [0.0, 1.0, -1.0], [0.0, -1.0, 1.0]]
    step = step32(gram, [0.1, 0.1])
    assert step.case == RECOVERY and np.isfinite(step.along_costs).all() and step.along_reward == 0


@pytest.mark.parametrize("c, case", [(-1.0, INSIDE), (1.0, RECOVERY)])
def test_a_cost_that_no_parameter_moves(c, case):
    step = step32([[4.0, 0.0], [0.0, 0.0]], [c])
    assert step.case == case
    assert float(step.along_reward) == pytest.approx(np.sqrt(2 * DELTA / 4.0) if c < 0 else 0.0)
    assert step.along_costs[0] == 0


def test_no_reward_gradient_moves_only_for_the_limit():
    assert step32([[0.0, 0.0], [0.0, 1.0]], [-1.0]).along_costs[0] == 0
    back = step32([[0.0, 0.0], [0.0, 1.0]], [0.1])
    assert back.case == REACHABLE and float(back.along_costs[0]) == pytest.approx(0.1, rel=1e-3)


def test_too_many_constraints_are_refused_by_name():
    with pytest.raises(UserError, match="9 constraints, this algorithm takes at most 8"):
        nearest(jnp.eye(9), jnp.ones(9))
    nine = Spec("x", 2, Box(1, (-1.0,), (1.0,)), tuple(Constraint(f"c{i}", 1.0) for i in range(9)), 6)
    for algo in ("cpo", "pcpo"):
        module, config = load(algo)
        with pytest.raises(UserError, match="9 constraints"):  # before anything is collected
            module.init(jax.random.key(0), config, nine)
