"""The labelled equations of the chapter on impedance and force, each by an independent route."""

import numpy as np
import pytest
from book_equations import equation
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.linalg import expm

from lagrangebook.control import hybrid, impedance
from lagrangebook.kinematics import point, point_jacobian, potential_energy
from lagrangebook.mass_matrix import crba
from lagrangebook.mechanisms import two_link
from lagrangebook.simulate import simulate
from lagrangebook.standard_form import of_model

ARM, TIP = two_link(), np.array([0.4, 0, 0])
K, D = np.diag([400.0, 250.0, 0]), np.diag([60.0, 45.0, 0])


@pytest.fixture
def rng():
    return np.random.default_rng(19)


def numeric_gradient(f, q, eps=1e-6):
    return np.array([(f(q + eps * e) - f(q - eps * e)) / (2 * eps) for e in np.eye(len(q))])


@equation("eq-impedance-law", r"\tau = G(q) + J^T\left[K\,(x_d - x) - D\,\dot x\right]")
def test_the_law_is_the_gradient_of_gravity_less_that_of_a_spring_and_a_damper(rng):
    """By differences of energy: τ = ∂U/∂q − ∂/∂q ½ (x_d − x)ᵀK(x_d − x) − Jᵀ D ẋ, ẋ by a difference along q̇."""
    x_d = np.array([0.5, 0.3, 0])
    law = impedance(ARM, "forearm", TIP, x_d, K, D)
    for q, qd in rng.normal(size=(10, 2, 2)):
        def stored(x):
            e = x_d - point(ARM, x, 1, TIP)
            return e @ K @ e / 2
        eps = 1e-6
        xd = (point(ARM, q + eps * qd, 1, TIP) - point(ARM, q - eps * qd, 1, TIP)) / (2 * eps)
        drag = numeric_gradient(lambda x: point(ARM, x, 1, TIP) @ D @ xd, q)
        expected = numeric_gradient(lambda x: potential_energy(ARM, x) - stored(x), q) - drag
        assert_allclose(law(0.0, q, qd), expected, atol=1e-6)


@equation("eq-impedance-static", r"x = x_d + K^{-1} f")
def test_a_constant_push_moves_the_tip_as_a_spring_says():
    q0, f = np.array([0.3, 1.2]), np.array([5.0, 7.0, 0])
    x_d = point(ARM, q0, 1, TIP)
    law = impedance(ARM, 1, TIP, x_d, K, D)
    run = simulate(of_model(ARM), q0, [0, 0], np.linspace(0, 1.2, 241),
                   tau=lambda t, q, qd: law(t, q, qd) + point_jacobian(ARM, q, 1, TIP).T @ f)
    assert_allclose(point(ARM, run.q[-1], 1, TIP)[:2], x_d[:2] + np.linalg.solve(K[:2, :2], f[:2]), atol=2e-4)


@equation("eq-impedance-lambda", r"\Lambda = (J M^{-1} J^T)^{-1}")
def test_the_mass_at_the_tip_is_what_a_blow_finds_there(rng):
    """By an impulse at the tip: the velocity it leaves is p/Λ, and its energy ½ pᵀΛ⁻¹p."""
    for q in rng.normal(size=(10, 2)):
        J, M, p = point_jacobian(ARM, q, 1, TIP)[:2], crba(ARM, q), rng.normal(size=2)
        qd = np.linalg.solve(M, J.T @ p)
        Lambda = np.linalg.inv(J @ np.linalg.inv(M) @ J.T)
        assert_allclose(Lambda @ (J @ qd), p, rtol=1e-7, atol=1e-9)
        assert_allclose(qd @ M @ qd, (J @ qd) @ Lambda @ (J @ qd), rtol=1e-7)


@equation("eq-impedance-series", r"f = \frac{k\,k_w}{k + k_w}\,\delta")
def test_two_springs_in_series_share_the_distance(rng):
    """By balance: the place x where k (δ − x) = k_w x."""
    for k, k_w, delta in rng.uniform(0.1, 5, (10, 3)):
        x = np.linalg.solve([[k + k_w]], [k * delta])[0]
        assert_allclose(k_w * x, k * k_w / (k + k_w) * delta, rtol=1e-12)
        assert_allclose(k * (delta - x), k * k_w / (k + k_w) * delta, rtol=1e-10)


@equation("eq-impedance-hybrid", r"\tau = G + J^T\left[P\left(K(x_d - x) - D\,\dot x\right) + f_d\,n\right]")
def test_hybrid_control_is_an_impedance_without_stiffness_across_the_wall(rng):
    """By the impedance law with matrices P K, P D, and the work of the force on a displacement along n."""
    x_d, n = np.array([0.5, 0.3, 0]), np.array([0.6, 0.8, 0])
    P, stiff = np.eye(3) - np.outer(n, n), 300.0 * np.eye(3)
    law, soft = hybrid(ARM, 1, TIP, n, 12.0, x_d, stiff, D), impedance(ARM, 1, TIP, x_d, P @ stiff, P @ D)
    for q, qd in rng.normal(size=(10, 2, 2)):
        pressing = numeric_gradient(lambda x: 12.0 * n @ point(ARM, x, 1, TIP), q)
        assert_allclose(law(0.0, q, qd), soft(0.0, q, qd) + pressing, atol=1e-6)


def step_of(k_f, T, m, d, k_w):
    A, b = np.array([[0, 1], [-k_w / m, -d / m]]), np.array([0, 1 / m])
    Phi = expm(A * T)
    return Phi - k_f * k_w * np.outer(np.linalg.solve(A, (Phi - np.eye(2)) @ b), [1, 0])


@equation("eq-impedance-force-loop", r"f = f_d + k_f\,(f_d - f_m)")
def test_the_force_loop_shrinks_a_steady_error_by_its_gain_plus_one(rng):
    """By balance: a disturbance c adds to the actuator's force; f_m = f + c."""
    for f_d, k_f, c in rng.uniform(0.5, 5, (10, 3)):
        f_m = np.linalg.solve([[1.0, k_f], [-1.0, 1.0]], [f_d + k_f * f_d, c])[1]
        assert_allclose(f_m - f_d, c / (1 + k_f), rtol=1e-9)


@equation("eq-impedance-sampled", r"""\begin{bmatrix} x \\ \dot x \end{bmatrix}_{j+1} = \left(\Phi - k_f\,k_w\,\Gamma\,[1\;\;0]\right)
          \begin{bmatrix} x \\ \dot x \end{bmatrix}_j, \qquad \Phi = e^{A T}, \quad \Gamma = \int_0^T e^{A s} b\,ds""")
def test_one_sample_of_the_loop_by_integration():
    m, d, k_w, k_f, T = 1.2, 30.0, 2e4, 2.2, 0.001
    for state in np.eye(2):
        held = -k_f * k_w * state[0]
        run = solve_ivp(lambda t, y: [y[1], (held - k_w * y[0] - d * y[1]) / m], (0, T), state, rtol=1e-11, atol=1e-13)
        assert_allclose(step_of(k_f, T, m, d, k_w) @ state, run.y[:, -1], rtol=1e-8, atol=1e-10)


@equation("eq-impedance-limit", r"d - \tfrac12\,k_f\,k_w\,T > 0")
def test_the_damping_that_the_delay_eats_is_the_limit_of_short_samples():
    """By eigenvalues: at the limit the spectral radius is one up to second order in T; below and above it is not."""
    m, d, k_w = 1.2, 30.0, 2e4
    for T in (1e-4, 2e-4):
        k_f = 2 * d / (k_w * T)
        radius = [np.abs(np.linalg.eigvals(step_of(f * k_f, T, m, d, k_w))).max() for f in (0.9, 1.0, 1.1)]
        assert radius[0] < 1 < radius[2] and abs(radius[1] - 1) < 0.1 * (radius[2] - radius[0])
