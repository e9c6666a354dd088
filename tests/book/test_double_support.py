"""The labelled equations of the chapter on a biped on the ground, each by an independent route."""

import numpy as np
import pytest
from book_equations import equation
from numpy.testing import assert_allclose
from scipy.linalg import null_space

from lagrangebook.contact import contacts, moreau_impact, point_plane
from lagrangebook.kinematics import (body_jacobian, center_of_mass, centroidal_momentum, kinetic_energy, mass, point,
                                     point_jacobian, poses)
from lagrangebook.mass_matrix import crba
from lagrangebook.mechanisms import biped
from lagrangebook.newton_euler import rnea

ROBOT = biped()
STILL = np.zeros(ROBOT.n)
SOLE = np.array([0.045, 0, -0.075])


@pytest.fixture
def rng():
    return np.random.default_rng(37)


def posture(rng, size=0.1):
    return ROBOT.integrate(ROBOT.zero, np.concatenate([np.zeros(6), size * rng.normal(size=ROBOT.n - 6)]), 1.0)


def rows(q, side="left"):
    body = f"{side} foot"
    R = poses(ROBOT, q)[ROBOT.index(body)].R
    return np.vstack([R @ body_jacobian(ROBOT, q, body)[:3], point_jacobian(ROBOT, q, body, SOLE)])


def pressure(r, wrench):
    return np.array([r[0] - wrench[1] / wrench[5], r[1] + wrench[0] / wrench[5]])


@equation("eq-double_support-pressure", r"p_x = r_x - \frac{n_y}{f_z}, \qquad p_y = r_y + \frac{n_x}{f_z}")
def test_the_centre_of_pressure_is_the_mean_of_where_the_sole_presses(rng):
    """By pushes at random points of a flat sole, each with friction of its own."""
    for _ in range(10):
        r, points = rng.normal(size=3), rng.uniform(-0.1, 0.1, (6, 3)) * [1, 1, 0]
        pushes = np.column_stack([0.3 * rng.normal(size=(6, 2)), rng.uniform(0.1, 1, 6)])
        wrench = np.concatenate([np.cross(points, pushes).sum(axis=0), pushes.sum(axis=0)])
        mean = r + (points * pushes[:, 2:]).sum(axis=0) / pushes[:, 2].sum()
        assert_allclose(pressure(r, wrench), mean[:2], atol=1e-12)


@equation("eq-double_support-zmp", r"""p_x = c_x - \frac{c_z\,\ddot c_x + \dot L_y/m}{g + \ddot c_z}, \qquad
          p_y = c_y - \frac{c_z\,\ddot c_y - \dot L_x/m}{g + \ddot c_z}""")
def test_the_pressure_follows_from_the_momentum_of_the_whole_robot(rng):
    """By the wrench under one foot, from the recursion; momentum by differences along the motion."""
    m, eps = mass(ROBOT), 1e-6
    for _ in range(4):
        q, qd, qdd = posture(rng), *(0.3 * rng.normal(size=(2, ROBOT.n)))
        wrench = np.linalg.solve(rows(q)[:, :6].T, rnea(ROBOT, q, qd, qdd)[:6])
        ahead, behind = (centroidal_momentum(ROBOT, ROBOT.integrate(q, qd, t), qd + qdd * t) for t in (eps, -eps))
        Ld, force = np.split((ahead - behind) / (2 * eps), 2)
        c, a, r = center_of_mass(ROBOT, q), force / m, point(ROBOT, q, "left foot", SOLE)
        h = c[2] - r[2]
        p = [c[0] - (h * a[0] + Ld[1] / m) / (9.81 + a[2]), c[1] - (h * a[1] - Ld[0] / m) / (9.81 + a[2])]
        assert_allclose(p, pressure(r, wrench), atol=1e-5)


@equation("eq-double_support-family", r"""J_{b,\mathrm{left}}^T\,\lambda_{\mathrm{left}} + J_{b,\mathrm{right}}^T\,\lambda_{\mathrm{right}} = \tau_b,
          \qquad \lambda = \lambda_0 + N s""")
def test_six_wrenches_do_nothing_to_the_robot_but_need_motors(rng):
    """By statics of free vectors: every internal wrench has no resultant force and no moment about the origin."""
    q = posture(rng)
    J = np.vstack([rows(q, side) for side in ("left", "right")])
    N = null_space(J[:, :6].T)
    assert N.shape == (12, 6)
    r = [point(ROBOT, q, f"{side} foot", SOLE) for side in ("left", "right")]
    for w in N.T:
        n, f = (w[:3], w[6:9]), (w[3:6], w[9:12])
        assert_allclose(f[0] + f[1], 0, atol=1e-12)
        assert_allclose(n[0] + n[1] + np.cross(r[0], f[0]) + np.cross(r[1], f[1]), 0, atol=1e-12)
        assert np.linalg.norm(J[:, 6:].T @ w) > 1e-3
    wanted = rnea(ROBOT, q, STILL, STILL)
    lam = np.linalg.pinv(J[:, :6].T) @ wanted[:6] + N @ rng.normal(size=6)
    assert_allclose(J[:, :6].T @ lam, wanted[:6], atol=1e-9)


@equation("eq-double_support-strike", r"M(\dot q^+ - \dot q^-) = J^T p, \qquad J\,\dot q^+ = 0")
def test_a_plastic_landing_is_the_nearest_velocity_that_the_ground_allows(rng):
    """By minimisation: among all velocities that keep the sole still, q̇⁺ is nearest to q̇⁻ in kinetic energy (Gauss)."""
    q, qd = posture(rng), rng.normal(size=ROBOT.n)
    J, M = rows(q), crba(ROBOT, q)
    p = np.linalg.solve(J @ np.linalg.solve(M, J.T), -J @ qd)
    after = qd + np.linalg.solve(M, J.T @ p)
    assert_allclose(J @ after, 0, atol=1e-9)
    allowed = null_space(J)
    for other in (allowed @ rng.normal(size=(allowed.shape[1], 20))).T:
        d, best = other - qd, after - qd
        assert best @ M @ best <= d @ M @ d
    assert kinetic_energy(ROBOT, q, after) < kinetic_energy(ROBOT, q, qd)


@equation("eq-double_support-hand", r"p_x = \frac{m g\,c_x - f\,x_h}{m g - f}")
def test_a_hand_that_is_pushed_up_moves_the_pressure(rng):
    """By the wrench under one foot of the biped with arms."""
    robot = biped(arms=True)
    still, q = np.zeros(robot.n), robot.integrate(robot.zero, np.concatenate([np.zeros(18), [-0.6, -0.9, 0, 0]]), 1.0)
    arm, r_hand = robot.index("left forearm"), (0, 0, -0.26)
    for f in (0.0, 25.0, 60.0):
        h = point(robot, q, arm, r_hand)
        body = "left foot"
        J = np.vstack([poses(robot, q)[robot.index(body)].R @ body_jacobian(robot, q, body)[:3], point_jacobian(robot, q, body, SOLE)])
        base = rnea(robot, q, still, still) - point_jacobian(robot, q, arm, r_hand).T @ [0, 0, f]
        wrench, weight = np.linalg.solve(J[:, :6].T, base[:6]), mass(robot) * 9.81
        p = pressure(point(robot, q, body, SOLE), wrench)
        assert_allclose(p[0], (weight * center_of_mass(robot, q)[0] - f * h[0]) / (weight - f), atol=1e-9)


def test_the_force_of_the_ground_enters_with_its_own_sign():
    """A statue on its left foot: with the force of the robot on the ground instead, the knee's torque changes sign (003-04)."""
    robot = biped()
    q = robot.zero.copy()
    for part, angle in (("thigh", -0.35), ("shank", 0.7), ("ankle", -0.35)):
        q[robot.slice_q(robot.index(f"left {part}"))] = angle
    J, wanted = rows(q), rnea(robot, q, STILL, STILL)
    wrench, knee = np.linalg.solve(J[:, :6].T, wanted[:6]), robot.slice_v(robot.index("left shank")).start
    assert wrench[5] > 0
    right, wrong = (wanted - J.T @ wrench)[knee], (wanted + J.T @ wrench)[knee]
    assert right * wrong < 0 and abs(right) > 20


def test_a_foot_that_would_have_to_be_held_down_rises_in_the_blow(rng):
    """A locked robot falls over a rear point onto a front one: glued, the rear impulse pulls; complementarity lets it go."""
    q = ROBOT.zero.copy()
    for side, sign in (("left", 1), ("right", -1)):
        q[ROBOT.slice_q(ROBOT.index(f"{side} thigh"))] = -0.25 * sign
        q[ROBOT.slice_q(ROBOT.index(f"{side} ankle"))] = 0.25 * sign
    pivot = point(ROBOT, q, "right foot", SOLE)
    feet = contacts(point_plane(ROBOT, "right foot", SOLE, offset=pivot[2], mu=0.8), point_plane(ROBOT, "left foot", SOLE, offset=pivot[2], mu=0.8))
    qd, trunk = STILL.copy(), poses(ROBOT, q)[0]
    qd[:3], qd[3:6] = [0, 0.8, 0], trunk.R.T @ np.cross([0, 0.8, 0], trunk.p - pivot)
    locked, M = np.eye(ROBOT.n)[6:], crba(ROBOT, q)
    J = np.vstack([feet.J_N(q), feet.J_T(q), locked])
    glued = np.linalg.lstsq(J @ np.linalg.solve(M, J.T), -J @ qd, rcond=1e-10)[0]
    found = moreau_impact(M, feet.J_N(q), feet.J_T(q), qd, feet.mu, 0.0, J=locked)
    assert glued[0] < -1 and found.p_N[0] < 1e-9 < found.p_N[1] and feet.J_N(q)[0] @ found.qd > 0
