"""Rotations, poses and spatial vectors against their definitions: points that move, powers, series."""

import numpy as np
import pytest
import sympy
from numpy.testing import assert_allclose
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

from lagrangebook.spatial import (Pose, cos_sin, crf, crm, exp_so3, log_so3, quaternion_exp, quaternion_log,
                                  quaternion_matrix, quaternion_of, quaternion_product, rotation, rpy, skew, solve,
                                  vee)


@pytest.fixture
def pose(rng):
    return Pose(exp_so3(rng.normal(size=3)), rng.normal(size=3))


def velocity_of_point(v, r):
    """Velocity of the point r of a frame with spatial velocity v = (ω; v_O)."""
    return v[3:] + np.cross(v[:3], r)


# -- rotations ---------------------------------------------------------------------------------------------

def test_skew_is_the_cross_product_and_vee_takes_it_back(rng):
    u, v = rng.normal(size=(2, 3))
    assert_allclose(skew(u) @ v, np.cross(u, v), atol=1e-14)
    assert_allclose(vee(skew(u)), u, atol=1e-15)


def test_a_quarter_turn_about_z_takes_x_to_y():
    assert_allclose(rotation((0, 0, 1), np.pi / 2) @ [1, 0, 0], [0, 1, 0], atol=1e-15)


def test_rotation_is_the_exponential_of_the_cross_product_matrix(rng):
    for _ in range(20):
        axis = rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        angle = rng.uniform(-9, 9)
        assert_allclose(rotation(axis, angle), expm(skew(axis) * angle), atol=1e-13)
        assert_allclose(exp_so3(axis * angle), expm(skew(axis) * angle), atol=1e-13)


def test_roll_pitch_yaw_turn_about_fixed_axes_in_this_order(rng):
    r, p, y = rng.uniform(-3, 3, 3)
    assert_allclose(rpy(r, p, y), Rotation.from_euler("xyz", [r, p, y]).as_matrix(), atol=1e-14)


def test_the_logarithm_undoes_the_exponential_from_no_turn_to_a_half_turn(rng):
    for angle in (0, 1e-12, 1e-9, 1e-4, 1, 3, np.pi - 1e-9):
        axis = rng.normal(size=3)
        w = angle * axis / np.linalg.norm(axis)
        assert_allclose(log_so3(exp_so3(w)), w, atol=1e-12)
        assert_allclose(quaternion_log(quaternion_exp(w)), w, atol=1e-14)
        assert_allclose(quaternion_log(-quaternion_exp(w)), w, atol=1e-14)


def test_half_turns_about_every_axis_have_a_logarithm(rng):
    for axis in [*np.eye(3), *rng.normal(size=(10, 3))]:
        axis = axis / np.linalg.norm(axis)
        R = 2 * np.outer(axis, axis) - np.eye(3)
        assert_allclose(exp_so3(log_so3(R)), R, atol=1e-12)


def test_quaternions_are_those_of_scipy(rng):
    for quat in rng.normal(size=(20, 4)):
        quat /= np.linalg.norm(quat)
        assert_allclose(quaternion_matrix(quat), Rotation.from_quat(quat).as_matrix(), atol=1e-14)
        assert_allclose(quaternion_of(quaternion_matrix(quat)) * np.sign(quat[3]), quat, atol=1e-14)


def test_a_product_of_quaternions_turns_like_the_product_of_matrices(rng):
    a, b = (quat / np.linalg.norm(quat) for quat in rng.normal(size=(2, 4)))
    assert_allclose(quaternion_matrix(quaternion_product(a, b)), quaternion_matrix(a) @ quaternion_matrix(b), atol=1e-14)


# -- poses and spatial vectors -----------------------------------------------------------------------------

def test_a_pose_maps_points_of_the_body_to_the_parent(pose, rng):
    other, r = Pose(exp_so3(rng.normal(size=3)), rng.normal(size=3)), rng.normal(size=3)

    def seen(frame, r):
        return frame.R @ r + frame.p

    assert_allclose(seen(pose @ other, r), seen(pose, seen(other, r)), atol=1e-14)
    assert_allclose(seen(pose.inverse, seen(pose, r)), r, atol=1e-14)


def test_X_gives_the_same_velocity_field_seen_from_the_body(pose, rng):
    v, r = rng.normal(size=6), rng.normal(size=3)
    in_body = pose.X @ v
    assert_allclose(pose.R @ velocity_of_point(in_body, r), velocity_of_point(v, pose.R @ r + pose.p), atol=1e-14)
    assert_allclose(pose.R @ in_body[:3], v[:3], atol=1e-14)


def test_X_transposed_carries_a_force_back_with_the_moment_of_its_lever_arm(pose, rng):
    n, f = rng.normal(size=(2, 3))
    moment, force = np.split(pose.X.T @ np.concatenate([n, f]), 2)
    assert_allclose(force, pose.R @ f, atol=1e-14)
    assert_allclose(moment, pose.R @ n + np.cross(pose.p, pose.R @ f), atol=1e-14)


def test_power_is_the_same_in_every_frame(pose, rng):
    v, f = rng.normal(size=(2, 6))
    assert_allclose((pose.X @ v) @ f, v @ (pose.X.T @ f), atol=1e-14)


def test_X_of_a_product_is_the_product_in_reverse(pose, rng):
    other = Pose(exp_so3(rng.normal(size=3)), rng.normal(size=3))
    assert_allclose((pose @ other).X, other.X @ pose.X, atol=1e-14)
    assert_allclose(pose.inverse.X @ pose.X, np.eye(6), atol=1e-14)


def test_the_spatial_cross_product_is_the_rate_of_change_in_a_moving_frame(rng, eps=1e-6):
    """A frame that moves with v sees a vector at rest change by −v ×; a force by −v ×*."""
    v, u, f = rng.normal(size=(3, 6))
    moved = [Pose(exp_so3(v[:3] * h), v[3:] * h) for h in (eps, -eps)]
    assert_allclose((moved[0].X @ u - moved[1].X @ u) / (2 * eps), -crm(v) @ u, atol=1e-8)
    assert_allclose((moved[0].inverse.X.T @ f - moved[1].inverse.X.T @ f) / (2 * eps), -crf(v) @ f, atol=1e-8)


def test_a_motion_crossed_with_itself_vanishes_and_jacobi_holds(rng):
    u, v, w = rng.normal(size=(3, 6))
    assert_allclose(crm(v) @ v, 0, atol=1e-14)
    assert_allclose(crm(u) @ crm(v) @ w - crm(v) @ crm(u) @ w, crm(crm(u) @ v) @ w, atol=1e-13)


# -- the two seams -----------------------------------------------------------------------------------------

class Dial:
    """A scalar that only knows its own cosine and sine."""

    def cos(self):
        return "c"

    def sin(self):
        return "s"


def test_cosine_and_sine_of_every_scalar():
    x = sympy.Symbol("x")
    assert_allclose(cos_sin(0.3), (np.cos(0.3), np.sin(0.3)), atol=0)
    assert_allclose(cos_sin(np.float64(0.3)), (np.cos(0.3), np.sin(0.3)), atol=0)
    assert cos_sin(np.int64(0)) == (1, 0)
    assert cos_sin(x) == (sympy.cos(x), sympy.sin(x))
    assert cos_sin(sympy.pi) == (-1, 0)
    assert cos_sin(Dial()) == ("c", "s")


def test_floats_and_exact_numbers_solve_to_the_same(rng):
    L = rng.integers(-3, 4, (5, 5)) + 4 * np.eye(5, dtype=int)
    A, b, B = L @ L.T, rng.integers(-5, 5, 5), rng.integers(-5, 5, (5, 2))

    def exact(array):
        return np.array([sympy.Integer(int(x)) for x in array.ravel()], dtype=object).reshape(array.shape)

    for right in (b, B):
        x = solve(exact(A), exact(right))
        assert np.all(A @ x - right == 0) and x.shape == right.shape
        assert_allclose(solve(A.astype(float), right.astype(float)), x.astype(float), rtol=1e-10)


def test_symbols_solve_like_their_numbers(rng):
    a, b, c = sympy.symbols("a b c", positive=True)
    A = np.array([[a + 2, b, 0], [b, c + 3, 1], [0, 1, 4]], dtype=object)
    r = np.array([1, a, b], dtype=object)
    at = {a: 0.7, b: -0.4, c: 1.3}
    number = np.vectorize(lambda x: float(sympy.sympify(x).subs(at)))
    assert_allclose(number(solve(A, r)), np.linalg.solve(number(A), number(r)), atol=1e-13)


@pytest.mark.parametrize("unit", [1.0, 1e-9, 1e12])
def test_a_system_is_solved_alike_in_every_unit(unit, rng):
    L = rng.normal(size=(4, 4))
    A, D = L @ L.T + np.eye(4), np.diag([unit, 1, unit, 1])
    b = rng.normal(size=4)
    assert_allclose(D @ solve(D @ A @ D, D @ b), np.linalg.solve(A, b), rtol=1e-10)


@pytest.mark.parametrize("A", [[[1.0, 1.0], [1.0, 1.0]], [[1.0, 2.0], [2.0, 1.0]], [[0.0, 0.0], [0.0, 1.0]],
                               [[-1.0, 0.0], [0.0, 1.0]], [[np.nan, 0.0], [0.0, 1.0]], [[np.inf, 0.0], [0.0, 1.0]]])
def test_no_singular_system_is_solved_in_silence(A):
    with pytest.raises(np.linalg.LinAlgError):
        solve(np.array(A), np.ones(2))
