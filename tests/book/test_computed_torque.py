"""The labelled equations of the chapter on computed torque, each by an independent route."""

import numpy as np
import pytest
import sympy
from book_equations import equation
from numpy.testing import assert_allclose

from lagrangebook.control import Reference, computed_torque, feedforward
from lagrangebook.mass_matrix import coriolis, crba, gravity
from lagrangebook.mechanisms import two_link
from lagrangebook.newton_euler import rnea
from lagrangebook.simulate import simulate
from lagrangebook.standard_form import of_model

Kp, Kd = np.array([64.0, 100.0]), np.array([16.0, 20.0])
REFERENCE = Reference.quintic([0.0, 0.2], [1.0, -0.6], 1.3)


@pytest.fixture
def rng():
    return np.random.default_rng(13)


@equation("eq-computed_torque-law", r"\tau = M(q)\,(\ddot q_d + K_d\,\dot e + K_p\,e) + C(q,\dot q)\,\dot q + G(q) + F(\dot q)")
def test_the_law_written_out_is_the_one_call(rng):
    arm = of_model(two_link(), friction=lambda qd: 0.4 * qd)
    for q, qd in rng.normal(size=(10, 2, 2)):
        q_d, qd_d, qdd_d = REFERENCE(0.5)
        q = q_d + 0.3 * q
        M, C, G = crba(two_link(), q), coriolis(two_link(), q, qd), gravity(two_link(), q)
        printed = M @ (qdd_d + Kd * (qd_d - qd) + Kp * (q_d - q)) + C @ qd + G + 0.4 * qd
        assert_allclose(computed_torque(arm, REFERENCE, Kp, Kd)(0.5, q, qd), printed, rtol=1e-11)


@equation("eq-computed_torque-error", r"\ddot e + K_d\,\dot e + K_p\,e = 0")
def test_the_closed_loop_obeys_the_error_equation(rng):
    """By forward dynamics of the arm under the law."""
    arm = of_model(two_link())
    for q, qd in rng.normal(size=(10, 2, 2)):
        q_d, qd_d, qdd_d = REFERENCE(0.5)
        q = q_d + 0.3 * q
        qdd = arm.accelerations(q, qd, computed_torque(arm, REFERENCE, Kp, Kd)(0.5, q, qd))
        assert_allclose(qdd_d - qdd + Kd * (qd_d - qd) + Kp * (q_d - q), 0, atol=1e-10)


@equation("eq-computed_torque-decay", r"e(t) = e_0\,(1 + \omega t)\,e^{-\omega t}")
def test_the_decay_solves_the_critically_damped_oscillator():
    t, w, e0 = sympy.symbols("t omega e0", positive=True)
    e = e0 * (1 + w * t) * sympy.exp(-w * t)
    assert sympy.simplify(e.diff(t, 2) + 2 * w * e.diff(t) + w**2 * e) == 0
    assert e.subs(t, 0) == e0 and e.diff(t).subs(t, 0) == 0


@equation("eq-computed_torque-feedforward",
          r"\tau = M(q_d)\,\ddot q_d + C(q_d,\dot q_d)\,\dot q_d + G(q_d) + K_d\,\dot e + K_p\,e")
def test_feedforward_evaluates_the_model_at_the_reference(rng):
    arm = of_model(two_link())
    for q, qd in rng.normal(size=(10, 2, 2)):
        q_d, qd_d, qdd_d = REFERENCE(0.7)
        q = q_d + 0.3 * q
        M, C, G = crba(two_link(), q_d), coriolis(two_link(), q_d, qd_d), gravity(two_link(), q_d)
        printed = M @ qdd_d + C @ qd_d + G + Kd * (qd_d - qd) + Kp * (q_d - q)
        assert_allclose(feedforward(arm, REFERENCE, Kp, Kd)(0.7, q, qd), printed, rtol=1e-11)


@equation("eq-computed_torque-path", r"\tau = a(s)\,\ddot s + b(s)\,\dot s^2 + G(s)")
def test_torque_along_a_path_is_that_of_the_motion_differentiated(rng, eps=1e-4):
    def path(s):
        return np.array([np.sin(s), s**3 / 3])

    for s, sd, sdd in rng.uniform(0.3, 1.2, (10, 3)):
        q, first, second = path(s), np.array([np.cos(s), s**2]), np.array([-np.sin(s), 2 * s])
        a = crba(two_link(), q) @ first
        b = crba(two_link(), q) @ second + coriolis(two_link(), q, first) @ first
        at = lambda t, s=s, sd=sd, sdd=sdd: path(s + sd * t + sdd * t**2 / 2)
        qd, qdd = (at(eps) - at(-eps)) / (2 * eps), (at(eps) - 2 * at(0) + at(-eps)) / eps**2
        assert_allclose(a * sdd + b * sd**2 + gravity(two_link(), q), rnea(two_link(), q, qd, qdd), atol=1e-5)


@equation("eq-computed_torque-steady", r"e_\infty = (\hat M K_p)^{-1}\,(G - \hat G)")
def test_the_steady_error_is_the_error_of_gravity():
    """By simulation to rest, forearm five per cent too heavy in the controller."""
    goal, arm, believed = np.array([0.4, 0.5]), of_model(two_link()), two_link(m2=2.1)
    law = computed_torque(of_model(believed), lambda t: (goal, np.zeros(2), np.zeros(2)), Kp, Kd)
    q = simulate(arm, goal, np.zeros(2), np.linspace(0, 4, 401), tau=law).q[-1]
    expected = np.linalg.solve(crba(believed, q) @ np.diag(Kp), gravity(two_link(), q) - gravity(believed, q))
    assert np.abs(expected).max() > 1e-3
    assert_allclose(goal - q, expected, atol=1e-8)


@equation("eq-computed_torque-bound", r"""\dot\sigma = -\omega\,\sigma + \delta, \qquad \dot e = -\omega\,e + \sigma, \qquad
          |e| \le \frac{\max|\delta|}{\omega^2}""")
def test_a_bounded_disturbance_leaves_a_bounded_error(rng):
    """By integration under square waves of random length; a constant one comes up to the bound."""
    omega, top = 7.0, 3.0
    for hold in rng.uniform(0.05, 1.0, 6):
        e = ed = peak = 0.0
        for k in range(4000):
            delta = top * (1 if int(k * 0.001 / hold) % 2 else -1)
            ed += 0.001 * (delta - 2 * omega * ed - omega**2 * e)
            e += 0.001 * ed
            peak = max(peak, abs(e))
        assert 0.01 * top / omega**2 < peak <= 1.01 * top / omega**2
    t, e, delta = sympy.symbols("t", positive=True), sympy.Function("e"), sympy.Function("delta")
    sigma = e(t).diff(t) + omega * e(t)
    gap = sigma.diff(t) + omega * sigma - delta(t) - (e(t).diff(t, 2) + 2 * omega * e(t).diff(t) + omega**2 * e(t) - delta(t))
    assert sympy.simplify(gap) == 0
