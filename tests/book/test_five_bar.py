"""The labelled equations of the chapter on the five-bar, each by an independent route; four free bodies above all."""

import numpy as np
import pytest
import sympy
from book_equations import equation
from numpy.testing import assert_allclose

from lagrangebook.constraints import constrained_accelerations, constrained_inverse
from lagrangebook.kinematics import point
from lagrangebook.mechanisms import five_bar
from lagrangebook.newton_euler import rnea
from lagrangebook.standard_form import of_model
from reference import load

LENGTH, MASS, BASE = (0.25, 0.3, 0.25, 0.3), (0.8, 0.6, 0.8, 0.6), (0.0, 0.2)
FIVE = five_bar()
LOOP = FIVE.loops[0]
R = (0.3, 0, 0)


def arm_tip(q, left=True):
    """The tip of one arm as a complex number, from e^(iθ)."""
    i = 0 if left else 2
    return BASE[i // 2] + LENGTH[i] * np.exp(1j * q[i]) + LENGTH[i + 1] * np.exp(1j * (q[i] + q[i + 1]))


def phi(q):
    gap = arm_tip(q) - arm_tip(q, left=False)
    return np.array([gap.real, gap.imag])


def slope(f, q, eps=1e-6):
    return np.column_stack([(f(q + eps * e) - f(q - eps * e)) / (2 * eps) for e in np.eye(len(q))])


def closed(x, y):
    """The angles with elbows out and the tip at (x, y), from the triangle of each arm."""
    q = []
    for base, sign in zip(BASE, (-1, 1)):
        D, heading = abs(x - base + 1j * y), np.angle(x - base + 1j * y)
        at_base = np.arccos((D**2 + LENGTH[0]**2 - LENGTH[1]**2) / (2 * D * LENGTH[0]))
        at_elbow = np.arccos((LENGTH[0]**2 + LENGTH[1]**2 - D**2) / (2 * LENGTH[0] * LENGTH[1]))
        q += [heading - sign * at_base, sign * (np.pi - at_elbow)]
    return np.array(q)


@pytest.fixture
def states():
    """Closed (q, q̇) with the tip in the workspace."""
    rng, found = np.random.default_rng(20), []
    for _ in range(10):
        q = closed(rng.uniform(-0.05, 0.25), rng.uniform(0.25, 0.42))
        free = np.linalg.svd(slope(phi, q))[2][2:]
        found.append((q, rng.normal(size=2) @ free))
    return found


def four_free_bodies(q, qd, u):
    """Link accelerations (4,) and the force on the left tip from twelve coordinates and five pins, no tree in it.

    Coordinates: centre of mass and angle of each rod; each pin holds two points of them together.
    """
    angle = np.array([q[0], q[0] + q[1], q[2], q[2] + q[3]])
    rate = np.array([qd[0], qd[0] + qd[1], qd[2], qd[2] + qd[3]])
    half = [LENGTH[i] / 2 * np.array([np.cos(angle[i]), np.sin(angle[i])]) for i in range(4)]
    pins = [[(0, -1)], [(1, -1), (0, 1)], [(2, -1)], [(3, -1), (2, 1)], [(1, 1), (3, 1)]]
    J, gamma = np.zeros((10, 12)), np.zeros(10)
    for k, pin in enumerate(pins):
        for sign, (i, end) in zip((1, -1), pin):
            J[2 * k:2 * k + 2, 3 * i:3 * i + 2] += sign * np.eye(2)
            J[2 * k:2 * k + 2, 3 * i + 2] += sign * end * np.array([-half[i][1], half[i][0]])
            gamma[2 * k:2 * k + 2] -= sign * end * half[i] * rate[i]**2
    M = np.diag(np.concatenate([[m, m, m * L**2 / 12] for m, L in zip(MASS, LENGTH)]))
    force = np.concatenate([[0, -9.81 * m, 0] for m in MASS])
    force[[2, 8]] = u
    K = np.block([[M, -J.T], [J, np.zeros((10, 10))]])
    x = np.linalg.solve(K, np.concatenate([force, -gamma]))
    return x[2:12:3], x[-2:]


@equation("eq-five_bar-closure", r"\varphi(q) = p_L - p_R = A_L + L_1 d(q_1) + L_2 d(q_1 + q_2) - A_R - L_3 d(q_3) - L_4 d(q_3 + q_4) = 0")
def test_the_loop_is_open_by_the_distance_of_the_tips():
    for q in np.random.default_rng(21).normal(size=(10, 4)):
        assert_allclose(LOOP.phi(q), phi(q), atol=1e-14)


@equation("eq-five_bar-elbow", r"\cos q_2 = \frac{D^2 - L_1^2 - L_2^2}{2 L_1 L_2}")
def test_the_elbow_follows_from_the_distance_of_the_tip():
    for q in np.random.default_rng(22).normal(size=(10, 4)):
        D = np.linalg.norm(point(FIVE.model, q, 1, R))
        assert_allclose(np.cos(q[1]), (D**2 - LENGTH[0]**2 - LENGTH[1]**2) / (2 * LENGTH[0] * LENGTH[1]), atol=1e-12)


@equation("eq-five_bar-left", r"J_L = \begin{pmatrix} L_1 d'(q_1) + L_2 d'(q_1 + q_2) & L_2 d'(q_1 + q_2) \end{pmatrix}")
def test_a_tip_moves_at_right_angles_to_the_links():
    for q in np.random.default_rng(23).normal(size=(10, 4)):
        turned = [1j * np.exp(1j * q[0]), 1j * np.exp(1j * (q[0] + q[1]))]
        columns = np.array([LENGTH[0] * turned[0] + LENGTH[1] * turned[1], LENGTH[1] * turned[1]])
        printed = np.array([columns.real, columns.imag])
        assert_allclose(printed, slope(lambda q: point(FIVE.model, q, 1, R)[:2], q)[:, :2], atol=1e-9)


@equation("eq-five_bar-jacobian", r"\dot\varphi = J \dot q = 0, \qquad J = \begin{pmatrix} J_L & -J_R \end{pmatrix}")
def test_the_loop_jacobian_holds_both_arms_with_opposite_signs(states):
    for q, qd in states:
        J = np.hstack([slope(lambda q: point(FIVE.model, q, 1, R)[:2], q)[:, :2],
                       -slope(lambda q: point(FIVE.model, q, 3, R)[:2], q)[:, 2:]])
        assert_allclose(LOOP.J(q), J, atol=1e-9)
        assert_allclose(LOOP.J(q) @ qd, 0, atol=1e-8)


@equation("eq-five_bar-allowed", r"\dot q = Z\,v, \qquad Z = \begin{pmatrix} J_L^{-1} \\ J_R^{-1} \end{pmatrix}")
def test_allowed_rates_are_those_of_a_moving_closed_machine(eps=1e-6):
    """By differences of the closed configurations themselves."""
    for x, y in np.random.default_rng(24).uniform((-0.05, 0.25), (0.25, 0.42), (10, 2)):
        moved = np.column_stack([closed(x + eps, y) - closed(x - eps, y), closed(x, y + eps) - closed(x, y - eps)]) / (2 * eps)
        J = LOOP.J(closed(x, y))
        assert_allclose(np.vstack([np.linalg.inv(J[:, :2]), np.linalg.inv(-J[:, 2:])]), moved, rtol=1e-6, atol=1e-6)


@equation("eq-five_bar-acceleration", r"J\,\ddot q + \gamma = 0, \qquad \gamma = \dot J \dot q")
def test_the_accelerations_of_a_closed_motion_obey_the_second_derivative(eps=1e-4):
    """The tip on a parabola; angles, rates and accelerations by differences."""
    def at(t):
        return closed(0.1 + 0.3 * t - 0.7 * t**2, 0.35 - 0.2 * t + 1.1 * t**2)

    q, qd, qdd = at(0), (at(eps) - at(-eps)) / (2 * eps), (at(eps) - 2 * at(0) + at(-eps)) / eps**2
    J_dot = (LOOP.J(at(eps)) - LOOP.J(at(-eps))) / (2 * eps)
    assert_allclose(LOOP.bias(q, qd), J_dot @ qd, atol=1e-6)
    assert_allclose(LOOP.J(q) @ qdd + J_dot @ qd, 0, atol=1e-6)
    assert np.linalg.norm(J_dot @ qd) > 0.1


@equation("eq-five_bar-gamma", r"\gamma = -L_1 d(q_1)\,\dot q_1^2 - L_2 d(q_1 + q_2)\,(\dot q_1 + \dot q_2)^2 "
                               r"+ L_3 d(q_3)\,\dot q_3^2 + L_4 d(q_3 + q_4)\,(\dot q_3 + \dot q_4)^2")
def test_the_bias_is_the_difference_of_centripetal_accelerations():
    for q, qd in np.random.default_rng(25).normal(size=(10, 2, 4)):
        gap = sum(-s * L * np.exp(1j * a) * w**2 for s, L, a, w in zip(
            (1, 1, -1, -1), LENGTH, (q[0], q[0] + q[1], q[2], q[2] + q[3]), (qd[0], qd[0] + qd[1], qd[2], qd[2] + qd[3])))
        assert_allclose(LOOP.bias(q, qd), [gap.real, gap.imag], atol=1e-13)


@equation("eq-five_bar-cut", r"J^T\lambda = \begin{pmatrix} J_L^T\lambda \\ -J_R^T\lambda \end{pmatrix}")
def test_the_pin_acts_on_the_arms_as_two_opposite_forces_on_their_tips():
    """By the recursion with the two forces as external wrenches."""
    for q, lam in zip(np.random.default_rng(26).normal(size=(10, 4)), np.random.default_rng(27).normal(size=(10, 2))):
        still, wrenches = np.zeros(4), {}
        for body, sign, angle in ((1, 1, q[0] + q[1]), (3, -1, q[2] + q[3])):
            turned = complex(*(sign * lam)) * np.exp(-1j * angle)          # in the axes of the link
            wrenches[body] = np.array([0, 0, R[0] * turned.imag, turned.real, turned.imag, 0])
        felt = rnea(FIVE.model, q, still, still) - rnea(FIVE.model, q, still, still, wrenches)
        assert_allclose(felt, LOOP.J(q).T @ lam, atol=1e-12)


@equation("eq-five_bar-motion", r"M\ddot q + h = B\,u + J^T\lambda, \qquad J\,\ddot q + \gamma = 0")
def test_tree_and_loop_move_as_four_pinned_bodies(states):
    for q, qd in states:
        u = np.random.default_rng(28).normal(size=2)
        qdd, lam, _, _ = constrained_accelerations(of_model(FIVE.model)(q, qd), FIVE.B @ u, LOOP.J(q), LOOP.bias(q, qd))
        links, force = four_free_bodies(q, qd, u)
        assert_allclose([qdd[0], qdd[0] + qdd[1], qdd[2], qdd[2] + qdd[3]], links, rtol=1e-8, atol=1e-8)
        assert_allclose(lam, force, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("case", load("examples")["five_bar"]["cases"], ids=lambda case: case["name"])
def test_four_pinned_bodies_give_the_published_force_at_the_cut(case):
    links, force = four_free_bodies(case["q"], case["qd"], case["tau_q1_q3"])
    assert_allclose(force, case["lambda_force_on_left_tip"], rtol=1e-10, atol=1e-10)
    assert_allclose(links[0], case["qdd"][0], rtol=1e-10)


@equation("eq-five_bar-motors", r"Z^T B\,u = Z^T\left(M\ddot q + h\right)")
def test_motor_torques_through_the_loop_produce_the_motion_on_four_pinned_bodies(states):
    for q, qd in states:
        form, J = of_model(FIVE.model)(q, qd), LOOP.J(q)
        qdd = np.linalg.svd(J)[2][2:].T @ [3.0, -5.0] - np.linalg.pinv(J) @ LOOP.bias(q, qd)
        Z = np.vstack([np.linalg.inv(J[:, :2]), np.linalg.inv(-J[:, 2:])])
        u = np.linalg.solve(Z.T @ FIVE.B, Z.T @ (form.M @ qdd + form.h))
        links, force = four_free_bodies(q, qd, u)
        assert_allclose([qdd[0], qdd[0] + qdd[1], qdd[2], qdd[2] + qdd[3]], links, rtol=1e-7, atol=1e-7)
        packaged = constrained_inverse(form, qdd, J, FIVE.B)
        assert_allclose(packaged.u, u, rtol=1e-8, atol=1e-9)
        assert_allclose(packaged.lam, force, rtol=1e-7, atol=1e-8)


@equation("eq-five_bar-law", r"a = a_d + 2\omega\,(v_d - v) + \omega^2\,(x_d - x)")
def test_errors_of_the_tip_die_critically_damped():
    t, w, e0 = sympy.symbols("t omega e0", positive=True)
    x_d = sympy.Function("x_d")(t)
    x = x_d - e0 * (1 + w * t) * sympy.exp(-w * t)
    printed = x_d.diff(t, 2) + 2 * w * (x_d - x).diff(t) + w**2 * (x_d - x)
    assert sympy.simplify(x.diff(t, 2) - printed) == 0
