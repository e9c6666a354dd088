"""The labelled equations of the chapter on robots from tables and files, each by an independent route."""

import numpy as np
import pytest
from book_equations import equation
from numpy.testing import assert_allclose

from lagrangebook.inertia import Inertia
from lagrangebook.kinematics import poses
from lagrangebook.model import DHRow, from_dh, from_poe
from lagrangebook.spatial import Pose, exp_so3, rotation, rpy
from random_models import random_inertia


@pytest.fixture
def rng():
    return np.random.default_rng(9)


def homogeneous(R=np.eye(3), p=(0, 0, 0)):
    return np.block([[R, np.array(p, dtype=float)[:, None]], [np.zeros((1, 3)), np.ones((1, 1))]])


def printed_matrix(a, alpha, d, theta):
    """The standard DH matrix written out, element by element."""
    c, s, ca, sa = np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha)
    return np.array([[c, -s * ca, s * sa, a * c], [s, c * ca, -c * sa, a * s], [0, sa, ca, d], [0, 0, 0, 1]])


@equation("eq-robot_files-standard", r"A_i = R_z(\theta_i)\,T_z(d_i)\,T_x(a_i)\,R_x(\alpha_i)")
def test_the_standard_product_is_the_matrix_written_out(rng):
    for a, alpha, d, theta in rng.normal(size=(10, 4)):
        product = (homogeneous(rotation((0, 0, 1), theta)) @ homogeneous(p=(0, 0, d)) @ homogeneous(p=(a, 0, 0))
                   @ homogeneous(rotation((1, 0, 0), alpha)))
        assert_allclose(product, printed_matrix(a, alpha, d, theta), atol=1e-14)


@equation("eq-robot_files-modified", r"A_i = R_x(\alpha_{i-1})\,T_x(a_{i-1})\,R_z(\theta_i)\,T_z(d_i)")
def test_the_frames_of_a_modified_table_are_the_bodies_frames(rng):
    rows, q = rng.normal(size=(3, 4)), rng.normal(size=3)
    model = from_dh([DHRow(a, alpha, d, theta, random_inertia(rng)) for a, alpha, d, theta in rows], "modified")
    chain = np.eye(4)
    for (a, alpha, d, theta), angle, pose in zip(rows, q, poses(model, q)):
        chain = (chain @ homogeneous(rotation((1, 0, 0), alpha)) @ homogeneous(p=(a, 0, 0))
                 @ homogeneous(rotation((0, 0, 1), theta + angle)) @ homogeneous(p=(0, 0, d)))
        assert_allclose(chain, homogeneous(pose.R, pose.p), atol=1e-13)


@equation("eq-robot_files-moved", r"c' = R\,c + p, \qquad I_C' = R\,I_C\,R^T")
def test_a_moved_inertia_is_that_of_the_moved_points(rng):
    masses, r = rng.uniform(0.1, 1, 6), rng.normal(size=(6, 3))
    pose = Pose(exp_so3(rng.normal(size=3)), rng.normal(size=3))

    def of_points(points):
        com = masses @ points / masses.sum()
        s = points - com
        return Inertia(masses.sum(), com, sum(m * ((x @ x) * np.eye(3) - np.outer(x, x)) for m, x in zip(masses, s)))

    moved, again = of_points(r).moved(pose), of_points(r @ pose.R.T + pose.p)
    assert_allclose(moved.com, again.com, atol=1e-13)
    assert_allclose(moved.about_com, again.about_com, atol=1e-12)


@equation("eq-robot_files-screw", r"v = -\omega \times r")
def test_a_screw_keeps_the_points_of_its_axis_at_rest(rng):
    for w, r in rng.normal(size=(10, 2, 3)):
        w, v = w / np.linalg.norm(w), -np.cross(w / np.linalg.norm(w), r)
        for along in (0, 1.7):
            assert_allclose(v + np.cross(w, r + along * w), 0, atol=1e-13)
        arm = from_poe([np.concatenate([w, v])], [random_inertia(rng)], [Pose()])
        axis_point = poses(arm, [0.9])[0].p
        assert_allclose(np.cross(w, axis_point - r), 0, atol=1e-12)


@equation("eq-robot_files-rpy", r"R = R_z(\mathrm{yaw})\,R_y(\mathrm{pitch})\,R_x(\mathrm{roll})")
def test_roll_pitch_yaw_turn_about_fixed_axes_in_that_order(rng):
    for roll, pitch, yaw in rng.normal(size=(10, 3)):
        x = rng.normal(size=3)
        turned = exp_so3([0, 0, yaw]) @ (exp_so3([0, pitch, 0]) @ (exp_so3([roll, 0, 0]) @ x))
        assert_allclose(rpy(roll, pitch, yaw) @ x, turned, atol=1e-13)


@equation("eq-robot_files-triangle", r"I_1 + I_2 \ge I_3")
def test_the_moments_of_any_point_cloud_keep_the_triangle_inequality(rng):
    for _ in range(20):
        m = np.linalg.eigvalsh(random_inertia(rng).about_com)
        assert m[0] + m[1] >= m[2] - 1e-12
    assert not Inertia(1.0, np.zeros(3), np.diag([1.0, 1.0, 2.1])).is_physical
