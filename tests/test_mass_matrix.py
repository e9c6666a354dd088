"""M, C and G against Jacobian sums, Christoffel symbols, columns of RNEA, energies and published numbers."""

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from random_models import any_tree, random_state, random_tree
from reference import assert_close, load, open_case, open_case_names

from lagrangebook.kinematics import body_jacobian, kinetic_energy, point_jacobian, poses, potential_energy
from lagrangebook.lagrange import christoffel, coordinates, gravity_terms, kinetic_matrix
from lagrangebook.mass_matrix import coriolis, crba, gravity
from lagrangebook.mechanisms import biped, puma560, rp_arm, stance_leg, two_link
from lagrangebook.newton_euler import rnea

few = settings(max_examples=25, deadline=None, derandomize=True)
seeds = st.integers(0, 2**32 - 1)
eps = 1e-6


def rate_of_M(model, q, qd):
    return (crba(model, model.integrate(q, qd, eps)) - crba(model, model.integrate(q, qd, -eps))) / (2 * eps)


# -- closed forms ------------------------------------------------------------------------------------------

def test_two_links_have_the_textbook_mass_matrix_and_coriolis_matrix():
    l1, m1, m2, lc1, lc2, I1, I2, q1, q2, v1, v2 = sympy.symbols("l1 m1 m2 lc1 lc2 I1 I2 q1 q2 v1 v2")
    arm = two_link(l1, 1, m1, m2, lc1, lc2, I1, I2)
    b, d = m2 * l1 * lc2, m2 * lc2**2 + I2
    M = [[m1 * lc1**2 + I1 + m2 * l1**2 + d + 2 * b * sympy.cos(q2), d + b * sympy.cos(q2)], [d + b * sympy.cos(q2), d]]
    h = -b * sympy.sin(q2)
    C = [[h * v2, h * (v1 + v2)], [-h * v1, 0]]
    assert sympy.simplify(sympy.Matrix(crba(arm, [q1, q2])) - sympy.Matrix(M)) == sympy.zeros(2, 2)
    assert sympy.simplify(sympy.Matrix(coriolis(arm, [q1, q2], [v1, v2])) - sympy.Matrix(C)) == sympy.zeros(2, 2)


@pytest.mark.parametrize("model", [rp_arm(*sympy.symbols("m1 m2 l1 J1 J2 g")), stance_leg()], ids=lambda model: model.name)
def test_C_is_that_of_the_christoffel_symbols_in_symbols(model):
    q, qd, _ = coordinates("q", model.n)
    M = sympy.Matrix(crba(model, list(q)))
    C = sympy.lambdify([*q, *qd, *sympy.symbols("m1 m2 l1 J1 J2 g")],
                       sympy.Matrix(coriolis(model, list(q), list(qd))) - christoffel(M, q, qd))
    at = np.random.default_rng(1).uniform(0.2, 1.5, (5, 2 * model.n + 6))
    assert_allclose([C(*x) for x in at], np.zeros((5, model.n, model.n)), atol=1e-12)


def test_the_energy_in_symbols_gives_the_matrix_of_the_recursion():
    arm = two_link(*sympy.symbols("l1 l2 m1 m2"), g=sympy.Symbol("g"))
    q, qd, _ = coordinates("q", 2)
    M, G = kinetic_matrix(kinetic_energy(arm, list(q), list(qd)), qd), gravity_terms(potential_energy(arm, list(q)), q)
    assert sympy.simplify(M - sympy.Matrix(crba(arm, list(q)))) == sympy.zeros(2, 2)
    assert sympy.simplify(G - sympy.Matrix(gravity(arm, list(q)))) == sympy.zeros(2, 1)


# -- another route -----------------------------------------------------------------------------------------

@few
@given(seeds)
def test_M_is_the_sum_over_the_bodies_jacobians(seed):
    """M = Σ m J_cᵀ J_c + J_ωᵀ I_C J_ω, with the rotors on the diagonal."""
    model, q, _, _ = any_tree(seed)
    M = np.diag(np.concatenate([np.full(body.joint.n, body.joint.rotor) for body in model.bodies]))
    for i, body in model.outward:
        J_c, J_w = point_jacobian(model, q, i, body.inertia.com), body_jacobian(model, q, i)[:3]
        M = M + body.inertia.mass * J_c.T @ J_c + J_w.T @ body.inertia.about_com @ J_w
    assert_close(crba(model, q), M, 1e-12)


@few
@given(seeds)
def test_the_columns_of_M_are_the_forces_of_unit_accelerations(seed):
    model, q, _, _ = any_tree(seed)
    zero = np.zeros(model.n)
    columns = [rnea(model, q, zero, e) - rnea(model, q, zero, zero) for e in np.eye(model.n)]
    assert_close(crba(model, q), np.array(columns).reshape(model.n, model.n), 1e-12)


@few
@given(seeds)
def test_C_qd_and_G_are_the_recursion_at_no_acceleration(seed):
    model, q, qd, _ = any_tree(seed)
    assert_close(coriolis(model, q, qd) @ qd + gravity(model, q), rnea(model, q, qd, 0 * qd), 1e-12)


@few
@given(seeds)
def test_C_is_that_of_the_christoffel_symbols_for_one_axis_and_planar_joints(seed):
    """C_ij = ½ Σ_k (∂M_ij/∂q_k + ∂M_ik/∂q_j − ∂M_jk/∂q_i) q̇_k, with M differentiated numerically."""
    rng = np.random.default_rng(seed)
    model = random_tree(rng, int(rng.integers(1, 6)), kinds=("revolute", "prismatic", "planar", "fixed"), rotor=True)
    q, qd, _ = random_state(model, rng)
    dM = np.array([rate_of_M(model, q, e) for e in np.eye(model.n)]).reshape((model.n,) * 3)     # dM[k] = ∂M/∂q_k
    C = (np.einsum("kij,k->ij", dM, qd) + np.einsum("jik,k->ij", dM, qd) - np.einsum("ijk,k->ij", dM, qd)) / 2
    assert_close(coriolis(model, q, qd), C, 1e-7)


def test_velocity_terms_are_those_of_lagrange(tree, state):
    """C q̇ = Ṁ q̇ − ½ ∂(q̇ᵀ M q̇)/∂q.  The power test is blind here: v ×* I v does no work."""
    q, qd, _ = state
    dM = np.array([rate_of_M(tree, q, e) for e in np.eye(tree.n)])
    expected = np.einsum("kij,k,j->i", dM, qd, qd) - np.einsum("kij,i,j->k", dM, qd, qd) / 2
    assert_allclose(rnea(tree, q, qd, 0 * q) - rnea(tree, q, 0 * q, 0 * q), expected, atol=1e-6)


# -- physics -----------------------------------------------------------------------------------------------

@few
@given(seeds)
def test_M_is_symmetric_and_positive_definite(seed):
    model, q, _, _ = any_tree(seed)
    M = crba(model, q)
    assert_close(M, M.T, 1e-14)
    assert np.all(np.linalg.eigvalsh(M) > 0)


@few
@given(seeds)
def test_the_rate_of_M_is_C_plus_its_transpose(seed):
    model, q, qd, _ = any_tree(seed)
    C = coriolis(model, q, qd)
    assert_close(C + C.T, rate_of_M(model, q, qd), 1e-7)


@few
@given(seeds)
def test_C_is_linear_in_the_velocity(seed):
    model, q, qd, other = any_tree(seed)
    both = 2 * coriolis(model, q, qd) - 3 * coriolis(model, q, other)
    assert_close(coriolis(model, q, 2 * qd - 3 * other), both, 1e-12)


def test_the_mass_matrix_of_a_tree_is_empty_between_branches():
    model = biped()
    M, legs = crba(model, model.zero), [np.r_[6:12], np.r_[12:18]]
    assert np.array_equal(M[np.ix_(*legs)], np.zeros((6, 6)))
    assert np.all(np.abs(M[:6, :6].diagonal()) > 0)


def test_the_first_six_rows_of_a_free_robot_move_it_as_one_body(rng):
    """M's base block is the composite inertia: mass on the linear diagonal, and K = ½ vᵀ I v of the frozen robot."""
    model = biped()
    q = model.integrate(model.zero, rng.normal(size=model.n), 1.0)
    base = poses(model, q)[0]
    frozen = sum((body.carried.moved(base.inverse @ pose) for body, pose in zip(model.bodies[1:], poses(model, q)[1:])),
                 model.bodies[0].carried)
    assert_close(crba(model, q)[:6, :6], frozen.matrix, 1e-12)


# -- published numbers -------------------------------------------------------------------------------------

@pytest.mark.parametrize("name", open_case_names())
def test_M_C_and_G_of_the_reference(name):
    model, states = open_case(name)
    for s in states:
        if "M" in s:
            assert_close(crba(model, s["q"]), s["M"], 1e-12)
        assert_close(coriolis(model, s["q"], s["qd"]) @ s["qd"], s["Cqd"], 1e-12)
        assert_close(gravity(model, s["q"]), s["G"], 1e-12)


@pytest.mark.parametrize("name", ["two_link", "rp_arm"])
def test_M_C_and_its_rate_of_the_worked_cases(name):
    model = {"two_link": two_link, "rp_arm": rp_arm}[name]()
    for case in load("examples")[name]["inverse_cases"]:
        q, qd = np.array(case["q"], dtype=float), np.array(case["qd"], dtype=float)
        C = coriolis(model, q, qd)
        assert_close(crba(model, q), case["M"], 1e-12)
        assert_close(C, case["C_christoffel"], 1e-12)
        assert_close(C + C.T, case["Mdot"], 1e-12)
        assert_close(C @ qd, case["V"], 1e-12)
        if "C_nonskew_same_product" in case and np.any(qd):       # the same product, but not this matrix
            assert_close(np.array(case["C_nonskew_same_product"]) @ qd, case["V"], 1e-12)
            assert np.max(np.abs(C - case["C_nonskew_same_product"])) > 0.01


def test_M_and_G_of_the_published_puma():
    for case in load("examples")["puma560_reference"]["cases"]:
        assert_close(crba(puma560(), case["q"]), case["M"])
        assert_close(coriolis(puma560(), case["q"], case["qd"]) @ case["qd"], case["C_qd"])
        assert_close(gravity(puma560(), case["q"]), case["G"])
