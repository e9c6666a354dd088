"""The labelled equations of the chapter on the block system, each by an independent route."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from book_equations import equation

from lagrangebook.constraints import assemble, baumgarte, constrained_accelerations, delassus, project
from lagrangebook.forward import aba
from lagrangebook.mechanisms import five_bar
from lagrangebook.simulate import simulate
from lagrangebook.standard_form import of_model
from lagrangebook.tape.closed import compiled_closed
from reference import load

assert_allclose = partial(np.testing.assert_allclose, rtol=0)

FIVE = five_bar()
LOOP = FIVE.loops[0]


@pytest.fixture(params=range(5))
def state(request):
    """A closed five-bar in motion, with drive: q, q̇, τ, its form, J, γ."""
    rng = np.random.default_rng(request.param)
    q = assemble(LOOP, np.array([2.1, -1.5, 0.9, 1.6]) + rng.normal(0, 0.15, 4)).q
    J = LOOP.J(q)
    qd = (np.eye(4) - np.linalg.pinv(J) @ J) @ rng.normal(0, 2, 4)
    return q, qd, rng.normal(size=4), of_model(FIVE.model)(q, qd), J, LOOP.bias(q, qd)


def block(form, J, sign=-1):
    return np.block([[form.M, sign * J.T], [J, np.zeros((len(J), len(J)))]])


def opening(q, qd, qdd, eps=1e-4):
    """φ, φ̇, φ̈ by differences along q + q̇ t + q̈ t²/2."""
    phi = [LOOP.phi(q + t * qd + t**2 / 2 * qdd) for t in (-eps, 0, eps)]
    return phi[1], (phi[2] - phi[0]) / (2 * eps), (phi[2] - 2 * phi[1] + phi[0]) / eps**2


def of_free_bodies(q, qd, tau):
    """λ at the tips from four rods free in the plane (x, y, angle each) with five pins: ten rows on twelve coordinates."""
    L, m, angle, rate = (0.25, 0.3, 0.25, 0.3), (0.8, 0.6, 0.8, 0.6), q.copy(), qd.copy()
    angle[[1, 3]] += q[[0, 2]]
    rate[[1, 3]] += qd[[0, 2]]
    along = np.array([np.cos(angle), np.sin(angle)]).T
    pins = [(0, -1, None, 0), (1, -1, 0, 1), (2, -1, None, 0), (3, -1, 2, 1), (1, 1, 3, 1)]     # body, end, body, end
    J, gamma = np.zeros((10, 12)), np.zeros(10)
    for k, (a, end_a, b, end_b) in enumerate(pins):
        for sign, body, end in ((1, a, end_a), (-1, b, end_b)):
            if body is not None:
                r = end * L[body] / 2 * along[body]
                J[2 * k:2 * k + 2, 3 * body:3 * body + 3] = sign * np.array([[1, 0, -r[1]], [0, 1, r[0]]])
                gamma[2 * k:2 * k + 2] -= sign * rate[body]**2 * r
    M = np.diag(np.concatenate([[mass, mass, mass * length**2 / 12] for mass, length in zip(m, L)]))
    f = np.concatenate([[0, -mass * 9.81, 0] for mass in m])
    f[[2, 5, 8, 11]] = tau - np.array([tau[1], 0, tau[3], 0])       # a motor between two bodies turns both
    K = np.block([[M, -J.T], [J, np.zeros((10, 10))]])
    return np.linalg.solve(K, np.concatenate([f, -gamma]))[-2:]


@equation("eq-kkt-block", r"\begin{pmatrix} M & -J^T \\ J & 0 \end{pmatrix}"
          r"\begin{pmatrix} \ddot q \\ \lambda \end{pmatrix} = \begin{pmatrix} \tau - h \\ -\gamma \end{pmatrix}")
def test_with_the_force_at_the_cut_the_tree_moves_so_that_it_stays_closed(state):
    q, qd, tau, form, J, gamma = state
    x = np.linalg.solve(block(form, J), np.concatenate([tau - form.h, -gamma]))
    assert_allclose(aba(FIVE.model, q, qd, tau, LOOP.wrenches(q, x[4:])), x[:4], atol=1e-10 * np.max(abs(x)))
    assert_allclose(opening(q, qd, x[:4])[2], 0, atol=1e-4)


@equation("eq-kkt-det", r"\det\begin{pmatrix} M & -J^T \\ J & 0 \end{pmatrix} = \det M\,\det W")
def test_the_determinant_of_the_block_is_that_of_both_masses(state):
    *_, form, J, _ = state
    product = np.prod(np.linalg.eigvalsh(form.M)) * np.prod(np.linalg.eigvalsh(delassus(form.M, J)))
    assert_allclose(np.linalg.det(block(form, J)) / product, 1, atol=1e-10)
    assert np.sum(np.linalg.eigvalsh(block(form, J, 1)) < 0) == 2


@equation("eq-kkt-delassus", r"W = J\,M^{-1} J^T")
def test_a_unit_force_at_the_cut_opens_the_loop_by_a_column_of_W(state):
    q, qd, tau, form, J, _ = state
    free = aba(FIVE.model, q, qd, tau)
    pushed = [J @ (aba(FIVE.model, q, qd, tau, LOOP.wrenches(q, e)) - free) for e in np.eye(2)]
    assert_allclose(np.transpose(pushed), delassus(form.M, J), atol=1e-9)


@equation("eq-kkt-lambda", r"\lambda = -W^{-1}\left(J\,a_f + \gamma\right), \qquad \ddot q = a_f + M^{-1}J^T\lambda")
def test_lambda_is_the_pin_force_of_four_free_bodies(state):
    q, qd, tau, form, J, gamma = state
    a_f = aba(FIVE.model, q, qd, tau)
    lam = -np.linalg.inv(delassus(form.M, J)) @ (J @ a_f + gamma)
    assert_allclose(lam, of_free_bodies(q, qd, tau), atol=1e-10 * np.max(abs(lam)))
    qdd = constrained_accelerations(form, tau, J, gamma).qdd
    assert_allclose(qdd, a_f + np.linalg.inv(form.M) @ J.T @ lam, atol=1e-10 * np.max(abs(qdd)))


@equation("eq-kkt-nullspace", r"Z^T M Z\,y = Z^T\left(\tau - h + M J^{+}\gamma\right), \qquad \ddot q = -J^{+}\gamma + Z\,y")
def test_motors_alone_act_along_the_motions_that_the_loop_allows(state):
    from scipy.linalg import null_space, pinv
    q, qd, tau, form, J, gamma = state
    Z, back = null_space(J), pinv(J) @ gamma
    qdd = Z @ np.linalg.solve(Z.T @ form.M @ Z, Z.T @ (tau - form.h + form.M @ back)) - back
    lam = of_free_bodies(q, qd, tau)
    assert_allclose(aba(FIVE.model, q, qd, tau, LOOP.wrenches(q, lam)), qdd, atol=1e-9 * np.max(abs(qdd)))


@equation("eq-kkt-gauss", r"\ddot q = \operatorname*{arg\,min}_{J a + \gamma = 0}\; \tfrac12\,(a - a_f)^T M\,(a - a_f)")
def test_gauss_constraint_is_least(state):
    """Minimised numerically over the two components that the closure leaves free."""
    from scipy.optimize import minimize
    q, qd, tau, form, J, gamma = state
    a_f, qdd = aba(FIVE.model, q, qd, tau), constrained_accelerations(form, tau, J, gamma).qdd

    def allowed(free):
        held = np.linalg.solve(J[:, [1, 3]], -gamma - J[:, [0, 2]] @ free)
        return np.array([free[0], held[0], free[1], held[1]])

    found = minimize(lambda free: (allowed(free) - a_f) @ form.M @ (allowed(free) - a_f), [0, 0], tol=1e-14)
    assert_allclose(allowed(found.x), qdd, atol=1e-5 * (1 + np.max(abs(qdd))))


@equation("eq-kkt-drift", r"\varphi(t) = \varphi_0 + \dot\varphi_0\,t")
def test_without_a_cure_an_open_loop_opens_in_proportion_to_time():
    rng = np.random.default_rng(3)
    q, qd = np.array([2.1, -1.5, 0.9, 1.6]) + rng.normal(0, 1e-3, 4), rng.normal(0, 0.3, 4)
    run = simulate(replace(compiled_closed(FIVE.dynamics()), projected=False), q, qd, np.linspace(0, 0.1, 101))
    phi = np.array([LOOP.phi(each) for each in run.q])
    assert_allclose(phi, LOOP.phi(q) + run.t[:, None] * (LOOP.J(q) @ qd), atol=1e-9)


@equation("eq-kkt-baumgarte", r"\ddot\varphi + 2\alpha\,\dot\varphi + \alpha^2\,\varphi = 0")
def test_baumgarte_s_terms_make_the_opening_a_damped_oscillator(state):
    q, qd, tau, *_ = state
    q, qd, alpha = q + [0.01, -0.02, 0.01, 0.02], qd + [0.1, 0, -0.2, 0], 7.0
    form, gamma = of_model(FIVE.model)(q, qd), baumgarte(LOOP, q, qd, alpha)
    phi, rate, second = opening(q, qd, constrained_accelerations(form, tau, LOOP.J(q), gamma).qdd)
    assert_allclose(second + 2 * alpha * rate + alpha**2 * phi, 0, atol=1e-3)
    assert np.max(abs(second)) > 0.1


@equation("eq-kkt-decay", r"\varphi(t) = \left(\varphi_0 + (\dot\varphi_0 + \alpha\,\varphi_0)\,t\right) e^{-\alpha t}")
def test_the_violation_dies_out_without_swinging():
    from scipy.linalg import expm
    for phi, rate, alpha, t in np.random.default_rng(5).uniform(0.1, 3, (20, 4)):
        exact = (expm(t * np.array([[0, 1], [-alpha**2, -2 * alpha]])) @ [phi, rate])[0]
        assert_allclose((phi + (rate + alpha * phi) * t) * np.exp(-alpha * t), exact, atol=1e-12 * (phi + rate))


@equation("eq-kkt-project", r"q \leftarrow q - J^{+}\varphi(q), \qquad \dot q \leftarrow \dot q - J^{+} J\,\dot q")
def test_projection_goes_the_shortest_way(state):
    """No closed state of thirty around it is nearer; the velocity loses its part across the loop and nothing else."""
    q, qd, rng = state[0], state[1], np.random.default_rng(1)
    q, qd = q + rng.normal(0, 1e-4, 4), qd + rng.normal(size=4)
    placed, J = project(LOOP, q, qd), LOOP.J(q)
    assert_allclose(placed.q, q - np.linalg.pinv(J) @ LOOP.phi(q), atol=1e-6)
    around = [project(LOOP, placed.q + rng.normal(0, 1e-4, 4)).q for _ in range(30)]
    assert np.linalg.norm(placed.q - q) <= min(np.linalg.norm(other - q) for other in around) + 1e-7
    J = LOOP.J(placed.q)
    allowed = np.linalg.svd(J)[2][2:]
    assert_allclose(J @ placed.qd, 0, atol=1e-12)
    assert_allclose(allowed @ placed.qd, allowed @ qd, atol=1e-12)


@pytest.mark.parametrize("case", load("examples")["five_bar"]["cases"], ids=lambda case: case["name"])
def test_the_free_opening_and_the_force_of_the_published_states(case):
    q, qd = np.array(case["q"]), np.array(case["qd"])
    form, J, tau = of_model(FIVE.model)(q, qd), LOOP.J(q), FIVE.B @ case["tau_q1_q3"]
    free = J @ np.linalg.solve(form.M, tau - form.h) + LOOP.bias(q, qd)
    assert_allclose(free, case["free_relative_acceleration"], atol=1e-10)
    assert_allclose(delassus(form.M, J), case["Delassus_W"], atol=1e-10)
    assert_allclose(of_free_bodies(q, qd, tau), case["lambda_force_on_left_tip"], atol=1e-9)


def test_the_mass_of_a_force_alone_is_less_than_the_mass_of_a_motion_alone():
    """1/W₁₁ ≤ (W⁻¹)₁₁, equal where x and y do not couple: the two readings of 'the mass along x'."""
    for seed in range(5):
        q = np.array([2.1, -1.5, 0.9, 1.6]) + np.random.default_rng(seed).normal(0, 0.2, 4)
        W = delassus(of_model(FIVE.model)(q, np.zeros(4)).M, LOOP.J(q))
        assert 1 / W[0, 0] < np.linalg.inv(W)[0, 0]
        assert_allclose(np.linalg.inv(W)[0, 0], 1 / (W[0, 0] - W[0, 1]**2 / W[1, 1]), atol=1e-12)
