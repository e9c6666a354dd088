"""Lagrange's equations in symbols: closed forms, another route, physics, published numbers."""

import time

import numpy as np
import pytest
import sympy
from numpy.testing import assert_allclose

from lagrangebook.lagrange import (centrifugal_coriolis, christoffel, christoffel_symbols, constraint_jacobian, coordinates,
                                   gravity_terms, kinetic_matrix, lagrange_equations, tidy, velocity_terms)
from lagrangebook.mechanisms import pendulum, rp_arm, two_link
from lagrangebook.newton_euler import rnea
from lagrangebook.simulate import simulate
from lagrangebook.standard_form import of_lagrangian
from reference import fault, load

t, m, l, g, w, A = sympy.symbols("t m l g w A", positive=True)


def zero(matrix):
    """Is every entry identically zero?"""
    return all(sympy.simplify(sympy.expand(entry, trig=True)) == 0 for entry in sympy.Matrix(matrix))


def rp_energies(q, qd, m1=2.0, m2=1.5, l1=0.3, J1=0.05, J2=0.02, g=9.81):
    K = (J1 + J2 + m1 * l1**2 + m2 * q[1]**2) * qd[0]**2 / 2 + m2 * qd[1]**2 / 2
    return K, (m1 * l1 + m2 * q[1]) * g * sympy.sin(q[0])


def two_link_energies(q, qd, l1=0.5, m1=3.0, m2=2.0, lc1=0.25, lc2=0.2, I1=0.0625, I2=2 * 0.4**2 / 12, g=9.81):
    c1 = lc1 * sympy.Matrix([sympy.cos(q[0]), sympy.sin(q[0])])
    c2 = c1 * l1 / lc1 + lc2 * sympy.Matrix([sympy.cos(q[0] + q[1]), sympy.sin(q[0] + q[1])])
    v1, v2 = c1.jacobian(q) * qd, c2.jacobian(q) * qd
    K = (m1 * v1.dot(v1) + m2 * v2.dot(v2) + I1 * qd[0]**2 + I2 * (qd[0] + qd[1])**2) / 2
    return K, g * (m1 * c1[1] + m2 * c2[1])


# -- closed forms ------------------------------------------------------------------------------------------

def test_a_vertical_mass_needs_weight_and_acceleration():
    q, qd, qdd = coordinates("q", 1)
    assert zero(lagrange_equations(m * qd[0]**2 / 2 - m * g * q[0], q, qd, qdd) - sympy.Matrix([m * qdd[0] + m * g]))


@pytest.mark.parametrize("time_symbol", [None, t])
def test_a_pendulum_has_the_textbook_equation_in_symbols_and_in_functions_of_time(time_symbol):
    q, qd, qdd = coordinates("q", 1, time_symbol)
    L = m * l**2 * qd[0]**2 / 2 + m * g * l * sympy.cos(q[0])
    expected = sympy.Matrix([m * l**2 * qdd[0] + m * g * l * sympy.sin(q[0])])
    assert zero(lagrange_equations(L, q, qd, qdd, time_symbol) - expected)


def test_a_bead_on_a_turning_hoop_feels_the_centrifugal_force():
    q, qd, qdd = coordinates("q", 1)
    L = m * l**2 * (qd[0]**2 + w**2 * sympy.sin(q[0])**2) / 2 + m * g * l * sympy.cos(q[0])
    expected = m * l**2 * qdd[0] - m * l**2 * w**2 * sympy.sin(q[0]) * sympy.cos(q[0]) + m * g * l * sympy.sin(q[0])
    assert zero(lagrange_equations(L, q, qd, qdd) - sympy.Matrix([expected]))


def test_functions_of_time_bring_their_time_along():
    """L = ½ m (q̇ + A w cos wt)²: the carriage under the mass is shaken."""
    q, qd, qdd = coordinates("q", 1, t)
    L = m * (qd[0] + A * w * sympy.cos(w * t))**2 / 2
    assert zero(lagrange_equations(L, q, qd, qdd) - sympy.Matrix([m * (qdd[0] - A * w**2 * sympy.sin(w * t))]))


def test_a_charged_particle_keeps_its_magnetic_force():
    """L = ½ m v² + ½ B (x ẏ − y ẋ): terms linear in q̇ give m ẍ = B ẏ."""
    q, qd, qdd = coordinates(("x", "y"))
    B = sympy.Symbol("B")
    rows = lagrange_equations(m * qd.dot(qd) / 2 + B * (q[0] * qd[1] - q[1] * qd[0]) / 2, q, qd, qdd)
    assert zero(rows - sympy.Matrix([m * qdd[0] - B * qd[1], m * qdd[1] + B * qd[0]]))


def test_the_two_layouts_of_the_rp_arm():
    m2, d = sympy.symbols("m_2 d")
    q, qd, _ = coordinates(("theta", "d"))
    M = sympy.diag(A + m2 * q[1]**2, m2)
    squares, products = centrifugal_coriolis(M, q)
    assert squares == sympy.Matrix([[0, 0], [-m2 * q[1], 0]]) and products == sympy.Matrix([2 * m2 * q[1], 0])
    assert christoffel(M, q, qd) == sympy.Matrix([[m2 * q[1] * qd[1], m2 * q[1] * qd[0]], [-m2 * q[1] * qd[0], 0]])


def test_products_stand_in_the_order_12_13_23():
    q, qd, _ = coordinates("q", 3)
    M = sympy.Matrix(3, 3, lambda i, j: sympy.Function(f"M{min(i, j)}{max(i, j)}")(*q))
    squares, products = centrifugal_coriolis(M, q)
    rates = sympy.Matrix([qd[0] * qd[1], qd[0] * qd[2], qd[1] * qd[2]])
    assert zero(squares * qd.applyfunc(lambda v: v**2) + products * rates - velocity_terms(M, q, qd))


def test_names_and_their_dots():
    q, qd, qdd = coordinates("q", 2)
    assert [str(x) for x in (*q, *qd, *qdd)] == ["q1", "q2", "qd1", "qd2", "qdd1", "qdd2"]
    assert sympy.latex(qd[0]) == r"\dot{q}_{1}" and sympy.latex(coordinates(("theta",))[2][0]) == r"\ddot{\theta}"


# -- another route -----------------------------------------------------------------------------------------

def test_christoffel_symbols_give_the_velocity_terms_of_any_mass_matrix():
    q, qd, _ = coordinates("q", 3)
    M = sympy.Matrix(3, 3, lambda i, j: sympy.Function(f"M{min(i, j)}{max(i, j)}")(*q))
    C = christoffel(M, q, qd)
    Mdot = sum((M.diff(s) * v for s, v in zip(q, qd)), sympy.zeros(3))
    assert zero(C * qd - velocity_terms(M, q, qd))
    assert zero(Mdot - C - C.T)
    b = christoffel_symbols(M, q)
    assert all(sympy.expand(b[i, j, k] - b[i, k, j]) == 0 for i in range(3) for j in range(3) for k in range(3))


@pytest.mark.parametrize("model, energies", [(rp_arm(), rp_energies), (two_link(), two_link_energies)], ids=["RP", "2R"])
def test_energies_and_recursion_agree(model, energies):
    q, qd, qdd = coordinates("q", 2)
    K, U = energies(q, qd)
    rows = sympy.lambdify([*q, *qd, *qdd], lagrange_equations(K - U, q, qd, qdd))
    for state in np.random.default_rng(0).normal(size=(20, 3, 2)):
        assert_allclose(np.ravel(rows(*state.ravel())), rnea(model, *state), atol=1e-12)


def test_the_triple_pendulum_agrees_with_the_recursion():
    from lagrangebook.kinematics import kinetic_energy, potential_energy
    q, qd, qdd = coordinates("q", 3)
    L = kinetic_energy(pendulum(3), q, qd) - potential_energy(pendulum(3), q)
    rows = sympy.lambdify([*q, *qd, *qdd], lagrange_equations(L, q, qd, qdd))
    state = np.random.default_rng(1).normal(size=(3, 3))
    assert_allclose(np.ravel(rows(*state.ravel())), rnea(pendulum(3), *state), atol=1e-11)


def test_tidying_changes_no_value():
    x, y = sympy.symbols("x y", real=True)
    for e in (sympy.sin(x)**2 + sympy.cos(x)**2, m * (l * sympy.sin(x) * sympy.sin(x + y) + l * sympy.cos(x) * sympy.cos(x + y)),
              A * sympy.sin(x) * sympy.cos(x) + m * A, (x + y)**3 * sympy.exp(x)):
        assert sympy.simplify(sympy.expand(tidy(e) - e, trig=True)) == 0
    assert tidy(sympy.sin(x)**2 + sympy.cos(x)**2) == 1


def test_the_constraint_jacobian_is_the_derivative():
    q, *_ = coordinates("q", 2)
    J = constraint_jacobian([l * sympy.cos(q[0]) + l * sympy.cos(q[0] + q[1]) - A], q)
    assert zero(J - sympy.Matrix([[-l * sympy.sin(q[0]) - l * sympy.sin(q[0] + q[1]), -l * sympy.sin(q[0] + q[1])]]))


# -- physics -----------------------------------------------------------------------------------------------

def test_the_energy_function_changes_by_the_power_of_the_drive():
    q, qd, qdd = coordinates("q", 2)
    K, U = two_link_energies(q, qd)
    E = K + U
    rate = sum(E.diff(s) * v for s, v in zip(q, qd)) + sum(E.diff(v) * a for v, a in zip(qd, qdd))
    power = lagrange_equations(K - U, q, qd, qdd).dot(qd)
    f = sympy.lambdify([*q, *qd, *qdd], rate - power)
    assert max(abs(f(*s)) for s in np.random.default_rng(2).normal(size=(20, 6))) < 1e-11


def test_a_moving_pivot_pays_for_the_energy_it_brings():
    q, qd, _ = coordinates("q", 1)
    x, y = 0.15 * sympy.sin(3 * t) + 0.8 * sympy.sin(q[0]), 0.07 * sympy.cos(6 * t) - 0.8 * sympy.cos(q[0])
    v = [c.diff(t) + c.diff(q[0]) * qd[0] for c in (x, y)]
    moving = of_lagrangian(1.1 * (v[0]**2 + v[1]**2) / 2 - 1.1 * 9.81 * y, q, qd, t=t)
    run = simulate(moving, [0.9], [-1.4], np.linspace(0, 2, 2001))
    assert np.max(np.abs(run.energy.balance)) < 1e-9 < 0.1 < np.max(np.abs(run.energy.constraint))


def test_time_and_gyroscopic_terms_stand_in_rest_and_never_in_G():
    q, qd, _ = coordinates(("x", "y"))
    spinning = of_lagrangian(((qd[0] - 2 * q[1])**2 + (qd[1] + 2 * q[0])**2) / 2 - 3 * q[0], q, qd, potential=3 * q[0])
    form = spinning([0.4, -0.3], [0.5, 0.7])
    assert_allclose(form.G, [3, 0])
    assert_allclose(form.rest, [-4 * 0.7 - 4 * 0.4, 4 * 0.5 + 4 * 0.3])     # Coriolis and centrifugal, ω = 2
    pumped = of_lagrangian(qd[0]**2 / 2 - sympy.sin(t) * q[0] - q[0]**2, q[:1], qd[:1], t=t)([0.5], [0.0], 0.7)
    assert_allclose([pumped.G[0], pumped.rest[0]], [1.0, np.sin(0.7)])


# -- published numbers -------------------------------------------------------------------------------------

def test_the_vertical_mass_of_the_examples():
    case = load("examples")["vertical_mass"]
    q, qd, _ = coordinates("q", 1)
    dynamics = of_lagrangian(2.0 * qd[0]**2 / 2 - 2.0 * 9.81 * q[0], q, qd)
    for s in case["trajectory"]["samples"]:
        assert_allclose(dynamics.inverse([s["q"]], [s["qd"]], [s["qdd"]]), s["tau"], atol=1e-12)
    assert_allclose(dynamics.accelerations([0], [0], [case["forward"]["tau"]]), case["forward"]["qdd"], atol=1e-12)


@pytest.mark.parametrize("name, energies", [("rp_arm", rp_energies), ("two_link", two_link_energies)])
def test_the_arms_of_the_examples(name, energies):
    q, qd, _ = coordinates("q", 2)
    K, U = energies(q, qd)
    dynamics = of_lagrangian(K - U, q, qd, potential=U)
    for case in load("examples")[name]["inverse_cases"]:
        form = dynamics(case["q"], case["qd"])
        assert_allclose(form.M, case["M"], atol=1e-12)
        assert_allclose(form.C, case["C_christoffel"], atol=1e-12)
        assert_allclose(form.C @ form.qd, case["V"], atol=1e-12)
        assert_allclose(form.G, case["G"], atol=1e-12)


def test_S01_substituting_positions_does_not_kill_their_derivatives():
    case = fault("S01")
    q, qd, qdd = coordinates("q", 2, t)
    x, th = q
    pole = sympy.Matrix([x + 0.45 * sympy.sin(th), -0.45 * sympy.cos(th)])
    v = pole.diff(t)
    L = x.diff(t)**2 * 2.0 / 2 + 0.6 * v.dot(v) / 2 + 0.004 * th.diff(t)**2 / 2 - 0.6 * 9.81 * pole[1]
    state = case["inputs"]["cart_pendulum_state"]
    numbers = dict(zip([*qdd, *qd, *q], [state[k] for k in ("xdd", "thdd", "xd", "thd", "x", "th")]))
    forces = np.array(lagrange_equations(L, q, qd, qdd, t).subs(numbers), dtype=float).ravel()
    assert_allclose(forces, case["expected"]["cart_pendulum_generalised_forces"], atol=1e-9)
    assert np.max(np.abs(forces - case["faulty_result"]["generalised_forces"])) > 0.1


def test_S04_a_pivot_that_moves_with_time():
    case = fault("S04")
    c = case["inputs"]
    q, qd, _ = coordinates("q", 1)
    x = c["A"] * sympy.sin(c["w"] * t) + c["l"] * sympy.sin(q[0])
    y = c["B"] * sympy.cos(2 * c["w"] * t) - c["l"] * sympy.cos(q[0])
    v = [p.diff(t) + p.diff(q[0]) * qd[0] for p in (x, y)]
    dynamics = of_lagrangian(c["mass"] * (v[0]**2 + v[1]**2) / 2 - c["mass"] * 9.81 * y, q, qd, t=t)
    qdd = dynamics.accelerations([c["theta"]], [c["theta_dot"]], [0.0], c["t"])
    assert_allclose(qdd, case["expected"]["theta_ddot"], atol=1e-9)
    assert abs(qdd[0] - case["faulty_result"]["theta_ddot_fixed_pivot"]) > 0.1


def test_arms_are_derived_in_half_a_second_and_print_as_a_person_would():
    l1, m1, m2, lc1, lc2, I1, I2 = sympy.symbols("l1 m1 m2 lc1 lc2 I1 I2", positive=True)
    q, qd, _ = coordinates("q", 2)
    kinetic_matrix(*[two_link_energies(q, qd)[0], qd])      # warm
    start = time.process_time()
    K, U = two_link_energies(q, qd, l1, m1, m2, lc1, lc2, I1, I2, g)
    M = kinetic_matrix(K, qd)
    V, G = velocity_terms(M, q, qd), gravity_terms(U, q)
    assert time.process_time() - start < 1.0                # half a second on an idle core
    h = m2 * l1 * lc2 * sympy.sin(q[1])
    assert M[0, 0] == I1 + I2 + m1 * lc1**2 + m2 * (l1**2 + lc2**2 + 2 * l1 * lc2 * sympy.cos(q[1]))
    assert V == sympy.Matrix([-h * qd[1] * (2 * qd[0] + qd[1]), h * qd[0]**2])
    assert G[1] == m2 * lc2 * g * sympy.cos(q[0] + q[1])


# -- errors ------------------------------------------------------------------------------------------------

def test_bad_input_is_named():
    q, qd, qdd = coordinates("q", 2)
    with pytest.raises(ValueError, match="n must be a positive number"):
        coordinates("q")
    with pytest.raises(ValueError, match="one length"):
        lagrange_equations(qd[0]**2, q, qd[:1], qdd)
    x, xd, xdd = coordinates("x", 2, t)
    with pytest.raises(ValueError, match=r"qd holds .*x2\(t\).* where the derivative of x1\(t\) belongs"):
        lagrange_equations(xd[0]**2, x, xd[::-1], xdd, t)
    with pytest.raises(ValueError, match="qdd holds"):
        lagrange_equations(xd[0]**2, x, xd, xd.diff(t, 2), t)
    with pytest.raises(ValueError, match="L holds accelerations"):
        lagrange_equations(qdd[0] * qd[0], q, qd, qdd)
    with pytest.raises(ValueError, match="q holds 0.50*; wanted symbols"):
        gravity_terms(m * q[0], [sympy.Float(0.5), q[1]])
    with pytest.raises(ValueError, match="must all differ"):
        velocity_terms(sympy.eye(2), [q[0], q[0]], qd)
    with pytest.raises(ValueError, match="K is not quadratic"):
        kinetic_matrix(qd[0]**3, qd)
    with pytest.raises(ValueError, match=r"M has shape \(3, 3\)"):
        velocity_terms(sympy.eye(3), q, qd)
    with pytest.raises(ValueError, match=r"L holds \['m'\]"):
        of_lagrangian(m * qd[0]**2 / 2, q[:1], qd[:1])
    with pytest.raises(ValueError, match="L is not quadratic"):
        of_lagrangian(qd[0]**4, q[:1], qd[:1])
