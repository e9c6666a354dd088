"""The laws of one rigid body against clouds of points that know nothing of tensors, and against finite differences."""

import numpy as np
import pytest
from book_equations import equation
from numpy.testing import assert_allclose

from lagrangebook.inertia import Inertia, rod
from lagrangebook.model import GROUND, Body, Joint, Model
from lagrangebook.newton_euler import rnea
from lagrangebook.simulate import simulate
from lagrangebook.spatial import Pose, exp_so3, skew
from lagrangebook.standard_form import of_model

TENSORS = {  # reported fault I04: principal moments and whether a body can have them
    "ordinary": ([[0.1, 0.01, 0.0], [0.01, 0.12, 0.005], [0.0, 0.005, 0.15]],
                 (0.09578937761977309, 0.12334554334794379, 0.1508650790322831), True),
    "long third axis": ([[0.1, 0.03, 0.02], [0.03, 0.12, 0.03], [0.02, 0.03, 0.24]],
                        (0.07836494177753688, 0.12984098826160703, 0.25179406996085607), False),
    "large product": ([[0.1, 0.15, 0.0], [0.15, 0.12, 0.0], [0.0, 0.0, 0.15]],
                      (-0.040332963783729074, 0.15, 0.2603329637837291), False),
    "flat plate": ([[0.02, 0.0, 0.0], [0.0, 0.03, 0.0], [0.0, 0.0, 0.05]], (0.02, 0.03, 0.05), True),
    "fair diagonal": ([[0.1, 0.01, 0.02], [0.01, 0.2, 0.03], [0.02, 0.03, 0.3]],
                      (0.09751942173260322, 0.19188291125626034, 0.31059766701113645), False)}


@pytest.fixture
def cloud(rng):
    """(masses, points): fourteen masses, their origin not at their centre."""
    return rng.uniform(0.1, 1.0, 14), rng.normal(size=(14, 3)) + [0.4, -0.2, 0.3]


def com(cloud):
    masses, points = cloud
    return masses @ points / masses.sum()


def about(cloud, origin):
    """The tensor about a point, from the angular momentum of the cloud in three unit rotations."""
    masses, points = cloud
    s = points - origin
    return np.column_stack([(masses[:, None] * np.cross(s, np.cross(e, s))).sum(axis=0) for e in np.eye(3)])


def effort(cloud, origin, a_origin, omega, alpha):
    """(moment about the origin, force) that the motion of the cloud takes, mass by mass."""
    masses, points = cloud
    s = points - origin
    forces = masses[:, None] * (a_origin + np.cross(alpha, s) + np.cross(omega, np.cross(omega, s)))
    return np.cross(s, forces).sum(axis=0), forces.sum(axis=0)


@equation("eq-rigid_body-tensor", r"I_O = \sum_k m_k \left( r_k^T r_k\, \mathbf 1 - r_k r_k^T \right)")
def test_the_tensor_is_the_angular_momentum_of_the_cloud_per_rotation(cloud):
    masses, points = cloud
    printed = sum(mass * (r @ r * np.eye(3) - np.outer(r, r)) for mass, r in zip(masses, points))
    assert_allclose(printed, about(cloud, np.zeros(3)), atol=1e-12)


@equation("eq-rigid_body-rotated", r"I' = R\, I\, R^T")
def test_the_tensor_of_the_turned_cloud(cloud, rng):
    masses, points = cloud
    R = exp_so3(rng.normal(size=3))
    I = about(cloud, np.zeros(3))
    assert_allclose(about((masses, points @ R.T), np.zeros(3)), R @ I @ R.T, atol=1e-12)


@equation("eq-rigid_body-triangle", r"A + B - C = 2 \sum_k m_k\, z_k^2 \;\ge\; 0")
def test_the_slack_of_the_triangle_inequality_is_the_spread_along_the_largest_axis(cloud):
    masses, points = cloud
    (A, B, C), axes = np.linalg.eigh(about(cloud, com(cloud)))
    z = (points - com(cloud)) @ axes[:, 2]
    assert_allclose(A + B - C, 2 * masses @ z**2, atol=1e-12)


@equation("eq-rigid_body-parallel", r"I_O = I_C + m \left( c^T c\, \mathbf 1 - c\, c^T \right)")
def test_the_parallel_axis_theorem_on_a_cloud(cloud):
    c, m = com(cloud), cloud[0].sum()
    printed = about(cloud, c) + m * (c @ c * np.eye(3) - np.outer(c, c))
    assert_allclose(printed, about(cloud, np.zeros(3)), atol=1e-12)
    assert_allclose(Inertia(m, c, about(cloud, c)).about_origin, printed, atol=1e-12)


@equation("eq-rigid_body-newton", r"f = m\, a_C")
@equation("eq-rigid_body-euler", r"n_C = I_C\, \alpha + \omega \times I_C\, \omega")
def test_the_efforts_of_the_masses_add_up_to_newton_and_euler(cloud, rng):
    a_C, omega, alpha = rng.normal(size=(3, 3))
    moment, force = effort(cloud, com(cloud), a_C, omega, alpha)
    I = about(cloud, com(cloud))
    assert_allclose(force, cloud[0].sum() * a_C, atol=1e-12)
    assert_allclose(moment, I @ alpha + np.cross(omega, I @ omega), atol=1e-12)


@equation("eq-rigid_body-Idot", r"\dot I_C = \omega^\times I_C - I_C\, \omega^\times")
def test_the_tensor_in_world_axes_turns_with_the_body(cloud, rng, eps=1e-6):
    masses, points = cloud
    omega, s = rng.normal(size=3), points - com(cloud)
    after, before = (about((masses, s @ exp_so3(sign * eps * omega).T), np.zeros(3)) for sign in (1, -1))
    I = about(cloud, com(cloud))
    assert_allclose(skew(omega) @ I - I @ skew(omega), (after - before) / (2 * eps), atol=1e-7)


@equation("eq-rigid_body-growth", r"\mu^2 = \Omega^2\, \frac{(B - A)(C - B)}{A\, C}")
def test_small_errors_of_a_spin_about_the_middle_axis_grow_at_the_printed_rate():
    A, B, C, Omega = 1.0, 1.7, 2.2, 3.0
    mu = Omega * np.sqrt((B - A) * (C - B) / (A * C))
    body = Model((Body("body", GROUND, Joint("spherical"), Pose(), Inertia(1.0, np.zeros(3), np.diag([A, B, C]))),), (0, 0, 0))
    t = np.linspace(0, 2.5 / mu, 20)
    run = simulate(of_model(body), [0, 0, 0, 1], [1e-5, Omega, 0], t, method="DOP853", rtol=1e-11, atol=1e-14)
    assert_allclose(run.qd[:, 0], 1e-5 * np.cosh(mu * t), rtol=1e-4)


@equation("eq-rigid_body-moving", r"n_O = I_O\, \alpha + \omega \times I_O\, \omega + m\, c \times a_O")
def test_moments_about_an_accelerating_point_of_the_body(cloud, rng):
    a_O, omega, alpha = rng.normal(size=(3, 3))
    moment, _ = effort(cloud, np.zeros(3), a_O, omega, alpha)
    I, m, c = about(cloud, np.zeros(3)), cloud[0].sum(), com(cloud)
    assert_allclose(I @ alpha + np.cross(omega, I @ omega) + m * np.cross(c, a_O), moment, atol=1e-12)
    assert np.abs(m * np.cross(c, a_O)).max() > 0.1


@equation("eq-rigid_body-body-newton", r"f = m\, (\dot v + \omega \times v)")
def test_newtons_law_in_body_axes_is_that_of_the_world(rng, eps=1e-5):
    """A body on a curved path with turning axes: m times the second derivative of its place, carried into its axes."""
    m, w, w_dot, v, v_dot = 1.3, *rng.normal(size=(4, 3))

    def motion(t, steps=200):                       # world velocity at t, by small turns with ω(t) = w + w_dot t
        R, dt = np.eye(3), t / steps
        for k in range(steps):
            R = R @ exp_so3((w + w_dot * (k + 0.5) * dt) * dt)
        return R @ (v + v_dot * t)

    world = m * (motion(eps) - motion(-eps)) / (2 * eps)
    assert_allclose(m * (v_dot + np.cross(w, v)), world, atol=1e-6)
    body = Model((Body("body", GROUND, Joint("free"), Pose(), Inertia(m, np.zeros(3), np.eye(3))),), (0, 0, 0))
    assert_allclose(rnea(body, [0, 0, 0, 0, 0, 0, 1], [*w, *v], [*w_dot, *v_dot])[3:], world, atol=1e-6)


# -- what the chapter states in numbers -----------------------------------------------------------------------

@pytest.mark.parametrize("name", TENSORS)
def test_which_tensors_can_exist(name):
    tensor, moments, possible = TENSORS[name]
    assert_allclose(np.linalg.eigvalsh(tensor), moments, rtol=0, atol=1e-12)
    assert Inertia(1.0, np.zeros(3), np.array(tensor)).is_physical == possible


def test_a_wrong_sign_on_the_way_in_makes_a_possible_body(cloud):
    c, m = com(cloud), cloud[0].sum()
    shift = m * (c @ c * np.eye(3) - np.outer(c, c))
    assert Inertia(m, c, about(cloud, np.zeros(3)) + shift).is_physical
    thin = rod(1.0, 1.0)
    assert not Inertia(1.0, np.zeros(3), thin.about_com - (thin.about_origin - thin.about_com)).is_physical


def test_gyroscopic_moments_do_no_work(cloud, rng):
    omega, I = rng.normal(size=3), about(cloud, com(cloud))
    assert abs(omega @ np.cross(omega, I @ omega)) < 1e-12 < np.abs(np.cross(omega, I @ omega)).max()
