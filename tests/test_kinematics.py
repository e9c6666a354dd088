"""Points, Jacobians, energies and momenta against reference data, against differences of motion and against physics."""

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from random_models import any_tree
from reference import assert_close, open_case, open_case_names

from lagrangebook.forward import aba
from lagrangebook.kinematics import (body_jacobian, center_of_mass, centroidal_momentum, kinetic_energy, mass, point,
                                     point_bias, point_jacobian, poses, potential_energy, velocities)
from lagrangebook.mass_matrix import crba
from lagrangebook.mechanisms import biped, rp_arm, two_link
from lagrangebook.model import GROUND, Model
from lagrangebook.spatial import vee

few = settings(max_examples=25, deadline=None, derandomize=True)
seeds = st.integers(0, 2**32 - 1)
eps = 1e-6


# -- published numbers -------------------------------------------------------------------------------------

@pytest.mark.parametrize("name", open_case_names())
def test_points_jacobians_energies_and_momenta_of_the_reference(name):
    model, states = open_case(name)
    for s in states:
        q, qd, body = s["q"], s["qd"], s["point"]["body"]
        assert_close(point(model, q, body, s["point"]["local"]), s["point"]["position"])
        assert_close(point_jacobian(model, q, body, s["point"]["local"]), s["J"][:3])
        assert_close(poses(model, q)[body].R @ body_jacobian(model, q, body)[:3], s["J"][3:])
        assert_close(kinetic_energy(model, q, qd), s["kinetic"])
        assert_close(potential_energy(model, q), s["potential"])
        assert_close(center_of_mass(model, q), s["com"])
        if "centroidal_momentum" in s:
            assert_close(centroidal_momentum(model, q, qd), np.roll(s["centroidal_momentum"], 3))


# -- closed form -------------------------------------------------------------------------------------------

def test_the_tip_of_two_links_has_the_textbook_jacobian_and_bias():
    q1, q2, v1, v2, l1, l2 = sympy.symbols("q1 q2 v1 v2 l1 l2")
    arm = two_link(l1=l1, l2=l2)
    c1, s1, c12, s12 = sympy.cos(q1), sympy.sin(q1), sympy.cos(q1 + q2), sympy.sin(q1 + q2)

    def zero(a, b):
        return sympy.simplify(sympy.Matrix(a) - sympy.Matrix(b)) == sympy.zeros(*sympy.Matrix(b).shape)

    assert zero(point(arm, [q1, q2], 1, (l2, 0, 0)), [l1 * c1 + l2 * c12, l1 * s1 + l2 * s12, 0])
    assert zero(point_jacobian(arm, [q1, q2], 1, (l2, 0, 0)),
                [[-l1 * s1 - l2 * s12, -l2 * s12], [l1 * c1 + l2 * c12, l2 * c12], [0, 0]])
    assert zero(point_bias(arm, [q1, q2], [v1, v2], 1, (l2, 0, 0)),
                [-l1 * c1 * v1**2 - l2 * c12 * (v1 + v2)**2, -l1 * s1 * v1**2 - l2 * s12 * (v1 + v2)**2, 0])


def test_the_energies_of_the_turning_and_extending_arm_are_those_of_the_textbook():
    m1, m2, l1, J1, J2, g, th, d, w, v = sympy.symbols("m1 m2 l1 J1 J2 g theta d w v")
    arm = rp_arm(m1, m2, l1, J1, J2, g)
    K = (m1 * l1**2 + m2 * d**2 + J1 + J2) * w**2 / 2 + m2 * v**2 / 2
    assert sympy.simplify(kinetic_energy(arm, [th, d], [w, v]) - K) == 0
    assert sympy.simplify(potential_energy(arm, [th, d]) - g * (m1 * l1 + m2 * d) * sympy.sin(th)) == 0


# -- another route: differences along the motion ---------------------------------------------------------------

@few
@given(seeds)
def test_the_jacobian_of_a_point_is_the_slope_of_its_place(seed):
    model, q, _, _ = any_tree(seed)
    r, body = np.random.default_rng(seed).normal(size=3), model.N - 1
    slope = np.array([(point(model, model.integrate(q, e, eps), body, r) - point(model, model.integrate(q, e, -eps), body, r))
                      / (2 * eps) for e in np.eye(model.n)]).reshape(-1, 3).T
    assert_allclose(point_jacobian(model, q, body, r), slope, atol=1e-7)


@few
@given(seeds)
def test_the_bias_of_a_point_is_the_rate_of_its_jacobian_times_the_velocity(seed):
    """J̇ q̇ along the motion with constant q̇: the classical acceleration, ω × (v + ω × r) and 2 ω × ḋ z included."""
    model, q, qd, _ = any_tree(seed)
    r, body = np.random.default_rng(seed).normal(size=3), model.N - 1
    ahead, behind = (point_jacobian(model, model.integrate(q, qd, h), body, r) @ qd for h in (eps, -eps))
    slope = (ahead - behind) / (2 * eps)
    assert_allclose(point_bias(model, q, qd, body, r), slope, atol=1e-7 * (1 + np.max(np.abs(slope), initial=0)))


@few
@given(seeds)
def test_the_velocities_are_those_of_the_moving_frames(seed):
    model, q, qd, _ = any_tree(seed)
    ahead, here, behind = (poses(model, model.integrate(q, qd, h)) for h in (eps, 0, -eps))
    for i, v in enumerate(velocities(model, q, qd)):
        w = vee(here[i].R.T @ (ahead[i].R - behind[i].R) / (2 * eps))
        assert_allclose(v, [*w, *(here[i].R.T @ (ahead[i].p - behind[i].p) / (2 * eps))], atol=1e-6)
        assert_allclose(body_jacobian(model, q, i) @ qd, v, atol=1e-12)


@few
@given(seeds)
def test_the_kinetic_energy_is_half_the_square_by_the_mass_matrix_rotors_included(seed):
    model, q, qd, _ = any_tree(seed)
    assert_allclose(kinetic_energy(model, q, qd), qd @ crba(model, q) @ qd / 2, rtol=1e-12, atol=1e-14)


@few
@given(seeds)
def test_the_linear_momentum_is_mass_times_the_velocity_of_the_centre_of_mass(seed):
    model, q, qd, _ = any_tree(seed)
    slope = (center_of_mass(model, model.integrate(q, qd, eps)) - center_of_mass(model, model.integrate(q, qd, -eps))) / (2 * eps)
    assert_allclose(centroidal_momentum(model, q, qd)[3:], mass(model) * slope, atol=1e-7)


def test_the_angular_momentum_about_the_centre_of_mass_is_that_of_the_points_of_the_bodies(rng):
    model = biped()
    q, qd = model.integrate(model.zero, rng.normal(size=model.n), 1.0), rng.normal(size=model.n)
    com, total = center_of_mass(model, q), np.zeros(3)
    for i, body in model.outward:
        moments, axes = np.linalg.eigh(body.carried.about_com)
        half = np.sqrt(np.maximum(moments.sum() / 2 - moments, 0) / body.carried.mass)      # six points make the tensor
        for k in range(3):
            for sign in (-1, 1):
                r = body.carried.com + sign * half[k] * np.sqrt(3) * axes[:, k]
                total += body.carried.mass / 6 * np.cross(point(model, q, i, r) - com, point_jacobian(model, q, i, r) @ qd)
    assert_allclose(centroidal_momentum(model, q, qd)[:3], total, atol=1e-11)


# -- physics -----------------------------------------------------------------------------------------------

def test_only_external_forces_change_the_momentum_of_a_floating_robot(rng):
    """d/dt (angular about the com; linear) = (moment of the push about the com; push + m g), motors at work."""
    model = biped(arms=True)
    q, qd = model.integrate(model.zero, rng.normal(size=model.n), 1.0), rng.normal(size=model.n)
    tau = np.concatenate([np.zeros(6), rng.normal(0, 20, model.n - 6)])
    R, force, r = poses(model, q)[7].R, rng.normal(0, 50, 3), np.array([0.1, 0.2, -0.3])
    push = R.T @ force
    qdd = aba(model, q, qd, tau, external={7: np.concatenate([np.cross(r, push), push])})

    def momentum(h):
        return centroidal_momentum(model, model.integrate(q, qd + qdd * h / 2, h), qd + qdd * h)

    rate = (momentum(eps) - momentum(-eps)) / (2 * eps)
    lever = point(model, q, 7, r) - center_of_mass(model, q)
    assert_allclose(rate, [*np.cross(lever, force), *(force + mass(model) * model.gravity)], atol=2e-5)


# -- the ground, and what has no mass ------------------------------------------------------------------------------

def test_a_point_of_the_ground_stays_where_it_is():
    arm, r = two_link(), np.array([0.1, 0.2, 0.3])
    assert np.array_equal(point(arm, [1, 2], GROUND, r), r)
    assert np.array_equal(point_jacobian(arm, [1, 2], GROUND, r), np.zeros((3, 2)))
    assert np.array_equal(point_bias(arm, [1, 2], [3, 4], GROUND, r), np.zeros(3))
    assert np.array_equal(body_jacobian(arm, [1, 2], GROUND), np.zeros((6, 2)))


def test_a_robot_without_mass_has_no_centre_of_mass():
    with pytest.raises(ValueError, match="nothing has no mass, so no centre of mass"):
        center_of_mass(Model((), name="nothing"), [])
