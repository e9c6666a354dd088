"""The waist: the recursion and Lagrange give one standard form, and what is neither C q̇ nor G nor F stands in `rest`."""

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from random_models import any_tree
from reference import assert_close, fault, load, model_of

from lagrangebook.kinematics import kinetic_energy, potential_energy
from lagrangebook.lagrange import coordinates
from lagrangebook.mechanisms import cart_pole, rp_arm, stance_leg, two_link
from lagrangebook.newton_euler import rnea
from lagrangebook.standard_form import (StandardForm, asymmetry, definiteness, mass_rate, of_lagrangian, of_model, passivity_defect,
                                        skew_defect)

few = settings(max_examples=25, deadline=None, derandomize=True)
seeds = st.integers(0, 2**32 - 1)
t = sympy.Symbol("t")


def viscous_and_coulomb(qd):
    return 0.6 * qd + 1.2 * np.sign(qd)


def lagrangian_of(model):
    """(L, q, q̇) of a tree, in symbols."""
    q, qd, _ = coordinates("q", model.n)
    return kinetic_energy(model, list(q), list(qd)) - potential_energy(model, list(q)), q, qd


# -- of a tree ---------------------------------------------------------------------------------------------

@few
@given(seeds)
def test_the_form_of_a_tree_gives_the_forces_of_the_recursion_and_takes_them_back(seed):
    model, q, qd, qdd = any_tree(seed)
    dynamics = of_model(model, friction=viscous_and_coulomb)
    tau = rnea(model, q, qd, qdd) + viscous_and_coulomb(qd)
    form = dynamics(q, qd)
    assert_close(form.forces(qdd), tau, 1e-12)
    assert_close(dynamics.inverse(q, qd, qdd), tau, 1e-12)
    assert_close(form.accelerations(tau), qdd, 1e-9)
    assert_close(dynamics.accelerations(q, qd, tau), qdd, 1e-9)
    assert_close(sum(dynamics.energy(q, qd)), kinetic_energy(model, q, qd) + potential_energy(model, q), 1e-14)


def test_friction_stands_on_the_left_and_opposes_the_motion():
    for case in load("examples")["two_link"]["inverse_cases"]:
        qd = np.array(case["qd"], dtype=float)
        dynamics = of_model(two_link(), friction=lambda qd: np.array([0.6, 0.3]) * qd + np.array([1.2, 0.5]) * np.sign(qd))
        form = dynamics(case["q"], qd)
        assert_close(form.F, case["friction_Fv_qd_plus_Fc_sign"], 1e-14)
        assert form.F @ qd >= 0
        assert_close(form.forces(case["qdd"]), case["tau_with_friction"], 1e-12)


def test_h_is_what_keeps_the_accelerations_at_zero(rng):
    form = StandardForm(np.eye(2), rng.normal(size=(2, 2)), rng.normal(size=2), rng.normal(size=2), rng.normal(size=2),
                        rng.normal(size=2))
    assert_allclose(form.h, form.C @ form.qd + form.G + form.F + form.rest, atol=1e-15)
    assert_allclose(form.accelerations(form.h), 0, atol=1e-14)


# -- of a Lagrangian: the two derivations meet ----------------------------------------------------------------

@pytest.mark.parametrize("model", [two_link(), rp_arm(), cart_pole(), stance_leg()], ids=lambda model: model.name)
def test_lagrange_and_the_recursion_give_one_form(model, rng):
    lagrange, recursion = of_lagrangian(*lagrangian_of(model)), of_model(model)
    for _ in range(5):
        q, qd, tau = rng.uniform(0.3, 2, (3, model.n))
        a, b = lagrange(q, qd), recursion(q, qd)
        for term in ("M", "C", "G", "F"):
            assert_close(getattr(a, term), getattr(b, term), 1e-12)
        assert_allclose(a.rest, 0, atol=1e-12)
        assert_close(lagrange.accelerations(q, qd, tau), recursion.accelerations(q, qd, tau), 1e-10)
        assert_close(lagrange.inverse(q, qd, tau), recursion.inverse(q, qd, tau), 1e-12)
        assert_close(lagrange.energy(q, qd), recursion.energy(q, qd), 1e-12)


def test_parameters_become_numbers_whole_or_not_and_coordinates_may_be_functions_of_time():
    m, l, g = sympy.symbols("m l g", positive=True)
    for q, qd, _ in (coordinates("q", 1), coordinates("q", 1, t)):
        L = m * l**2 * qd[0]**2 / 2 + m * g * l * sympy.cos(q[0])
        pendulum = of_lagrangian(L, q, qd, {m: 2, l: 1, g: 9.81}, t=t)
        form = pendulum([0.3], [1.5])
        assert_allclose([form.M[0, 0], form.G[0]], [2.0, 2 * 9.81 * np.sin(0.3)], rtol=1e-14)


# -- of a Lagrangian: what goes to rest ------------------------------------------------------------------------

def test_a_magnetic_force_is_neither_coriolis_nor_gravity():
    """L = ½ m (ẋ² + ẏ²) + ½ b (x ẏ − y ẋ): the force b (ẏ, −ẋ) does no work and stands in rest."""
    q, qd, _ = coordinates(("x", "y"))
    (x, y), (xd, yd), m, b = q, qd, 2.0, 3.0
    charge = of_lagrangian(m * (xd**2 + yd**2) / 2 + sympy.Integer(3) * (x * yd - y * xd) / 2, q, qd)
    form = charge([0.4, 0.5], [1.0, -2.0])
    assert_allclose([form.C @ form.qd, form.G], np.zeros((2, 2)), atol=0)
    assert_allclose(form.accelerations(np.zeros(2)), [b / m * -2.0, -b / m * 1.0], atol=1e-14)
    assert_allclose(form.rest @ form.qd, 0, atol=1e-15)


def test_a_mass_that_grows_with_time_needs_its_rate_times_the_velocity():
    """d/dt (m(t) ẋ) = τ: rest = ṁ ẋ."""
    q, qd, _ = coordinates(("x",))
    form = of_lagrangian((2 + 3 * t) * qd[0]**2 / 2, q, qd, t=t)([0.0], [1.5], 1.0)
    assert_allclose([form.M[0, 0], form.rest[0], form.C[0, 0], form.G[0]], [5, 4.5, 0, 0], atol=0)


def test_a_potential_moves_from_rest_to_G_when_it_is_named():
    """A bead on a hoop that turns at constant speed: the centrifugal part of L₀ counts as potential unless U is given."""
    q, qd, _ = coordinates(("theta",))
    gravity, spin = -9.81 * sympy.cos(q[0]), sympy.Rational(9, 2) * sympy.sin(q[0])**2
    L = qd[0]**2 / 2 + spin - gravity
    lumped, split = of_lagrangian(L, q, qd)([0.7], [0.2]), of_lagrangian(L, q, qd, potential=gravity)([0.7], [0.2])
    assert_allclose(split.G, [9.81 * np.sin(0.7)], rtol=1e-14)
    assert_allclose(split.rest, [-9 * np.sin(0.7) * np.cos(0.7)], rtol=1e-14)
    assert_allclose(lumped.G + lumped.rest, split.G + split.rest, rtol=1e-14)


def pivot_case():
    case = fault("S04")["inputs"]
    (q, qd, _), (l, m, A, B, w) = coordinates(("theta",)), (sympy.Float(case[k]) for k in ("l", "mass", "A", "B", "w"))
    place = sympy.Matrix([A * sympy.sin(w * t) + l * sympy.sin(q[0]), B * sympy.cos(2 * w * t) - l * sympy.cos(q[0])])
    velocity = place.diff(t) + place.jacobian(q) * qd
    return case, of_lagrangian(m * velocity.dot(velocity) / 2 - m * 9.81 * place[1], q, qd, t=t)


def test_a_moving_pivot_accelerates_the_pendulum_and_none_of_it_is_called_gravity():
    case, pendulum = pivot_case()
    form = pendulum([case["theta"]], [case["theta_dot"]], case["t"])
    assert_allclose(form.accelerations(np.zeros(1)), fault("S04")["expected"]["theta_ddot"], atol=1e-9)
    assert_allclose(form.G, [case["mass"] * 9.81 * case["l"] * np.sin(case["theta"])], rtol=1e-12)
    assert_allclose(-form.G / form.M[0], fault("S04")["faulty_result"]["theta_ddot_fixed_pivot"], rtol=1e-12)


def test_the_energy_changes_by_the_work_of_force_and_moving_constraint(rng, eps=1e-6):
    case, pendulum = pivot_case()
    q, qd, tau, time = np.array([0.9]), np.array([-1.4]), np.array([0.5]), 0.37
    qdd = pendulum.accelerations(q, qd, tau, time)

    def energy(h):
        return sum(pendulum.energy(q + qd * h + qdd * h**2 / 2, qd + qdd * h, time + h))

    rate = (energy(eps) - energy(-eps)) / (2 * eps)
    assert_allclose(rate, tau @ qd + pendulum.moving_constraint_power(q, qd, time), atol=1e-7)


# -- what is refused ---------------------------------------------------------------------------------------

def test_what_is_no_standard_form_is_refused_by_name():
    q, qd, _ = coordinates("q", 1)
    m = sympy.Symbol("m")
    with pytest.raises(ValueError, match=r"L holds \['m'\]; give each a number in parameters"):
        of_lagrangian(m * qd[0]**2 / 2, q, qd)
    with pytest.raises(ValueError, match="L is not quadratic in the velocities"):
        of_lagrangian(qd[0]**4, q, qd)
    oscillator = of_lagrangian(qd[0]**2 / 2 - q[0]**2 / 2, q, qd)
    with pytest.raises(ValueError, match=r"q has shape \(2,\); Lagrangian has nq = 1"):
        oscillator([0, 0], [0])
    with pytest.raises(ValueError, match=r"qd must be finite"):
        oscillator([0], [np.nan])
    with pytest.raises(ValueError, match=r"tau has shape \(3,\)"):
        oscillator.accelerations([0], [0], np.zeros(3))
    with pytest.raises(ValueError, match=r"qdd has shape \(3,\)"):
        of_model(two_link())([0, 0], [0, 0]).forces(np.zeros(3))


def test_friction_of_the_wrong_shape_is_not_spread_over_the_joints():
    dynamics = of_model(two_link(), friction=lambda qd: 0.5)
    with pytest.raises(ValueError, match=r"F has shape \(\); two-link arm has n = 2"):
        dynamics([0, 0], [0, 0])


def test_a_singular_mass_matrix_is_refused_and_not_solved():
    q, qd, _ = coordinates("q", 2)
    with pytest.raises(np.linalg.LinAlgError):
        of_lagrangian((qd[0] + qd[1])**2 / 2, q, qd).accelerations([0, 0], [0, 0], [1, 1])


# -- the properties ----------------------------------------------------------------------------------------

@few
@given(seeds)
def test_every_tree_has_a_symmetric_definite_M_and_a_skew_rate(seed):
    """Random trees with every kind of joint."""
    rng = np.random.default_rng(seed)
    model, q, qd, *_ = any_tree(rng)
    arm = of_model(model)
    M = arm.mass_matrix(q)
    assert asymmetry(M) < 1e-12 and definiteness(M).definite
    size = 1e-6 * np.max(np.abs(M), initial=0.0) * (1 + qd @ qd)
    assert np.all(np.abs(skew_defect(arm, q, qd)) <= size)
    assert abs(passivity_defect(arm, q, qd)) <= size * (1 + qd @ qd)


def test_another_factor_of_the_same_product_is_passive_but_not_skew():
    q, qd, h = np.array([0.3, 0.7]), np.array([1.2, -0.8]), 2.0 * 0.5 * 0.2 * np.sin(0.7)
    other = np.array([[-2 * h * qd[1], -h * qd[1]], [h * qd[0], 0]])
    arm = of_model(two_link())
    assert_allclose(other @ qd, arm(q, qd).C @ qd, rtol=1e-12)
    assert_allclose(skew_defect(arm, q, qd, other), [[4 * h * qd[1], -2 * h * qd[0]], [-2 * h * qd[0], 0]], atol=1e-8)
    assert abs(passivity_defect(arm, q, qd, other)) < 1e-8


def test_a_wrong_product_is_not_passive():
    """Half of the velocity terms dropped: the power that appears is that of the other half."""
    q, qd, arm = np.array([0.3, 0.7]), np.array([1.2, -0.8]), of_model(two_link())
    C = arm(q, qd).C
    assert_allclose(passivity_defect(arm, q, qd, C / 2), qd @ C @ qd, rtol=1e-6)


def test_the_exceptions_to_definiteness_name_the_motion_that_moves_no_mass():
    """Two links whose last has no mass; a point mass on its own axis; Euler angles at their singularity (claim 002-22)."""
    massless = definiteness([[1 / 3, 0], [0, 0]])
    assert not massless.definite and np.allclose(massless.motion, [0, 1])
    folded = definiteness([[1.0, 1.0], [1.0, 1.0]])         # only q1 + q2 moves the mass
    assert not folded.definite and np.allclose(abs(folded.motion), [1, 1]) and folded.motion[0] * folded.motion[1] < 0
    A, B, C = 0.3, 0.5, 0.7                                   # yaw and roll are one turn where pitch is a right angle

    def euler(pitch):
        s, c = np.sin(pitch), np.cos(pitch)
        rates = np.array([[-s, 0, 1], [0, 1, 0], [c, 0, 0]])          # roll 0: body rates of (yaw, pitch, roll)
        return rates.T @ np.diag([A, B, C]) @ rates
    assert definiteness(euler(0.4)).definite and not definiteness(euler(np.pi / 2)).definite
    assert_allclose(np.linalg.det(euler(0.4)), A * B * C * np.cos(0.4)**2, rtol=1e-12)


def test_definiteness_does_not_depend_on_units():
    M = of_model(two_link()).mass_matrix([0.3, 0.7])
    scale = np.diag([1e-6, 1e3])
    assert_allclose(definiteness(scale @ M @ scale).smallest, definiteness(M).smallest, rtol=1e-9)
    with pytest.raises(ValueError, match="square and finite"):
        definiteness([[1.0, np.nan], [0.0, 1.0]])


@pytest.mark.parametrize("case", [c for c in load("open_6_standard_form")["cases"] if c["id"].startswith("christoffel")],
                         ids=lambda case: case["id"])
def test_the_published_christoffel_matrices(case):
    """Christoffel's C, Ṁ and C q̇ of four mechanisms, five states each."""
    model = model_of(case["model"])
    for state in case["states"]:
        q, qd = np.array(state["q"]), np.array(state["qd"])
        assert_close(of_model(model)(q, qd).C, state["C"], 1e-11)
        assert_close(of_model(model)(q, qd).C @ qd, state["Cqd"], 1e-11)
        assert_close(mass_rate(of_model(model), q, qd), state["Mdot"], 1e-6)
