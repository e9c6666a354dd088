"""The labelled equations of the chapter on the standard form, each by an independent route."""

import numpy as np
import pytest
from book_equations import equation
from numpy.testing import assert_allclose

from lagrangebook.kinematics import kinetic_energy
from lagrangebook.mass_matrix import crba, gravity
from lagrangebook.mechanisms import two_link
from lagrangebook.newton_euler import rnea
from lagrangebook.standard_form import mass_rate, of_model, passivity_defect, skew_defect
from random_models import random_state, random_tree


@pytest.fixture
def rng():
    return np.random.default_rng(12)


@equation("eq-mcgf-form", r"M(q)\,\ddot q + C(q,\dot q)\,\dot q + G(q) + F(\dot q) = \tau")
def test_the_four_terms_are_those_of_the_recursion(rng):
    arm = of_model(two_link(), friction=lambda qd: 0.4 * qd)
    for q, qd, qdd in rng.normal(size=(10, 3, 2)):
        assert_allclose(arm(q, qd).forces(qdd), rnea(two_link(), q, qd, qdd) + 0.4 * qd, rtol=1e-12)


@equation("eq-mcgf-energy", r"K = \tfrac12\, \dot q^T M(q)\,\dot q")
def test_the_quadratic_form_is_the_sum_over_bodies(rng):
    model = random_tree(rng, 6)
    q, qd, _ = random_state(model, rng)
    assert_allclose(qd @ crba(model, q) @ qd / 2, kinetic_energy(model, q, qd), rtol=1e-12)


@equation("eq-mcgf-two", r"""C = \begin{bmatrix} -h\,\dot q_2 & -h\,(\dot q_1 + \dot q_2) \\ h\,\dot q_1 & 0 \end{bmatrix}, \qquad
    C' = \begin{bmatrix} -2h\,\dot q_2 & -h\,\dot q_2 \\ h\,\dot q_1 & 0 \end{bmatrix}""")
def test_both_factors_give_the_velocity_terms_of_the_energy(rng, eps=1e-6):
    """V = Ṁ q̇ − ½ ∂(q̇ᵀMq̇)/∂q by differences."""
    for q, qd in rng.normal(size=(10, 2, 2)):
        h = 2.0 * 0.5 * 0.2 * np.sin(q[1])
        slope = [(kinetic_energy(two_link(), q + eps * e, qd) - kinetic_energy(two_link(), q - eps * e, qd)) / (2 * eps) for e in np.eye(2)]
        V = mass_rate(of_model(two_link()), q, qd) @ qd - slope
        for C in ([[-h * qd[1], -h * (qd[0] + qd[1])], [h * qd[0], 0]], [[-2 * h * qd[1], -h * qd[1]], [h * qd[0], 0]]):
            assert_allclose(np.array(C) @ qd, V, atol=1e-7)


@equation("eq-mcgf-skew", r"\dot M - 2C = -(\dot M - 2C)^T")
@equation("eq-mcgf-passive", r"\dot q^T (\dot M - 2C)\,\dot q = 0")
def test_the_recursions_C_is_skew_with_the_differentiated_mass_matrix(rng):
    model = random_tree(rng, 6)
    q, qd, _ = random_state(model, rng)
    assert_allclose(skew_defect(of_model(model), q, qd), 0, atol=1e-6)
    assert abs(passivity_defect(of_model(model), q, qd)) < 1e-6


@equation("eq-mcgf-path", r"M\ddot q + C\dot q \;\longrightarrow\; k^2\,(M\ddot q + C\dot q)")
def test_a_path_run_faster_needs_the_square(rng):
    """The path itself, differentiated at two speeds."""
    def path(s):
        return np.array([np.sin(s), s**2 / 2])

    def torque(k, s=0.7, eps=1e-4):
        at = lambda t: path(s + k * t)
        qd, qdd = (at(eps) - at(-eps)) / (2 * eps), (at(eps) - 2 * at(0) + at(-eps)) / eps**2
        return rnea(two_link(), at(0), qd, qdd) - gravity(two_link(), at(0))

    assert_allclose(torque(3.0), 9 * torque(1.0), rtol=1e-5)


@equation("eq-mcgf-lyapunov", r"E = \tfrac12\,\dot q^T M \dot q + \tfrac12\, e^T K_p\, e")
@equation("eq-mcgf-decrease", r"\dot E = -\dot q^T (K_d\,\dot q + F)")
def test_the_function_of_the_proof_falls_at_the_stated_rate(rng, eps=1e-6):
    Kp, Kd = np.array([60.0, 30.0]), np.array([14.0, 3.0])
    arm = of_model(two_link(), friction=lambda qd: 0.4 * qd)
    for q, qd, goal in rng.normal(size=(10, 3, 2)):
        tau = gravity(two_link(), q) + Kp * (goal - q) - Kd * qd
        qdd = arm.accelerations(q, qd, tau)

        def E(t, q=q, qd=qd, qdd=qdd, goal=goal):
            x, v = q + qd * t + qdd * t**2 / 2, qd + qdd * t
            return kinetic_energy(two_link(), x, v) + (goal - x) @ (Kp * (goal - x)) / 2

        assert_allclose((E(eps) - E(-eps)) / (2 * eps), -qd @ (Kd * qd + 0.4 * qd), rtol=1e-5, atol=1e-6)
