"""The labelled equations of the chapter on the recursion in six dimensions, each by an independent route."""

import numpy as np
import pytest
from book_equations import equation
from numpy.testing import assert_allclose

from lagrangebook.forward import forward_dynamics
from lagrangebook.inertia import Inertia
from lagrangebook.kinematics import body_jacobian, point_bias, point_jacobian, poses, velocities
from lagrangebook.mass_matrix import crba
from lagrangebook.newton_euler import rnea
from lagrangebook.spatial import Pose, crf, crm, exp_so3
from random_models import random_inertia, random_state, random_tree

@pytest.fixture
def rng():
    return np.random.default_rng(11)

@pytest.fixture(params=range(3))
def robot(request):
    """Trees with every kind of joint."""
    return random_tree(np.random.default_rng(request.param), 7)

@equation("eq-spatial_recursion-field", r"v(r) = v_O + \omega \times r")
def test_the_field_of_a_moving_frame_is_its_motion_differentiated(rng, eps=1e-6):
    for w, v, r in rng.normal(size=(10, 3, 3)):
        moved = exp_so3(w * eps) @ r + v * eps
        assert_allclose((moved - r) / eps, v + np.cross(w, r), atol=1e-5)

@equation("eq-spatial_recursion-X", r"""v_B = X\,v_A, \qquad
    X = \begin{bmatrix} R^T & 0 \\ -R^T\,p\times & R^T \end{bmatrix}""")
def test_X_gives_the_field_at_the_new_origin(rng):
    for a, p, w, v in rng.normal(size=(10, 4, 3)):
        pose = Pose(exp_so3(a), p)
        v_B = pose.X @ np.concatenate([w, v])
        assert_allclose(v_B, np.concatenate([pose.R.T @ w, pose.R.T @ (v + np.cross(w, p))]), atol=1e-13)

@equation("eq-spatial_recursion-power", r"P = f^T v = n_O^T\,\omega + f^T v_O")
def test_power_is_the_sum_over_particles(rng):
    for forces, points, w, v in zip(rng.normal(size=(10, 5, 3)), rng.normal(size=(10, 5, 3)), rng.normal(size=(10, 3)),
                                    rng.normal(size=(10, 3))):
        particles = sum(f @ (v + np.cross(w, r)) for f, r in zip(forces, points))
        moment = sum(np.cross(r, f) for f, r in zip(forces, points))
        assert_allclose(moment @ w + forces.sum(0) @ v, particles, rtol=1e-12)

@equation("eq-spatial_recursion-dual", r"f_A = X^T f_B")
def test_a_wrench_travels_with_the_transpose(rng):
    for a, p, n, f in rng.normal(size=(10, 4, 3)):
        pose = Pose(exp_so3(a), p)
        by_hand = np.concatenate([pose.R @ n + np.cross(p, pose.R @ f), pose.R @ f])
        assert_allclose(pose.X.T @ np.concatenate([n, f]), by_hand, atol=1e-13)

@equation("eq-spatial_recursion-inertia", r"""I = \begin{bmatrix} I_C + m\, c\times (c\times)^T & m\, c\times \\
    m\,(c\times)^T & m\,1 \end{bmatrix}""")
def test_the_inertia_matrix_gives_the_momentum_of_a_point_cloud(rng):
    masses, r = rng.uniform(0.1, 1, 6), rng.normal(size=(6, 3))
    com = masses @ r / masses.sum()
    about_com = sum(m * ((s @ s) * np.eye(3) - np.outer(s, s)) for m, s in zip(masses, r - com))

    w, v = rng.normal(size=(2, 3))
    velocities = v + np.cross(w, r)
    momentum = np.concatenate([np.cross(r, masses[:, None] * velocities).sum(0), masses @ velocities])
    assert_allclose(Inertia(masses.sum(), com, about_com).matrix @ np.concatenate([w, v]), momentum, rtol=1e-12)

@equation("eq-spatial_recursion-cross", r"""v\times = \begin{bmatrix} \omega\times & 0 \\ v_O\times & \omega\times \end{bmatrix},
    \qquad v\times^{*} = -(v\times)^T""")
def test_the_cross_products_differentiate_the_transforms(rng, eps=1e-6):
    for w, v, a, b in rng.normal(size=(10, 4, 3)):
        motion = np.concatenate([w, v])
        X = Pose(exp_so3(w * eps), v * eps).X
        m = np.concatenate([a, b])
        assert_allclose((np.linalg.inv(X) @ m - m) / eps, crm(motion) @ m, atol=1e-4)
        assert_allclose((X.T @ m - m) / eps, crf(motion) @ m, atol=1e-4)

@equation("eq-spatial_recursion-newton", r"f = I a + v \times^{*} I v")
def test_the_spatial_equation_is_newton_and_euler_at_the_centre_of_mass(rng):
    body = random_inertia(rng)
    for w, v, alpha, a in rng.normal(size=(10, 4, 3)):
        c, motion = body.com, np.concatenate([w, v])
        classical = a + np.cross(w, v) + np.cross(alpha, c) + np.cross(w, np.cross(w, c))
        moment = body.about_com @ alpha + np.cross(w, body.about_com @ w) + np.cross(c, body.mass * classical)
        f = body.matrix @ np.concatenate([alpha, a]) + crf(motion) @ body.matrix @ motion
        assert_allclose(f, np.concatenate([moment, body.mass * classical]), atol=1e-12)

@equation("eq-spatial_recursion-v", r"v_i = X_i v_p + S_i \dot q_i")
def test_velocities_of_a_tree_are_differences_of_poses(robot, rng, eps=1e-6):
    q, qd, _ = random_state(robot, rng)
    before, after = (poses(robot, robot.integrate(q, qd, t)) for t in (-eps, eps))
    for b, a, here, v in zip(before, after, poses(robot, q), velocities(robot, q, qd)):
        assert_allclose(here.R.T @ (a.p - b.p) / (2 * eps), v[3:], atol=1e-6)
        spin = here.R.T @ (a.R - b.R) / (2 * eps)
        assert_allclose([spin[2, 1], spin[0, 2], spin[1, 0]], v[:3], atol=1e-6)

@equation("eq-spatial_recursion-a", r"a_i = X_i a_p + S_i \ddot q_i + c_i + v_i \times S_i \dot q_i")
def test_accelerations_of_a_tree_are_second_differences_of_points(robot, rng):
    """J q̈ + J̇q̇ of a material point, which rests on the line for a, against the point's own path."""
    q, qd, qdd = random_state(robot, rng)
    last, r, eps = robot.N - 1, rng.normal(size=3), 1e-4

    def velocity(t):
        q_t = robot.integrate(robot.integrate(q, qd, t), qdd, t**2 / 2)
        return point_jacobian(robot, q_t, last, r) @ (qd + qdd * t)

    stated = point_jacobian(robot, q, last, r) @ qdd + point_bias(robot, q, qd, last, r)
    assert_allclose((velocity(eps) - velocity(-eps)) / (2 * eps), stated, atol=1e-5)

@equation("eq-spatial_recursion-f", r"f_i = I_i a_i + v_i \times^{*} I_i v_i - f_i^{\mathrm{ext}}")
@equation("eq-spatial_recursion-tau", r"\tau_i = S_i^T f_i, \qquad f_p \leftarrow f_p + X_i^T f_i")
def test_the_recursion_is_the_principle_of_virtual_power(robot, rng, eps=1e-4):
    """τ = Σ over particles Jᵀ m a: eight particles per body replace the recursion."""
    q, qd, qdd = random_state(robot, rng)

    def at(t):
        return robot.integrate(robot.integrate(q, qd, t), qdd, t**2 / 2), qd + qdd * t

    total = np.zeros(robot.n)
    for i, body in robot.outward:
        cloud = _cloud(body.inertia)
        for m, r in cloud:
            J = point_jacobian(robot, q, i, r)
            (qa, va), (qb, vb) = at(eps), at(-eps)
            a = (point_jacobian(robot, qa, i, r) @ va - point_jacobian(robot, qb, i, r) @ vb) / (2 * eps)
            total += J.T @ (m * (a - robot.gravity))
    assert_allclose(rnea(robot, q, qd, qdd), total, rtol=1e-5, atol=1e-4)

def _cloud(inertia):
    """Seven particles with the mass, centre and inertia of a body: the centre and three symmetric pairs."""
    moments, axes = np.linalg.eigh(np.trace(inertia.about_com) / 2 * np.eye(3) - inertia.about_com)
    pairs = [(inertia.mass / 8, inertia.com + s * np.sqrt(4 * max(k, 0) / inertia.mass) * axis)
             for k, axis in zip(moments, axes.T) for s in (1, -1)]
    return pairs + [(inertia.mass / 4, inertia.com)]

@equation("eq-spatial_recursion-external", r"\tau = M \ddot q + h - J_i^T f_i^{\mathrm{ext}}")
def test_an_outside_force_enters_as_the_jacobian_transposed(robot, rng):
    q, qd, qdd = random_state(robot, rng)
    f, tip = rng.normal(size=6), robot.N - 1
    expected = crba(robot, q) @ qdd + rnea(robot, q, qd, 0 * qdd) - body_jacobian(robot, q, tip).T @ f
    assert_allclose(rnea(robot, q, qd, qdd, external={tip: f}), expected, atol=1e-10)
    assert_allclose(forward_dynamics(robot, q, qd, expected, external={tip: f}), qdd, atol=1e-8)
