"""The labelled equations of the chapter on the kinetic-energy matrix, each by an independent route."""

import numpy as np
import pytest
import sympy
from book_equations import equation
from numpy.testing import assert_allclose
from reference import open_case

from lagrangebook.forward import aba
from lagrangebook.inertia import Inertia
from lagrangebook.kinematics import body_jacobian, kinetic_energy, point, point_jacobian, poses
from lagrangebook.mass_matrix import crba
from lagrangebook.mechanisms import puma560, rp_arm, two_link
from lagrangebook.model import Body, Joint, Model
from lagrangebook.spatial import exp_so3, skew, vee

EPS = 1e-6


@pytest.fixture
def rng():
    return np.random.default_rng(17)


def turning(rng):
    """A smooth random rotation R(t)."""
    a, b = rng.normal(size=(2, 3))
    return lambda t: exp_so3(a * np.sin(t)) @ exp_so3(b * t)


def rate(function, t, eps=EPS):
    return (function(t + eps) - function(t - eps)) / (2 * eps)


# -- rotations --------------------------------------------------------------------------------------------------


@equation("eq-kinetic_matrix-orthogonal", r"R\,R^\top = 1 .")
def test_columns_of_a_rotation_are_unit_axes_at_right_angles(tree, state):
    """Lengths and angles of a body's axes, measured between points of it in the world."""
    q, *_ = state
    for i in range(tree.N):
        origin = point(tree, q, i, np.zeros(3))
        axes = np.array([point(tree, q, i, e) - origin for e in np.eye(3)])
        assert_allclose(axes @ axes.T, np.eye(3), atol=1e-12)
        assert_allclose(poses(tree, q)[i].R @ poses(tree, q)[i].R.T, np.eye(3), atol=1e-12)


@equation("eq-kinetic_matrix-omega", r"""\dot R = [\omega]_\times R , \qquad
    [\omega]_\times = \begin{bmatrix} 0 & -\omega_z & \omega_y \\ \omega_z & 0 & -\omega_x \\ -\omega_y & \omega_x & 0 \end{bmatrix} .""")
def test_a_turning_body_has_three_rates_not_nine(rng):
    for _ in range(5):
        R, t = turning(rng), rng.normal()
        W = rate(R, t) @ R(t).T
        x, y, z = W[2, 1], W[0, 2], W[1, 0]
        assert_allclose(W, [[0, -z, y], [z, 0, -x], [-y, x, 0]], atol=1e-8)
        u = rng.normal(size=3)
        assert_allclose(W @ u, np.cross([x, y, z], u), atol=1e-8)


@equation("eq-kinetic_matrix-point", r"\dot x = \dot p + \omega \times (x - p) .")
def test_a_point_of_a_body_moves_by_translation_and_rotation(tree, state, rng):
    q, qd, _ = state
    r = rng.normal(size=3)

    def at(offset):
        return lambda s: point(tree, q + s * qd, 6, offset)

    omega = poses(tree, q)[6].R @ body_jacobian(tree, q, 6)[:3] @ qd
    arm = point(tree, q, 6, r) - point(tree, q, 6, np.zeros(3))
    assert_allclose(rate(at(r), 0), rate(at(np.zeros(3)), 0) + np.cross(omega, arm), atol=1e-6)


@equation("eq-kinetic_matrix-add", r"\omega = \omega_1 + R_1\, \omega_2 .")
def test_angular_velocities_add_in_common_axes(rng):
    for _ in range(5):
        R1, R2, t = turning(rng), turning(rng), rng.normal()
        whole = vee(rate(lambda s: R1(s) @ R2(s), t) @ (R1(t) @ R2(t)).T)
        first, second = (vee(rate(R, t) @ R(t).T) for R in (R1, R2))
        assert_allclose(whole, first + R1(t) @ second, atol=1e-7)


# -- one body ---------------------------------------------------------------------------------------------------


@pytest.fixture
def cloud(rng):
    """Masses, places about the centre of mass, velocity of it and angular velocity of a rigid cloud."""
    m, r = rng.uniform(0.1, 1, 30), rng.normal(size=(30, 3))
    return m, r - m @ r / m.sum(), *rng.normal(size=(2, 3))


def cloud_energy(cloud, eps=1e-5):
    """½ Σ m |ṙ|² with every velocity from two positions of the moving cloud."""
    m, rho, v, omega = cloud
    places = [s * v + rho @ exp_so3(s * omega).T for s in (-eps, eps)]
    return np.sum(m * np.sum(((places[1] - places[0]) / (2 * eps))**2, axis=1)) / 2


@equation("eq-kinetic_matrix-three", r"""K = \tfrac12 \sum_k m_k |v_C|^2 + v_C \cdot \left( \omega \times \sum_k m_k \rho_k \right)
    + \tfrac12 \sum_k m_k |\omega \times \rho_k|^2 .""")
def test_the_middle_term_is_needed_about_any_other_point(cloud, rng):
    m, rho, v, omega = cloud
    shift = rng.normal(size=3)
    away, v_away = rho - shift, v + np.cross(omega, shift)
    turning_part = np.sum(m * np.sum(np.cross(omega, away)**2, axis=1)) / 2
    middle = v_away @ np.cross(omega, m @ away)
    assert_allclose(m.sum() * v_away @ v_away / 2 + middle + turning_part, cloud_energy(cloud), rtol=1e-6)
    assert abs(middle) > 1e-2


@equation("eq-kinetic_matrix-tensor", r"I_C = \sum_k m_k \left( |\rho_k|^2\, 1 - \rho_k \rho_k^\top \right) .")
@equation("eq-kinetic_matrix-koenig", r"K = \tfrac12\, m\, v_C^\top v_C + \tfrac12\, \omega^\top I_C\, \omega .")
def test_energy_of_a_body_is_that_of_its_particles(cloud):
    m, rho, v, omega = cloud
    I = sum(mass * (r @ r * np.eye(3) - np.outer(r, r)) for mass, r in zip(m, rho))
    assert_allclose(m.sum() * v @ v / 2 + omega @ I @ omega / 2, cloud_energy(cloud), rtol=1e-7)


@equation("eq-kinetic_matrix-rotated", r"{}^0\!I = R\, I\, R^\top .")
def test_the_tensor_turns_with_its_particles(cloud, rng):
    m, rho, *_ = cloud
    R = exp_so3(rng.normal(size=3))
    body, world = (sum(mass * skew(r).T @ skew(r) for mass, r in zip(m, places)) for places in (rho, rho @ R.T))
    assert_allclose(world, R @ body @ R.T, atol=1e-12)
    assert not np.allclose(world, body, atol=1e-2)


# -- arms -------------------------------------------------------------------------------------------------------


def com_jacobians(model, q, i):
    """J_v and J_ω of link i by differences of its positions and of its rotation."""
    r = model.bodies[i].inertia.com
    J_v = np.array([rate(lambda s: point(model, q + s * e, i, r), 0) for e in np.eye(model.n)]).T
    J_w = np.array([vee(rate(lambda s: poses(model, q + s * e)[i].R, 0) @ poses(model, q)[i].R.T) for e in np.eye(model.n)]).T
    return J_v, J_w


@equation("eq-kinetic_matrix-jacobians", r"v_{C_i} = J_{v,i}(q)\,\dot q , \qquad \omega_i = J_{\omega,i}(q)\,\dot q .")
def test_link_velocities_are_linear_in_the_joint_rates(tree, state):
    q, qd, _ = state
    for i in range(tree.N):
        r = tree.bodies[i].inertia.com
        J_v, J_w = com_jacobians(tree, q, i)
        assert_allclose(rate(lambda s: point(tree, q + s * qd, i, r), 0), J_v @ qd, atol=1e-6)
        R = poses(tree, q)[i].R
        assert_allclose(vee(rate(lambda s: poses(tree, q + s * qd)[i].R, 0) @ R.T), J_w @ qd, atol=1e-6)


@equation("eq-kinetic_matrix-columns", r"""\left( J_{v,i},\ J_{\omega,i} \right)_{\text{column } j} =
    \begin{cases}
    a_j \times (p_{C_i} - p_j),\quad a_j & \text{joint } j \text{ turns} \\
    a_j,\quad 0 & \text{joint } j \text{ slides} \\
    0,\quad 0 & \text{joint } j \text{ lies beyond link } i
    \end{cases}""")
def test_each_joint_gives_its_column(tree, state):
    q, *_ = state
    world = poses(tree, q)
    for i in range(tree.N):
        p_C = point(tree, q, i, tree.bodies[i].inertia.com)
        J_v, J_w = np.zeros((2, 3, tree.n))
        for j in tree.ancestors(i):
            a = world[j].R @ tree.bodies[j].joint.axis
            turns = tree.bodies[j].joint.kind == "revolute"
            J_v[:, j], J_w[:, j] = (np.cross(a, p_C - world[j].p), a) if turns else (a, 0)
        by_differences = com_jacobians(tree, q, i)
        assert_allclose(J_v, by_differences[0], atol=1e-7)
        assert_allclose(J_w, by_differences[1], atol=1e-7)


def jacobian_sum(model, q):
    """M from differenced Jacobians."""
    M = np.zeros((model.n, model.n))
    for i, (body, world) in enumerate(zip(model.bodies, poses(model, q))):
        (J_v, J_w), inertia = com_jacobians(model, q, i), body.inertia
        M += inertia.mass * J_v.T @ J_v + J_w.T @ world.R @ inertia.about_com @ world.R.T @ J_w
    return M


@equation("eq-kinetic_matrix-M", r"""M(q) = \sum_i \left( m_i\, J_{v,i}^\top J_{v,i} + J_{\omega,i}^\top R_i\, I_{C_i} R_i^\top J_{\omega,i} \right) .""")
def test_the_sum_over_links_is_the_matrix_of_composite_bodies(tree, state):
    assert_allclose(jacobian_sum(tree, state[0]), crba(tree, state[0]), atol=1e-7)


@pytest.mark.parametrize("identity", ["planar_2R", "RP_arm", "puma560", "ur5e_like"])
def test_the_sum_over_links_gives_published_matrices(identity):
    model, states = open_case(identity)
    for state in states[:2]:
        assert_allclose(jacobian_sum(model, state["q"]), state["M"], atol=1e-7)


@equation("eq-kinetic_matrix-K", r"K = \tfrac12\, \dot q^\top M(q)\, \dot q ,")
def test_half_the_quadratic_form_is_the_energy_of_the_arms_particles(rng):
    """Two bodies made of particles; every velocity from two positions."""
    clouds = [(rng.uniform(0.1, 1, 12), rng.normal(size=(12, 3))) for _ in range(2)]
    bodies = []
    for i, (m, r) in enumerate(clouds):
        com = m @ r / m.sum()
        tensor = sum(mass * skew(x).T @ skew(x) for mass, x in zip(m, r - com))
        bodies.append(Body(f"cloud {i}", i - 1, Joint("revolute", rng.normal(size=3)), inertia=Inertia(m.sum(), com, tensor),
                           placement=poses(puma560(), rng.normal(size=6))[3]))
    model = Model(tuple(bodies))
    for q, qd in rng.normal(size=(4, 2, 2)):
        def particles(s):
            return [r @ pose.R.T + pose.p for (_, r), pose in zip(clouds, poses(model, q + s * qd))]
        K = sum(np.sum(m * np.sum(((b - a) / (2 * EPS))**2, axis=1)) / 2
                for (m, _), a, b in zip(clouds, particles(-EPS), particles(EPS)))
        assert_allclose(qd @ crba(model, q) @ qd / 2, K, rtol=1e-7)


@equation("eq-kinetic_matrix-two", r"K = \tfrac12 M_{11}\, \dot q_1^2 + M_{12}\, \dot q_1 \dot q_2 + \tfrac12 M_{22}\, \dot q_2^2 .")
def test_products_keep_their_coefficient_and_squares_are_halved(rng):
    for model in (two_link(), rp_arm()):
        for q, qd in rng.normal(size=(5, 2, 2)):
            M = crba(model, q)
            K = M[0, 0] * qd[0]**2 / 2 + M[0, 1] * qd[0] * qd[1] + M[1, 1] * qd[1]**2 / 2
            assert_allclose(kinetic_energy(model, q, qd), K, rtol=1e-12)


@equation("eq-kinetic_matrix-hessian", r"M_{ij} = \frac{\partial^2 K}{\partial \dot q_i\, \partial \dot q_j} .")
def test_second_derivatives_of_the_energy_are_the_matrix(tree, state):
    q, qd, _ = state
    E = np.eye(tree.n)
    K = lambda u: kinetic_energy(tree, q, u)  # noqa: E731
    hessian = [[K(qd + a + b) - K(qd + a) - K(qd + b) + K(qd) for b in E] for a in E]
    assert_allclose(hessian, crba(tree, q), atol=1e-9)


@equation("eq-kinetic_matrix-free", r"\frac{\tau_1}{\ddot q_1} = M_{11} - \frac{M_{12}^2}{M_{22}} = \frac{1}{(M^{-1})_{11}} .")
def test_a_free_elbow_makes_the_shoulder_lighter(rng):
    model = two_link(g=0)
    for q in rng.normal(size=(6, 2)):
        qdd = aba(model, q, np.zeros(2), [1.0, 0.0])
        M = crba(model, q)
        assert_allclose(1 / qdd[0], M[0, 0] - M[0, 1]**2 / M[1, 1], rtol=1e-10)
        assert_allclose(1 / qdd[0], 1 / np.linalg.inv(M)[0, 0], rtol=1e-10)
        assert 1 / qdd[0] < M[0, 0]


def absolute_matrix(theta, l1=0.5, m1=3.0, m2=2.0, lc1=0.25, lc2=0.2, I1=0.0625, I2=2.0 * 0.4**2 / 12):
    """M of the two-link arm in absolute angles, from its velocities by hand."""
    coupling = m2 * l1 * lc2 * np.cos(theta[1] - theta[0])
    return np.array([[I1 + m1 * lc1**2 + m2 * l1**2, coupling], [coupling, I2 + m2 * lc2**2]])


@equation("eq-kinetic_matrix-absolute", r"M_q = T^\top M_\theta\, T , \qquad T = \begin{bmatrix} 1 & 0 \\ 1 & 1 \end{bmatrix} .")
def test_absolute_angles_carry_the_same_energy(rng):
    T = np.array([[1, 0], [1, 1]])
    for q in rng.normal(size=(6, 2)):
        assert_allclose(T.T @ absolute_matrix(T @ q) @ T, crba(two_link(), q), atol=1e-12)


@equation("eq-kinetic_matrix-forces", r"\tau_q = T^\top \tau_\theta .")
def test_joint_forces_change_so_that_the_motion_does_not(rng):
    """From rest without gravity: the same torques, in either set of angles, give one and the same acceleration."""
    T = np.array([[1, 0], [1, 1]])
    for q, tau_theta in rng.normal(size=(6, 2, 2)):
        by_joints = aba(two_link(g=0), q, np.zeros(2), T.T @ tau_theta)
        by_absolute = np.linalg.solve(absolute_matrix(T @ q), tau_theta)
        assert_allclose(T @ by_joints, by_absolute, rtol=1e-10)


# -- results of the chapter that are not labelled ---------------------------------------------------------------


def test_the_tip_jacobian_makes_the_arm_three_times_too_heavy():
    arm, q = two_link(1, 1, 1, 1), [0.3, 0.7]
    J = point_jacobian(arm, q, 1, [1, 0, 0])
    wrong = 2 * J.T @ J + np.diag([1 / 12, 0]) + np.ones((2, 2)) / 12
    assert_allclose(wrong[0, 0], 7.2260, atol=5e-5)
    assert_allclose(crba(arm, q)[0, 0], 2.4315, atol=5e-5)


def test_a_puma_with_unrotated_inertias_is_wrong_by_an_eighth(rng):
    puma, errors = puma560(), []
    for q in rng.uniform(-np.pi, np.pi, (60, 6)):
        M, wrong = crba(puma, q), crba(puma, q)
        for i, (body, world) in enumerate(zip(puma.bodies, poses(puma, q))):
            J_w, I = world.R @ body_jacobian(puma, q, i)[:3], body.inertia.about_com
            wrong = wrong + J_w.T @ (I - world.R @ I @ world.R.T) @ J_w
        errors.append(np.linalg.norm(wrong - M) / np.linalg.norm(M))
    assert 0.09 < np.median(errors) < 0.15 and 0.22 < max(errors) < 0.3


def test_momenta_are_the_matrix_times_the_rates():
    arm = two_link(*sympy.symbols("l1 l2 m1 m2 lc1 lc2 I1 I2 g", positive=True))
    q, qd = sympy.symbols("q1:3", real=True), sympy.symbols("qd1:3", real=True)
    K, M = kinetic_energy(arm, list(q), list(qd)), sympy.Matrix(crba(arm, list(q)))
    p = sympy.Matrix([K.diff(rate) for rate in qd])
    assert (p - M * sympy.Matrix(qd)).applyfunc(sympy.simplify) == sympy.zeros(2, 1)
    assert sympy.simplify(K.subs({rate: 2 * rate for rate in qd}, simultaneous=True) - 4 * K) == 0


def test_turning_a_whole_arm_about_its_first_joint_changes_no_element(rng):
    for q in rng.normal(size=(4, 6)):
        assert_allclose(crba(puma560(), q + [1.3, 0, 0, 0, 0, 0]), crba(puma560(), q), atol=1e-12)
