"""The labelled equations of the chapter on the floating base, each by an independent route."""

import numpy as np
import pytest
import sympy
from book_equations import equation
from numpy.testing import assert_allclose

from lagrangebook.forward import aba
from lagrangebook.kinematics import center_of_mass, centroidal_momentum, mass, point, point_jacobian, poses
from lagrangebook.lagrange import coordinates, kinetic_matrix
from lagrangebook.mass_matrix import crba
from lagrangebook.mechanisms import biped
from lagrangebook.newton_euler import rnea
from random_models import random_state


@pytest.fixture
def rng():
    return np.random.default_rng(8)


def foot_wrench(model, q, body, r, force):
    """(moment; force) in the body's frame of a world force at the point r of the body."""
    f = poses(model, q)[model.index(body)].R.T @ force
    return np.concatenate([np.cross(r, f), f])


@equation("eq-floating_base-standard", r"M \ddot q + h = \begin{bmatrix} 0 \\ u \end{bmatrix} + J_c^T \lambda")
def test_contact_forces_enter_by_their_jacobian(rng):
    """The same forces as wrenches in the articulated-body recursion."""
    robot = biped()
    q, qd, _ = random_state(robot, rng)
    u, forces, r = np.concatenate([np.zeros(6), rng.normal(size=12)]), rng.normal(0, 50, (2, 3)), np.array([0.05, 0, -0.07])
    J = np.vstack([point_jacobian(robot, q, f"{side} foot", r) for side in ("left", "right")])
    qdd = np.linalg.solve(crba(robot, q), u + J.T @ forces.ravel() - rnea(robot, q, qd, np.zeros(18)))
    external = {f"{side} foot": foot_wrench(robot, q, f"{side} foot", r, f) for side, f in zip(("left", "right"), forces)}
    assert_allclose(aba(robot, q, qd, u, external=external), qdd, rtol=1e-8, atol=1e-7)


@equation("eq-floating_base-centroidal", r"\sum f = m\,(\ddot c - g), \qquad \sum (r - c)\times f = \dot L")
def test_ground_forces_change_the_momentum_of_the_whole(rng, eps=1e-6):
    robot = biped(arms=True)
    q, qd, _ = random_state(robot, rng)
    force, r = rng.normal(0, 100, 3), np.array([0.05, 0.01, -0.07])
    tau = np.concatenate([np.zeros(6), rng.normal(size=16)])
    qdd = aba(robot, q, qd, tau, external={"left foot": foot_wrench(robot, q, "left foot", r, force)})

    def momentum(t):
        return centroidal_momentum(robot, robot.integrate(q, qd, t), qd + qdd * t)

    rate = (momentum(eps) - momentum(-eps)) / (2 * eps)
    lever = point(robot, q, "left foot", r) - center_of_mass(robot, q)
    assert_allclose(rate[3:], force + mass(robot) * robot.gravity, atol=2e-4)
    assert_allclose(rate[:3], np.cross(lever, force), atol=2e-4)


@equation("eq-floating_base-schur", r"\bar M = M_{jj} - M_{jb} M_{bb}^{-1} M_{bj}")
def test_the_reduced_matrix_is_the_inverse_of_the_joints_block_of_the_inverse(rng):
    robot = biped()
    M = crba(robot, random_state(robot, rng)[0])
    reduced = M[6:, 6:] - M[6:, :6] @ np.linalg.solve(M[:6, :6], M[:6, 6:])
    assert_allclose(reduced @ np.linalg.inv(M)[6:, 6:], np.eye(12), atol=1e-8)


@equation("eq-floating_base-rotor", r"I_r \begin{bmatrix} 1 & N \\ N & N^2 \end{bmatrix}")
def test_the_rotor_block_is_the_hessian_of_the_rotors_energy():
    I_r, N = sympy.symbols("I_r N", positive=True)
    _, qd, _ = coordinates("q", 2)
    assert kinetic_matrix(I_r * (qd[0] + N * qd[1])**2 / 2, qd) == I_r * sympy.Matrix([[1, N], [N, N**2]])
