"""RNEA against closed forms, against Newton and Euler in base axes, against physics and against published numbers."""

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from random_models import any_tree, chain, random_inertia, random_state, random_tree
from reference import assert_close, load, open_case, open_case_names, wrench

from lagrangebook.inertia import Inertia, point_mass
from lagrangebook.kinematics import (body_jacobian, kinetic_energy, point_bias, point_jacobian, poses,
                                     potential_energy)
from lagrangebook.lagrange import coordinates, lagrange_equations
from lagrangebook.mass_matrix import coriolis, crba, gravity
from lagrangebook.mechanisms import pendulum, puma560, rp_arm, two_link, vertical_mass
from lagrangebook.model import GROUND, Body, Joint, Model
from lagrangebook.newton_euler import rnea
from lagrangebook.spatial import Pose, exp_so3

few = settings(max_examples=25, deadline=None, derandomize=True)
seeds = st.integers(0, 2**32 - 1)
eps = 1e-6


# -- closed forms ------------------------------------------------------------------------------------------

def test_a_pendulum_has_the_textbook_equation():
    m, l, g, q, qd, qdd = sympy.symbols("m l g q qd qdd", positive=True)
    (tau,) = rnea(pendulum(1, m, l, g), [q], [qd], [qdd])
    assert sympy.simplify(tau - (m * l**2 * qdd + m * g * l * sympy.sin(q))) == 0


def test_a_mass_on_a_vertical_slide_carries_its_weight():
    assert_allclose(rnea(vertical_mass(m=2.0), [0.3], [0.4], [1.5]), [22.62], rtol=1e-14)


def test_the_turning_and_extending_arm_has_its_coriolis_and_centrifugal_forces():
    m1, m2, l1, J1, J2, g = sympy.symbols("m1 m2 l1 J1 J2 g")
    th, d, w, v, a, b = sympy.symbols("theta d w v a b")
    tau = rnea(rp_arm(m1, m2, l1, J1, J2, g), [th, d], [w, v], [a, b])
    expected = [(m1 * l1**2 + m2 * d**2 + J1 + J2) * a + 2 * m2 * d * w * v + g * (m1 * l1 + m2 * d) * sympy.cos(th),
                m2 * b - m2 * d * w**2 + m2 * g * sympy.sin(th)]
    assert sympy.simplify(sympy.Matrix(tau) - sympy.Matrix(expected)) == sympy.zeros(2, 1)


def test_a_sliding_frame_on_a_turntable_feels_twice_omega_cross_the_slide():
    """2 ω × ḋ z: a mass at rest in the slot's frame but sliding outward needs a side force of 2 m ω ḋ."""
    table = chain(("revolute", (0, 0, 1), Pose(), Inertia(0, np.zeros(3), np.eye(3))),
                  ("prismatic", (1, 0, 0), Pose(), point_mass(2.0)), gravity=(0, 0, 0))
    assert_allclose(rnea(table, [0.4, 0.5], [3.0, 0.7], [0, 0]), [2 * 2.0 * 0.5 * 3.0 * 0.7, -2.0 * 0.5 * 9.0], rtol=1e-14)


def test_a_spinning_top_obeys_eulers_equations(rng):
    """One spherical joint, no gravity: τ = I ω̇ + ω × I ω in body axes."""
    I = random_inertia(rng)
    top = chain(("spherical", (0, 0, 1), Pose(), I), gravity=(0, 0, 0))
    q, w, wd = random_state(top, rng)
    assert_allclose(rnea(top, q, w, wd), I.about_origin @ wd + np.cross(w, I.about_origin @ w), atol=1e-14)


def test_a_free_body_obeys_newton_and_euler_about_its_centre_of_mass(rng):
    """In world axes: force = m (c̈ − g), moment about the com = d/dt (R I Rᵀ ω)."""
    I, g = random_inertia(rng), np.array([0, 0, -9.81])
    body = chain(("free", (0, 0, 1), Pose(exp_so3(rng.normal(size=3)), rng.normal(size=3)), I))
    q, qd, qdd = random_state(body, rng)
    tau, R = rnea(body, q, qd, qdd), poses(body, q)[0].R
    w, wd = R @ qd[:3], R @ qdd[:3]
    J = R @ I.about_com @ R.T
    cdd = point_bias(body, q, qd, 0, I.com) + point_jacobian(body, q, 0, I.com) @ qdd
    assert_allclose(R @ tau[3:], I.mass * (cdd - g), atol=1e-13)
    assert_allclose(R @ (tau[:3] - np.cross(I.com, tau[3:])), J @ wd + np.cross(w, J @ w), atol=1e-13)


def test_a_planar_body_that_moves_straight_while_it_spins_needs_no_force():
    """The com at the origin of the frame: S turns with the body and c = S̊ q̇ makes up for v × S q̇."""
    disc = chain(("planar", (0, 0, 1), Pose(), Inertia(2.0, np.zeros(3), np.diag([0.1, 0.1, 0.2]))), gravity=(0, 0, 0))
    assert_allclose(rnea(disc, [0.3, -0.2, 1.1], [1.5, -0.7, 4.0], np.zeros(3)), np.zeros(3), atol=1e-14)
    assert_allclose(rnea(disc, [0.3, -0.2, 1.1], [1.5, -0.7, 4.0], [1, 2, 3]), [2.0, 4.0, 0.6], atol=1e-14)


@pytest.mark.parametrize("model", [pendulum(2, *sympy.symbols("m l g")),
                                   two_link(*sympy.symbols("l1 l2 m1 m2"), g=sympy.Symbol("g")),
                                   rp_arm(*sympy.symbols("m1 m2 l1 J1 J2 g"))], ids=lambda model: model.name)
def test_the_recursion_is_lagranges_equation_in_symbols(model):
    q, qd, qdd = coordinates("q", 2)
    L = kinetic_energy(model, list(q), list(qd)) - potential_energy(model, list(q))
    recursion = sympy.Matrix(rnea(model, list(q), list(qd), list(qdd)))
    assert sympy.simplify(recursion - lagrange_equations(L, q, qd, qdd)) == sympy.zeros(2, 1)


# -- another route -----------------------------------------------------------------------------------------

@few
@given(seeds)
def test_the_forces_are_those_of_dalembert(seed):
    """Σ Jᵀ (m (c̈ − g)) + J_ωᵀ (J ω̇ + ω × J ω), world axes, body by body: no recursion, no spatial vector."""
    model, q, qd, qdd = any_tree(seed)
    tau = np.concatenate([part * body.joint.rotor for body, part in zip(model.bodies, model.coordinates(qd=qdd))])
    for i, (body, pose) in enumerate(zip(model.bodies, poses(model, q))):
        I, J_c = body.inertia, point_jacobian(model, q, i, body.inertia.com)
        ahead, behind = (model.integrate(q, qd, h) for h in (eps, -eps))
        J_w = pose.R @ body_jacobian(model, q, i)[:3]
        J_w_dot = (poses(model, ahead)[i].R @ body_jacobian(model, ahead, i)[:3]
                   - poses(model, behind)[i].R @ body_jacobian(model, behind, i)[:3]) / (2 * eps)
        J_c_dot = (point_jacobian(model, ahead, i, I.com) - point_jacobian(model, behind, i, I.com)) / (2 * eps)
        w, wd, cdd = J_w @ qd, J_w @ qdd + J_w_dot @ qd, J_c @ qdd + J_c_dot @ qd
        J = pose.R @ I.about_com @ pose.R.T
        tau = tau + J_c.T @ (I.mass * (cdd - model.gravity)) + J_w.T @ (J @ wd + np.cross(w, J @ w))
    assert_close(rnea(model, q, qd, qdd), tau, 1e-7)


@few
@given(seeds)
def test_the_acceleration_part_is_the_mass_matrix(seed):
    model, q, qd, qdd = any_tree(seed)
    assert_close(rnea(model, q, qd, qdd) - rnea(model, q, qd, 0 * qdd), crba(model, q) @ qdd, 1e-12)


@few
@given(seeds)
def test_an_external_force_counts_by_its_jacobian(seed):
    """τ(with) = τ(without) − Σ J_bodyᵀ f, for wrenches on all bodies and on the ground at once."""
    model, q, qd, qdd = any_tree(seed)
    rng = np.random.default_rng(seed)
    pushes = {body.name: rng.normal(size=6) for body in model.bodies} | {GROUND: rng.normal(size=6)}
    expected = rnea(model, q, qd, qdd) - sum(body_jacobian(model, q, name).T @ f for name, f in pushes.items())
    assert_close(rnea(model, q, qd, qdd, external=pushes), expected, 1e-12)


def test_symbols_and_numbers_run_through_one_text(rng):
    """Every kind of joint, the state in symbols: all algorithms give expressions that become the numbers."""
    bodies = [Body(kind, i - 1, Joint(kind, (0, 0, 1) if kind == "planar" else (0.6, 0, 0.8)), Pose(p=(0, i / 4, 0)),
                   Inertia(2.0, (0, 0.5, 0), np.diag([1, 2, 2]))) for i, kind in enumerate(("planar", "spherical", "fixed"))]
    for model in (Model(tuple(bodies)), Model((Body("trunk", GROUND, Joint("free"), Pose(), random_inertia(rng)),))):
        q, qd, qdd = random_state(model, rng)
        x, v, a = (np.array(sympy.symbols(f"{name}:{len(part)}")) for name, part in (("x", q), ("v", qd), ("a", qdd)))
        for function, states in ((rnea, ((x, v, a), (q, qd, qdd))), (crba, ((x,), (q,))), (gravity, ((x,), (q,))),
                                 (coriolis, ((x, v), (q, qd))), (kinetic_energy, ((x, v), (q, qd)))):
            symbolic = sympy.lambdify([*x, *v, *a], list(np.ravel(function(model, *states[0]))))
            assert_close(symbolic(*q, *qd, *qdd), np.ravel(function(model, *states[1])), 1e-12)


# -- physics -----------------------------------------------------------------------------------------------

@few
@given(seeds)
def test_the_joints_power_is_the_rate_of_change_of_energy(seed):
    model, q, qd, qdd = any_tree(seed)

    def energy(h):
        q_h, qd_h = model.integrate(q, qd + qdd * h / 2, h), qd + qdd * h
        return kinetic_energy(model, q_h, qd_h) + potential_energy(model, q_h)

    power = (energy(eps) - energy(-eps)) / (2 * eps)
    assert_allclose(rnea(model, q, qd, qdd) @ qd, power, rtol=1e-6, atol=1e-6)


@few
@given(seeds)
def test_gravity_is_a_base_that_accelerates_upward(seed):
    """a₀ = −g: the same forces as on a platform with acceleration −g without gravity, a prismatic base in three axes."""
    model, q, qd, qdd = any_tree(seed)
    lift = [Body(f"lift {k}", k - 1, Joint("prismatic", axis), Pose(), point_mass(1.0)) for k, axis in enumerate(np.eye(3))]
    shifted = [Body(b.name, b.parent + 3, b.joint, b.placement, b.inertia) for b in model.bodies]
    platform = Model(tuple(lift + shifted), gravity=(0, 0, 0))
    tau = rnea(platform, np.concatenate([np.zeros(3), q]), np.concatenate([np.zeros(3), qd]),
               np.concatenate([-model.gravity, qdd]))
    assert_close(tau[3:], rnea(model, q, qd, qdd), 1e-12)


def test_the_whole_turns_of_a_joint_change_nothing(rng):
    model = random_tree(rng, 6, kinds=("revolute",))
    q, qd, qdd = random_state(model, rng)
    turns = 2 * np.pi * rng.integers(-3, 4, 6)
    assert_close(rnea(model, q + turns, qd, qdd), rnea(model, q, qd, qdd), 1e-12)


@few
@given(seeds)
def test_the_gravity_vector_is_the_slope_of_the_potential_energy(seed):
    model, q, _, _ = any_tree(seed)
    slope = [(potential_energy(model, model.integrate(q, e, eps)) - potential_energy(model, model.integrate(q, e, -eps)))
             / (2 * eps) for e in np.eye(model.n)]
    assert_allclose(gravity(model, q), slope, atol=1e-6)


# -- published numbers -------------------------------------------------------------------------------------

@pytest.mark.parametrize("name", open_case_names())
def test_the_joint_forces_of_the_reference(name):
    model, states = open_case(name)
    for s in states:
        assert_close(rnea(model, s["q"], s["qd"], s["qdd"]), s["tau_rnea"], 1e-12)
        assert_close(rnea(model, s["q"], s["qd"], 0 * s["qd"]) - gravity(model, s["q"]), s["Cqd"], 1e-12)
        assert_close(rnea(model, s["q"], s["qd"], s["qdd"], external=wrench(model, s["q"], s["f_ext"])),
                     s["tau_rnea_ext"], 1e-12)


def test_the_floating_forces_of_the_reference_in_mixed_axes():
    """A free joint's force part in world axes: R f, with ṗ = R v and p̈ = R (v̇ + ω × v)."""
    model, states = open_case("biped_floating_12")
    for s in (s for s in states if "mixed" in s):
        R = poses(model, s["q"])[0].R
        qd, qdd, tau = s["qd"], s["qdd"], rnea(model, s["q"], s["qd"], s["qdd"])
        mixed = {key: np.array(value) for key, value in s["mixed"].items()}
        assert_close(R @ qd[3:6], mixed["qd"][:3])
        assert_close(R @ (qdd[3:6] + np.cross(qd[:3], qd[3:6])), mixed["qdd"][:3])
        assert_close([*(R @ tau[3:6]), *tau[:3], *tau[6:]], mixed["tau_rnea"], 1e-12)


@pytest.mark.parametrize("rows", ["two_link", "rp_arm"])
def test_the_worked_cases_of_the_two_joint_arms(rows):
    model = {"two_link": two_link, "rp_arm": rp_arm}[rows]()
    for case in load("examples")[rows]["inverse_cases"]:
        tau = rnea(model, case["q"], case["qd"], case["qdd"])
        assert_close(tau, case.get("tau_rigid", case.get("tau")), 1e-12)
        assert_close(gravity(model, case["q"]), case["G"], 1e-12)
        if "U" in case:
            assert_close(kinetic_energy(model, case["q"], case["qd"]), case["K"], 1e-12)
            assert_close(potential_energy(model, case["q"]), case["U"], 1e-12)


def test_the_misprinted_recursions_give_other_numbers():
    """What each published variant yields stands apart from the joint torque, so that these cases can tell."""
    for case in load("examples")["two_link"]["inverse_cases"]:
        tau = rnea(two_link(), case["q"], case["qd"], case["qdd"])
        for name, wrong in case.get("wrong_published_recursions", {}).items():
            still = not np.any(case["qd"]) and not np.any(case["qdd"])
            assert still or np.max(np.abs(tau - wrong)) > 0.05, name


def test_the_vertical_mass_along_its_worked_motion():
    example = load("examples")["vertical_mass"]
    for s in example["trajectory"]["samples"]:
        assert_close(rnea(vertical_mass(), [s["q"]], [s["qd"]], [s["qdd"]]), [s["tau"]], 1e-12)


def test_the_puma_of_the_published_table():
    for case in load("examples")["puma560_reference"]["cases"]:
        q, qd, qdd = case["q"], case["qd"], case["qdd"]
        assert_close(rnea(puma560(), q, qd, qdd), case["tau"])
        assert_close(rnea(puma560(), q, qd, np.zeros(6)) - gravity(puma560(), q), case["C_qd"])


# -- the point of application ----------------------------------------------------------------------------------

def test_an_external_force_at_the_tip_is_held_by_its_moment_arms():
    """A weight of 1 kg hung on the tip of the two-link arm is held like a point mass there, at rest."""
    q = [0.3, 0.7]
    R, loaded = poses(two_link(), q)[1].R, two_link().payload("forearm", point_mass(1.0, (0.4, 0, 0)))
    weight = R.T @ [0, -9.81, 0]
    held = rnea(two_link(), q, [0, 0], [0, 0], external={"forearm": np.concatenate([np.cross((0.4, 0, 0), weight), weight])})
    assert_close(held, gravity(loaded, q), 1e-13)
