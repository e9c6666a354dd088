"""The labelled equations of the chapter on forward dynamics, each by an independent route."""

import numpy as np
import pytest
from book_equations import equation
from numpy.testing import assert_allclose

from lagrangebook.forward import aba
from lagrangebook.kinematics import kinetic_energy
from lagrangebook.mass_matrix import coriolis, crba, gravity
from lagrangebook.model import Body, Joint, Model
from lagrangebook.newton_euler import rnea
from lagrangebook.spatial import Pose
from random_models import random_inertia, random_state, random_tree


@pytest.fixture
def rng():
    return np.random.default_rng(2)


@pytest.fixture(params=range(3))
def robot(request):
    return random_tree(np.random.default_rng(request.param), 6)


@equation("eq-forward-solve", r"M(q)\,\ddot q = \tau - C(q,\dot q)\,\dot q - G(q)")
def test_articulated_bodies_solve_the_standard_form(robot, rng):
    q, qd, tau = random_state(robot, rng)
    qdd = aba(robot, q, qd, tau)
    assert_allclose(crba(robot, q) @ qdd, tau - coriolis(robot, q, qd) @ qd - gravity(robot, q), atol=1e-9)


@equation("eq-forward-columns", r"M e_j = \mathrm{rnea}(q, \dot q, e_j) - \mathrm{rnea}(q, \dot q, 0)")
def test_columns_of_the_mass_matrix_are_those_of_the_kinetic_energy(robot, rng):
    """K is quadratic, so its second differences are exact: M_ij = K(e_i + e_j) − K(e_i) − K(e_j)."""
    q, qd, _ = random_state(robot, rng)
    e, K = np.eye(robot.n), lambda v: kinetic_energy(robot, q, v)
    hessian = np.array([[K(a + b) - K(a) - K(b) for a in e] for b in e])
    columns = np.array([rnea(robot, q, qd, a) - rnea(robot, q, qd, 0 * a) for a in e]).T
    assert_allclose(columns, hessian, atol=1e-10)


@equation("eq-forward-composite", r"I^c_p \leftarrow I^c_p + X_i^T I^c_i X_i")
def test_a_composite_is_the_sum_of_two_clouds(rng):
    """The momentum of two bodies that move as one, each from its own frame."""
    a, b, v = random_inertia(rng), random_inertia(rng), rng.normal(size=6)
    from lagrangebook.spatial import exp_so3
    pose = Pose(exp_so3(rng.normal(size=3)), rng.normal(size=3))
    composite = a.matrix + pose.X.T @ b.matrix @ pose.X
    assert_allclose(composite @ v, (a + b.moved(pose)).matrix @ v, atol=1e-12)


@equation("eq-forward-crba", r"M_{jj} = S_j^T I^c_j S_j, \qquad M_{ij} = S_i^T\, {}^{i}F")
def test_composite_bodies_give_the_hessian_of_the_kinetic_energy(robot, rng):
    q, *_ = random_state(robot, rng)
    e, K = np.eye(robot.n), lambda v: kinetic_energy(robot, q, v)
    assert_allclose(crba(robot, q), [[K(a + b) - K(a) - K(b) for a in e] for b in e], atol=1e-10)


@equation("eq-forward-articulated", r"\left( I_2 - \frac{I_2 S\, S^T I_2}{S^T I_2 S} \right) a")
def test_the_articulated_inertia_is_the_least_energy_over_the_free_joint(rng):
    """½ aᵀIᴬa = min over q̈ of ½ (a + S q̈)ᵀ I (a + S q̈), by a search."""
    from scipy.optimize import minimize_scalar
    I = random_inertia(rng).matrix
    for a, S in rng.normal(size=(10, 2, 6)):
        IA = I - np.outer(I @ S, I @ S) / (S @ I @ S)
        least = minimize_scalar(lambda x, a=a, S=S: (a + S * x) @ I @ (a + S * x)).fun
        assert_allclose(a @ IA @ a, least, rtol=1e-6, atol=1e-9)


def test_the_wrist_without_mass_is_refused_at_gimbal_lock_only():
    from lagrangebook.inertia import Inertia
    empty = Inertia(0.0, np.zeros(3), np.zeros((3, 3)))
    hand = Inertia(1.0, np.array([0, 0, 0.1]), np.diag([0.02, 0.03, 0.01]))
    wrist = Model((Body("roll", -1, Joint("revolute"), Pose(), empty),
                   Body("pitch", 0, Joint("revolute", (0, 1, 0)), Pose(), empty),
                   Body("hand", 1, Joint("revolute"), Pose(), hand)), name="wrist")
    q = np.array([0.1, 0.8, 0.3])
    tau = np.array([0.1, -0.2, 0.05])
    assert_allclose(rnea(wrist, q, np.zeros(3), aba(wrist, q, np.zeros(3), tau)), tau, atol=1e-12)
    with pytest.raises(np.linalg.LinAlgError, match="'roll' has no inertia to move at q = "):
        aba(wrist, [0.1, 0.0, 0.3], np.zeros(3), tau)
