"""The labelled equations of the chapter on multipliers, each by an independent route."""

import numpy as np
import pytest
import sympy
from book_equations import equation
from numpy.testing import assert_allclose

from lagrangebook.constraints import constrained, constrained_accelerations, holonomic, nonholonomic, project
from lagrangebook.kinematics import kinetic_energy, point_jacobian, potential_energy
from lagrangebook.mechanisms import five_bar, rp_arm
from lagrangebook.mass_matrix import crba
from lagrangebook.model import Model
from lagrangebook.standard_form import of_lagrangian, of_model
from reference import load

FIVE = five_bar()
LOOP = FIVE.loops[0]
CASES = load("examples")["five_bar"]["cases"]
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])


def solved(case, S=np.eye(2)):
    q, qd = np.array(case["q"]), np.array(case["qd"])
    tau = FIVE.B @ case["tau_q1_q3"]
    return constrained_accelerations(of_model(FIVE.model)(q, qd), tau, S @ LOOP.J(q), S @ LOOP.bias(q, qd))


def pendulums():
    """x, ẋ, and the reaction Q = m (ẍ − g) of random plane pendulums, from the angle's equation alone."""
    for angle, rate, l, m in np.random.default_rng(30).uniform((-3, -2, 0.5, 0.5), (3, 2, 2, 3), (10, 4)):
        out, along = np.array([np.sin(angle), -np.cos(angle)]), np.array([np.cos(angle), np.sin(angle)])
        acceleration = -9.81 / l * np.sin(angle) * l * along - l * rate**2 * out
        yield l * out, l * rate * along, m * (acceleration - [0, -9.81]), m


@equation("eq-multipliers-ideal", r"Q^T\delta q = 0 \quad \text{for every } \delta q \text{ with } J\,\delta q = 0")
def test_the_rod_of_a_pendulum_has_no_power_along_its_circle():
    """Coordinates x, y and φ = (x² + y² − l²)/2, so that J = (x, y)."""
    for x, _, Q, m in pendulums():
        allowed = np.array([-x[1], x[0]])
        assert abs(Q @ allowed) < 1e-12 * m * 9.81 * np.linalg.norm(x) * 10
        assert np.linalg.norm(Q) > 0.01


@equation("eq-multipliers-reaction", r"Q = J^T\lambda")
def test_the_reaction_is_a_multiple_of_the_row_and_the_multiplier_is_that_of_the_solver():
    (x, y), (xd, yd) = sympy.symbols("x y", real=True), sympy.symbols("xd yd", real=True)
    for at, rate, Q, m in pendulums():
        free = of_lagrangian(m * (xd**2 + yd**2) / 2 - m * sympy.Float(9.81) * y, [x, y], [xd, yd])
        rod = holonomic((x**2 + y**2 - float(at @ at)) / 2, [x, y])
        lam = constrained(free, rod).solve(at, rate, np.zeros(2)).lam
        assert_allclose(np.outer(at, lam)[:, 0], Q, rtol=1e-10, atol=1e-10)


@equation("eq-multipliers-projection", r"\dot q^+ = \dot q - M^{-1}J^T\left(J M^{-1}J^T\right)^{-1} J\,\dot q")
def test_the_nearest_velocity_has_the_least_kinetic_energy_of_the_difference():
    """Against a search along the allowed line, and the package's projection."""
    for theta, d, a, b in np.random.default_rng(31).uniform((-1, 0.3, -1, -1), (1, 1.2, 1, 1), (10, 4)):
        M, J, qd = crba(rp_arm(), np.array([theta, d])), np.array([[-d * np.sin(theta), np.cos(theta)]]), np.array([a, b])
        MJ = np.linalg.solve(M, J.T)
        printed = qd - MJ @ np.linalg.solve(J @ MJ, J @ qd)
        line = np.array([np.cos(theta), d * np.sin(theta)])
        away = [(s * line - qd) @ M @ (s * line - qd) for s in (-1.0, 0.0, 1.0)]
        best = (away[0] - away[2]) / (2 * (away[0] - 2 * away[1] + away[2]))          # the vertex of a parabola
        assert_allclose(printed, best * line, rtol=1e-9, atol=1e-10)
        q = sympy.symbols("theta d")
        wall = holonomic(q[1] * sympy.cos(q[0]) - d * np.cos(theta), list(q))
        assert_allclose(project(wall, np.array([theta, d]), qd, M=M).qd, printed, atol=1e-9)


@equation("eq-multipliers-through", r"P = \lambda^T v")
@each_case
def test_what_the_pin_gives_the_left_arm_is_what_its_energy_gains_beyond_its_motor(case, eps=1e-5):
    """By differences of the left arm's energy, the right arm left out of the model."""
    q, qd, result = np.array(case["q"]), np.array(case["qd"]), solved(case)
    left = Model(FIVE.model.bodies[:2], FIVE.model.gravity, "left arm")

    def energy(s):
        place, rate = q + s * qd + s**2 / 2 * result.qdd, qd + s * result.qdd
        return kinetic_energy(left, place[:2], rate[:2]) + potential_energy(left, place[:2])

    gain = (energy(eps) - energy(-eps)) / (2 * eps) - case["tau_q1_q3"][0] * qd[0]
    v = point_jacobian(FIVE.model, q, 3, (0.3, 0, 0))[:2] @ qd
    assert_allclose(np.array(case["lambda_force_on_left_tip"]) @ v, gain, atol=1e-6)
    assert_allclose(v, case["tip_velocity"], atol=1e-12)


@equation("eq-multipliers-scaling", r"\bar\varphi = S\,\varphi, \qquad \bar J = S J, \qquad \lambda = S^T\bar\lambda, "
                                    r"\qquad \bar J^T\bar\lambda = J^T\lambda")
@each_case
def test_rewritten_rows_give_other_multipliers_and_the_same_force(case):
    """Published multipliers for S = [[2, 1], [0, 3]], and the force that they make."""
    S = np.array([[2.0, 1], [0, 3]])
    assert_allclose(solved(case, S).lam, case["lambda_bar_for_S=[[2,1],[0,3]]"], rtol=1e-10, atol=1e-10)
    assert_allclose(S.T @ case["lambda_bar_for_S=[[2,1],[0,3]]"], case["lambda_force_on_left_tip"], atol=1e-12)
    assert_allclose((S @ LOOP.J(np.array(case["q"]))).T @ solved(case, S).lam, case["Jc_T_lambda"], rtol=1e-9, atol=1e-10)


def test_rows_in_any_mixture_leave_the_motion_alone():
    rng = np.random.default_rng(32)
    for S in [1000 * np.eye(2), -np.eye(2), *rng.normal(size=(10, 2, 2))]:
        for case in CASES:
            assert_allclose(solved(case, S).qdd, case["qdd"], rtol=1e-8, atol=1e-8)
            assert_allclose(S.T @ solved(case, S).lam, case["lambda_force_on_left_tip"], rtol=1e-8, atol=1e-8)


@equation("eq-multipliers-coordinates", r"Q' = T^TQ = (J\,T)^T\lambda")
@each_case
def test_on_the_angles_of_the_links_the_pin_acts_with_the_lever_of_each_link(case):
    """Absolute angles: the generalised force of a force at the tip is the force times L d'(angle), link by link."""
    q, lam = np.array(case["q"]), np.array(case["lambda_force_on_left_tip"])
    T = np.array([[1, 0, 0, 0], [-1, 1, 0, 0], [0, 0, 1, 0], [0, 0, -1, 1]])
    levers = [s * L * np.array([-np.sin(a), np.cos(a)]) for s, L, a in zip(
        (1, 1, -1, -1), (0.25, 0.3, 0.25, 0.3), (q[0], q[0] + q[1], q[2], q[2] + q[3]))]
    assert_allclose(T.T @ case["Jc_T_lambda"], np.array(levers) @ lam, atol=1e-12)
    assert_allclose((LOOP.J(q) @ T).T @ lam, np.array(levers) @ lam, atol=1e-12)


@equation("eq-multipliers-moving", r"P = \lambda^TJ\,\dot q = -\lambda^T\frac{\partial\varphi}{\partial t}")
def test_whoever_pulls_the_string_pays_for_the_energy_of_the_puck():
    """Closed form: r²θ̇ = c stays, K = (ṙ² + c²/r²)/2, and λ = r̈ − r θ̇² on the unit mass."""
    s, c = sympy.symbols("s c", real=True)
    r = sympy.Rational(3, 4) + sympy.cos(sympy.pi * s) / 4
    K = (r.diff(s)**2 + c**2 / r**2) / 2
    lam = r.diff(s, 2) - c**2 / r**3
    assert sympy.simplify(K.diff(s) - lam * r.diff(s)) == 0
    (x, th), (xd, thd), t = sympy.symbols("r theta"), sympy.symbols("rd thetad"), sympy.Symbol("t")
    puck = of_lagrangian((xd**2 + x**2 * thd**2) / 2, [x, th], [xd, thd])
    pulled = constrained(puck, holonomic(x - r.subs(s, t), [x, th], t=t))
    for at in np.linspace(0.1, 0.9, 5):
        values = {s: at, c: 1.7}
        q = np.array([float(r.subs(values)), 0.4])
        qd = np.array([float(r.diff(s).subs(values)), 1.7 / q[0]**2])
        assert_allclose(pulled.solve(q, qd, np.zeros(2), at).lam[0], float(lam.subs(values)), rtol=1e-10)
        assert_allclose(pulled.moving_constraint_power(q, qd, at), float(K.diff(s).subs(values)), rtol=1e-10)


@equation("eq-multipliers-skate", r"\dot y\cos\theta - \dot x\sin\theta = 0, \qquad \text{or} \quad A(q)\,\dot q = 0")
def test_a_skate_moves_along_its_blade_and_its_condition_is_no_derivative():
    """The velocity along the blade is allowed; the row has no integrating factor: A · curl A ≠ 0 (Frobenius)."""
    x, y, th = sympy.symbols("x y theta", real=True)
    A = sympy.Matrix([-sympy.sin(th), sympy.cos(th), 0])
    assert sympy.simplify(A.dot(sympy.Matrix([sympy.cos(th), sympy.sin(th), sympy.Symbol("omega")]))) == 0
    q = (x, y, th)
    curl = sympy.Matrix([A[(i + 2) % 3].diff(q[(i + 1) % 3]) - A[(i + 1) % 3].diff(q[(i + 2) % 3]) for i in range(3)])
    assert sympy.simplify(A.dot(curl)) == -1


@equation("eq-multipliers-nonholonomic", r"M\ddot q + h = \tau + A^T\lambda, \qquad A\,\ddot q + \dot A\dot q = 0")
def test_a_skate_runs_in_a_circle_and_the_ice_pushes_it_inward():
    """Newton for the circle: x = ρ sin ωt, y = −ρ cos ωt, force m v ω across the blade; no moment."""
    (x, y, th), (xd, yd, thd) = sympy.symbols("x y theta"), sympy.symbols("xd yd thetad")
    for m, I, v, w, t in np.random.default_rng(33).uniform((1, 0.1, 0.5, 0.5, 0), (4, 1, 3, 2, 3), (6, 5)):
        skate = of_lagrangian(m * (xd**2 + yd**2) / 2 + I * thd**2 / 2, [x, y, th], [xd, yd, thd])
        blade = nonholonomic(yd * sympy.cos(th) - xd * sympy.sin(th), [x, y, th], [xd, yd, thd])
        q = np.array([v / w * np.sin(w * t), -v / w * np.cos(w * t), w * t])
        qd, qdd = v * np.array([np.cos(w * t), np.sin(w * t), w / v]), v * w * np.array([-np.sin(w * t), np.cos(w * t), 0])
        found = constrained(skate, blade).solve(q, qd, np.zeros(3))
        assert_allclose(found.qdd, qdd, atol=1e-10)
        assert_allclose(found.lam, [m * v * w], rtol=1e-10)
