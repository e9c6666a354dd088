"""The labelled equations of the chapter on velocity terms, each by a route of its own, on arms and on random trees."""

import numpy as np
import pytest
from book_equations import equation
from numpy.testing import assert_allclose

from lagrangebook.kinematics import kinetic_energy, point_jacobian, potential_energy
from lagrangebook.lagrange import centrifugal_coriolis, christoffel_symbols, coordinates
from lagrangebook.mass_matrix import coriolis, crba, gravity
from lagrangebook.mechanisms import two_link
from lagrangebook.newton_euler import rnea
from reference import load


def slopes(f, x, eps=1e-5):
    """∂f/∂x_k for every k, stacked along the first axis: central differences."""
    return np.array([(f(x + eps * e) - f(x - eps * e)) / (2 * eps) for e in np.eye(len(x))])


@pytest.fixture
def dM(tree, state):
    """dM[k] = ∂M/∂q_k by differences."""
    return slopes(lambda q: crba(tree, q), state[0])


@pytest.fixture
def b(dM):
    """b_ijk from the differences of M."""
    return (np.einsum("kij->ijk", dM) + np.einsum("jik->ijk", dM) - dM) / 2


@pytest.fixture
def V(tree, state):
    """The forces that velocity alone costs, by the recursion."""
    q, qd, _ = state
    return rnea(tree, q, qd, 0 * qd) - rnea(tree, q, 0 * qd, 0 * qd)


@equation("eq-velocity_terms-momentum", r"\frac{\partial K}{\partial \dot q} = M(q)\,\dot q")
def test_momentum_is_the_slope_of_kinetic_energy(tree, state):
    q, qd, _ = state
    assert_allclose(slopes(lambda v: kinetic_energy(tree, q, v), qd), crba(tree, q) @ qd, atol=1e-8)


@equation("eq-velocity_terms-Mdot", r"""\frac{d}{dt}(M \dot q) = M \ddot q + \dot M \dot q, \qquad
    \dot M = \sum_k \frac{\partial M}{\partial q_k}\,\dot q_k""")
def test_momentum_along_a_motion_changes_with_rates_and_with_inertia(tree, state, dM, eps=1e-5):
    q, qd, qdd = state

    def momentum(t):
        return crba(tree, q + qd * t + qdd * t**2 / 2) @ (qd + qdd * t)

    Mdot = np.einsum("kij,k->ij", dM, qd)
    assert_allclose(crba(tree, q) @ qdd + Mdot @ qd, (momentum(eps) - momentum(-eps)) / (2 * eps), atol=1e-6)


@equation("eq-velocity_terms-slope", r"""\frac{\partial K}{\partial q_i} = \tfrac12\, \dot q^T
    \frac{\partial M}{\partial q_i}\, \dot q""")
def test_the_slope_of_kinetic_energy_in_a_position(tree, state, dM):
    q, qd, _ = state
    assert_allclose(slopes(lambda x: kinetic_energy(tree, x, qd), q), np.einsum("kij,i,j->k", dM, qd, qd) / 2, atol=1e-7)


@equation("eq-velocity_terms-V", r"""V_i(q, \dot q) = \bigl(\dot M \dot q\bigr)_i
    - \tfrac12\, \dot q^T \frac{\partial M}{\partial q_i}\, \dot q""")
def test_the_two_sources_make_the_forces_of_the_recursion(state, dM, V):
    _, qd, _ = state
    Mdot = np.einsum("kij,k->ij", dM, qd)
    assert_allclose(Mdot @ qd - np.einsum("kij,i,j->k", dM, qd, qd) / 2, V, atol=1e-6)


@equation("eq-velocity_terms-b", r"""b_{ijk} = \tfrac12 \left( \frac{\partial M_{ij}}{\partial q_k}
    + \frac{\partial M_{ik}}{\partial q_j} - \frac{\partial M_{jk}}{\partial q_i} \right)""")
def test_christoffel_symbols_are_those_of_the_coriolis_matrix_of_the_recursion(tree, state, b):
    """∂C_ij/∂q̇_k, from a recursion that never differentiates M."""
    q, qd, _ = state
    assert_allclose(np.moveaxis(slopes(lambda v: coriolis(tree, q, v), qd), 0, 2), b, atol=1e-6)
    assert_allclose(b, b.swapaxes(1, 2), atol=1e-12)


@equation("eq-velocity_terms-Vb", r"""V_i = \sum_j \sum_k b_{ijk}\,\dot q_j \dot q_k
    = \sum_j b_{ijj}\,\dot q_j^2 + \sum_{j<k} 2\,b_{ijk}\,\dot q_j \dot q_k""")
def test_products_merge_with_a_factor_of_two(state, b, V):
    _, qd, _ = state
    n = len(qd)
    merged = sum(b[:, j, j] * qd[j]**2 for j in range(n))
    merged = merged + sum(2 * b[:, j, k] * qd[j] * qd[k] for j in range(n) for k in range(j + 1, n))
    assert_allclose(merged, V, atol=1e-6)
    assert_allclose(np.einsum("ijk,j,k->i", b, qd, qd), V, atol=1e-6)


def two_link_matrix():
    import sympy
    q, qd, _ = coordinates("q", 2)
    return sympy.Matrix(crba(two_link(), list(q))), q, qd


@equation("eq-velocity_terms-layout", r"V = C(q)\,[\dot q^2] + B(q)\,[\dot q \dot q]")
def test_squares_and_products_make_the_forces_of_the_recursion(rng):
    import sympy
    M, q, _ = two_link_matrix()
    C, B = (sympy.lambdify(q, X) for X in centrifugal_coriolis(M, q))
    for x, v in rng.normal(size=(10, 2, 2)):
        expected = rnea(two_link(g=0), x, v, [0, 0])
        assert_allclose(C(*x) @ v**2 + B(*x) @ [v[0] * v[1]], expected, atol=1e-12)


@equation("eq-velocity_terms-C", r"""C_{ij}(q, \dot q) = \sum_k b_{ijk}\,\dot q_k, \qquad C(q, \dot q)\,\dot q = V""")
def test_one_rate_pulled_out_leaves_the_recursions_matrix(tree, state, b, V):
    q, qd, _ = state
    assert_allclose(b @ qd, coriolis(tree, q, qd), atol=1e-6)
    assert_allclose(b @ qd @ qd, V, atol=1e-6)


@equation("eq-velocity_terms-CV", r"""C_V = \dot M - \tfrac12 \begin{bmatrix} \dot q^T\, \partial M/\partial q_1 \\ \vdots \\
    \dot q^T\, \partial M/\partial q_n \end{bmatrix}""")
def test_the_stacked_matrix_gives_the_published_forces_and_is_not_skew():
    """Another published factor of the same product is not skew either: the product is unique, the matrix is not."""
    for case in load("examples")["two_link"]["inverse_cases"]:
        q, qd, published = (np.array(case[key]) for key in ("q", "qd", "C_nonskew_same_product"))
        dM = slopes(lambda x: crba(two_link(), x), q)
        Mdot = np.einsum("kij,k->ij", dM, qd)
        C_V = Mdot - np.einsum("kij,i->kj", dM, qd) / 2
        for C in (C_V, published):
            assert_allclose(C @ qd, case["V"], atol=1e-8)
            assert (np.abs(Mdot - C - C.T).max() > 1e-3) == np.any(qd != 0)


@equation("eq-velocity_terms-skew", r"\dot M = C + C^T")
def test_the_change_of_inertia_is_the_symmetric_part_of_the_recursions_matrix(tree, state, dM):
    q, qd, _ = state
    C = coriolis(tree, q, qd)
    assert_allclose(C + C.T, np.einsum("kij,k->ij", dM, qd), atol=1e-7)


@equation("eq-velocity_terms-power", r"\dot q^T (\dot M - 2 C)\, \dot q = 0")
def test_velocity_forces_and_changing_inertia_balance_in_the_power(tree, state, V, eps=1e-5):
    """Free of gravity and drive, q̇·V is half of q̇ᵀ Ṁ q̇: the kinetic energy along a motion with q̈ = 0."""
    q, qd, _ = state
    growth = (kinetic_energy(tree, q + eps * qd, qd) - kinetic_energy(tree, q - eps * qd, qd)) / (2 * eps)
    assert_allclose(qd @ V, growth, atol=1e-7)


@equation("eq-velocity_terms-absolute", r"""V_\alpha = m_2 l_1 l_{c2} \sin(\alpha_1 - \alpha_2)
    \begin{bmatrix} \dot\alpha_2^2 \\ -\dot\alpha_1^2 \end{bmatrix}""")
def test_absolute_angles_know_no_products(rng):
    arm, T = two_link(g=0), np.array([[1, 0], [-1, 1]])
    for a, ad in rng.normal(size=(10, 2, 2)):
        closed = 2.0 * 0.5 * 0.2 * np.sin(a[0] - a[1]) * np.array([ad[1]**2, -ad[0]**2])
        assert_allclose(closed, T.T @ rnea(arm, T @ a, T @ ad, [0, 0]), atol=1e-13)


@equation("eq-velocity_terms-G", r"G = \frac{\partial U}{\partial q} = -\sum_i J_{vi}^T\, m_i\, g")
def test_gravity_is_the_slope_of_the_potential_and_the_weights_at_their_jacobians(tree, state):
    q = state[0]
    carried = -sum(point_jacobian(tree, q, i, body.inertia.com).T @ (body.inertia.mass * tree.gravity)
                   for i, body in tree.outward)
    assert_allclose(slopes(lambda x: potential_energy(tree, x), q), carried, atol=1e-7)
    assert_allclose(gravity(tree, q), carried, atol=1e-11)


@equation("eq-velocity_terms-mvg", r"M(q)\,\ddot q + V(q, \dot q) + G(q) = \tau")
def test_the_sum_of_the_three_terms_feeds_the_energy(tree, state, V, eps=1e-5):
    q, qd, qdd = state
    tau = crba(tree, q) @ qdd + V + gravity(tree, q)

    def energy(t):
        x, v = q + qd * t + qdd * t**2 / 2, qd + qdd * t
        return kinetic_energy(tree, x, v) + potential_energy(tree, x)

    assert_allclose(tau @ qd, (energy(eps) - energy(-eps)) / (2 * eps), rtol=1e-6)
    assert_allclose(tau, rnea(tree, q, qd, qdd), atol=1e-10)


# -- what the chapter states in numbers -----------------------------------------------------------------------

def test_the_rp_arms_symbols_are_the_published_ones():
    import sympy
    d, m = sympy.symbols("d m_2", positive=True)
    theta = sympy.Symbol("theta", real=True)
    b = christoffel_symbols(sympy.diag(m * d**2, m), [theta, d])
    assert (b[0, 0, 1], b[0, 1, 0], b[1, 0, 0]) == (m * d, m * d, -m * d)
    assert sum(entry != 0 for entry in sympy.flatten(b.tolist())) == 3


def test_the_transposed_matrix_passes_power_and_skewness_and_is_wrong(tree, state, dM, V):
    q, qd, _ = state
    wrong, Mdot = coriolis(tree, q, qd).T, np.einsum("kij,k->ij", dM, qd)
    assert_allclose(qd @ wrong @ qd, qd @ V, atol=1e-7)
    assert_allclose(wrong + wrong.T, Mdot, atol=1e-7)
    assert np.abs(wrong @ qd - V).max() > 1e-2
