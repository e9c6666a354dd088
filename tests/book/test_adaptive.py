"""The labelled equations of the chapter on adaptive control, each by an independent route."""

import numpy as np
import pytest
from book_equations import equation
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

from lagrangebook.control import slotine_li
from lagrangebook.mass_matrix import coriolis, crba, gravity
from lagrangebook.mechanisms import puma560, two_link
from lagrangebook.standard_form import of_model

ARM = two_link()
PI = np.concatenate([body.inertia.parameters for body in ARM.bodies])
LAMBDA, K, GAMMA = 3.0, np.array([8.0, 5.0]), np.linspace(0.1, 0.6, 20)


def task(t):
    x, xd = np.array([np.sin(t), np.cos(1.7 * t)]), np.array([np.cos(t), -1.7 * np.sin(1.7 * t)])
    return x, xd, np.array([-np.sin(t), -1.7**2 * np.cos(1.7 * t)])


def composite(t, q, qd):
    q_d, qd_d, qdd_d = task(t)
    ref, acc = qd_d + LAMBDA * (q_d - q), qdd_d + LAMBDA * (qd_d - qd)
    return ref - qd, ref, acc


@pytest.fixture
def rng():
    return np.random.default_rng(23)


def law_with(pi):
    return slotine_li(ARM, task, LAMBDA, K, GAMMA, pi)


def closed_loop(t, y):
    """(q, q̇, π̂) under the law, in continuous time."""
    q, qd, pi = y[:2], y[2:4], y[4:]
    law = law_with(pi)
    s, ref, acc = composite(t, q, qd)
    qdd = of_model(ARM).accelerations(q, qd, law(t, q, qd))
    return np.concatenate([qd, qdd, GAMMA * (law.Y(q, qd, ref, acc).T @ s)])


def storage(t, y):
    s = composite(t, y[:2], y[2:4])[0]
    return s @ crba(ARM, y[:2]) @ s / 2 + (y[4:] - PI) @ ((y[4:] - PI) / GAMMA) / 2


def states(rng):
    return [np.concatenate([0.6 * rng.normal(size=4), PI + 0.5 * rng.normal(size=20)]) for _ in range(8)]


@equation("eq-adaptive-s", r"\dot q_r = \dot q_d + \Lambda\,e, \qquad s = \dot q_r - \dot q = \dot e + \Lambda\,e")
def test_where_s_vanishes_the_error_decays_at_the_rate_lambda():
    """By integration of q̇ = q̇_r."""
    run = solve_ivp(lambda t, q: task(t)[1] + LAMBDA * (task(t)[0] - q), (0, 1.5), [0.9, 0.2], rtol=1e-10, atol=1e-12)
    assert_allclose(task(1.5)[0] - run.y[:, -1], (task(0)[0] - [0.9, 0.2]) * np.exp(-LAMBDA * 1.5), atol=1e-8)


@equation("eq-adaptive-law", r"""\tau = \hat M(q)\,\ddot q_r + \hat C(q, \dot q)\,\dot q_r + \hat G(q) + K s
          = Y(q, \dot q, \dot q_r, \ddot q_r)\,\hat\pi + K s""")
def test_the_law_by_the_matrices_of_the_believed_arm(rng):
    for model in (ARM, puma560()):
        n, pi = model.n, np.concatenate([body.inertia.parameters for body in model.bodies])
        for q, qd, q_d, qd_d, qdd_d in rng.normal(size=(5, 5, n)):
            law = slotine_li(model, lambda t: (q_d, qd_d, qdd_d), 2.0, np.full(n, 3.0), 0.1, pi)
            e, ed = (q_d - q + np.pi) % (2 * np.pi) - np.pi, qd_d - qd
            ref, acc = qd_d + 2 * e, qdd_d + 2 * ed
            expected = crba(model, q) @ acc + coriolis(model, q, qd) @ ref + gravity(model, q) + 3 * (ed + 2 * e)
            assert_allclose(law(0.0, q, qd), expected, atol=1e-9)


@equation("eq-adaptive-update", r"\dot{\hat\pi} = \Gamma\,Y^T s")
def test_the_estimate_moves_down_the_slope_of_the_power_that_beliefs_add(rng):
    """By a difference: the law's torque times s grows with a belief as Y says."""
    for y in states(rng):
        s, ref, acc = composite(0.4, y[:2], y[2:4])
        slope = np.array([s @ (law_with(y[4:] + 1e-4 * d)(0.4, y[:2], y[2:4]) - law_with(y[4:] - 1e-4 * d)(0.4, y[:2], y[2:4]))
                          for d in np.eye(20)]) / 2e-4
        law = law_with(y[4:])
        law(0.4, y[:2], y[2:4])
        law(0.4 + 1e-9, y[:2], y[2:4])
        assert_allclose((law.pi - y[4:]) / 1e-9, GAMMA * slope, rtol=1e-4, atol=1e-4)


@equation("eq-adaptive-error", r"M\,\dot s + C\,s + K\,s = -Y\,\tilde\pi")
def test_the_error_equation_by_forward_dynamics(rng):
    """ṡ = q̈_r − q̈ with q̈ from the arm under the law; with exact beliefs the right side vanishes."""
    for y in states(rng):
        q, qd = y[:2], y[2:4]
        s, ref, acc = composite(0.4, q, qd)
        Y = law_with(PI).Y(q, qd, ref, acc)
        s_dot = acc - closed_loop(0.4, y)[2:4]
        left = crba(ARM, q) @ s_dot + coriolis(ARM, q, qd) @ s + K * s
        assert_allclose(left, -Y @ (y[4:] - PI), atol=1e-8)


@equation("eq-adaptive-lyapunov", r"V = \tfrac12\,s^T M\,s + \tfrac12\,\tilde\pi^T \Gamma^{-1}\,\tilde\pi")
def test_the_storage_is_positive_and_bounds_the_error(rng):
    """By the smallest eigenvalue of M: ½ λ_min |s|² ≤ V for every belief, and V = 0 on the path with true beliefs."""
    for y in states(rng):
        s = composite(0.4, y[:2], y[2:4])[0]
        assert storage(0.4, y) >= np.linalg.eigvalsh(crba(ARM, y[:2]))[0] * (s @ s) / 2
    q_d, qd_d, _ = task(0.4)
    assert abs(storage(0.4, np.concatenate([q_d, qd_d, PI]))) < 1e-20


@equation("eq-adaptive-decrease", r"\dot V = -s^T K s")
def test_the_storage_falls_at_the_rate_of_the_damping(rng):
    """By central differences of V along the closed loop."""
    for y in states(rng):
        eps, rate = 1e-6, closed_loop(0.4, y)
        slope = (storage(0.4 + eps, y + eps * rate) - storage(0.4 - eps, y - eps * rate)) / (2 * eps)
        s = composite(0.4, y[:2], y[2:4])[0]
        assert_allclose(slope, -s @ (K * s), rtol=1e-5, atol=1e-6)


def test_a_known_rotor_is_part_of_the_law(rng):
    """By the closed loop: with true parameters and rotors, M ṡ + C s + K s = 0 for the geared arm."""
    model = puma560(rotors=True)
    pi = np.concatenate([body.inertia.parameters for body in model.bodies])
    for q, qd, q_d, qd_d, qdd_d in 0.3 * rng.normal(size=(5, 5, 6)):
        law = slotine_li(model, lambda t: (q_d, qd_d, qdd_d), 2.0, np.full(6, 3.0), 0.1, pi)
        s, acc = qd_d - qd + 2 * (q_d - q), qdd_d + 2 * (qd_d - qd)
        s_dot = acc - of_model(model).accelerations(q, qd, law(0.0, q, qd))
        assert_allclose(crba(model, q) @ s_dot + coriolis(model, q, qd) @ s + 3 * s, 0, atol=1e-9)
