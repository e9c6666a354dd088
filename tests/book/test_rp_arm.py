"""The worked arm: its printed equations by routes of their own, and the numbers computed elsewhere."""

from dataclasses import replace

import numpy as np
from book_equations import equation
from numpy.testing import assert_allclose

from lagrangebook.forward import aba
from lagrangebook.inertia import Inertia
from lagrangebook.kinematics import kinetic_energy, point, potential_energy
from lagrangebook.mass_matrix import coriolis, crba, gravity
from lagrangebook.mechanisms import rp_arm
from lagrangebook.newton_euler import rnea
from lagrangebook.simulate import simulate
from lagrangebook.standard_form import of_model
from reference import load

PARAMETERS = dict(m1=1.7, m2=0.9, l1=0.4, J1=0.08, J2=0.03, g=9.7)
m1, m2, l1, J1, J2, g = PARAMETERS.values()
EXAMPLES = load("examples")["rp_arm"]


def arm(**changes):
    return rp_arm(**{**PARAMETERS, **changes})


def A(d):
    return J1 + J2 + m1 * l1**2 + m2 * d**2


def states(rng, count=3):
    return rng.normal(size=(20, count, 2))


@equation("eq-rp_arm-speeds", r"""v_{C1}^2 = l_1^2\, \dot\theta^2, \qquad v_{C2}^2 = \dot d^2 + d^2\, \dot\theta^2""")
def test_speeds_of_the_centres_of_mass_are_those_of_their_moving_positions(rng, eps=1e-6):
    for (theta, d), (thetad, dd) in states(rng, 2):
        for body, r, squared in ((0, (l1, 0, 0), l1**2 * thetad**2), (1, (0, 0, 0), dd**2 + d**2 * thetad**2)):
            ends = [point(arm(), [theta + s * thetad, d + s * dd], body, r) for s in (-eps, eps)]
            velocity = (ends[1] - ends[0]) / (2 * eps)
            assert_allclose(velocity @ velocity, squared, rtol=1e-7, atol=1e-8)


@equation("eq-rp_arm-K", r"""K = \tfrac12 A(d)\, \dot\theta^2 + \tfrac12 m_2\, \dot d^2, \qquad
    A(d) = J_1 + J_2 + m_1 l_1^2 + m_2 d^2""")
def test_kinetic_energy_is_that_of_the_bodies(rng):
    for (theta, d), (thetad, dd) in states(rng, 2):
        assert_allclose(A(d) * thetad**2 / 2 + m2 * dd**2 / 2, kinetic_energy(arm(), [theta, d], [thetad, dd]), rtol=1e-13)


@equation("eq-rp_arm-U", r"U = (m_1 l_1 + m_2 d)\, g \sin\theta")
def test_potential_energy_is_weight_times_height(rng):
    for ((theta, d),) in states(rng, 1):
        assert_allclose((m1 * l1 + m2 * d) * g * np.sin(theta), potential_energy(arm(), [theta, d]), atol=1e-12)


@equation("eq-rp_arm-torque", r"""\tau_1 = A(d)\,\ddot\theta + 2 m_2 d\,\dot d\,\dot\theta + (m_1 l_1 + m_2 d)\, g \cos\theta""")
@equation("eq-rp_arm-force", r"F_2 = m_2 \ddot d - m_2 d\,\dot\theta^2 + m_2\, g \sin\theta")
def test_the_two_rows_are_those_of_the_recursion(rng):
    for (theta, d), (thetad, dd), (thetadd, ddd) in states(rng):
        rows = [A(d) * thetadd + 2 * m2 * d * dd * thetad + (m1 * l1 + m2 * d) * g * np.cos(theta),
                m2 * ddd - m2 * d * thetad**2 + m2 * g * np.sin(theta)]
        assert_allclose(rows, rnea(arm(), [theta, d], [thetad, dd], [thetadd, ddd]), atol=1e-12)


@equation("eq-rp_arm-MVG", r"""M = \begin{bmatrix} A(d) & 0 \\ 0 & m_2 \end{bmatrix}, \quad
    V = \begin{bmatrix} 2 m_2 d\,\dot d\,\dot\theta \\ -m_2 d\,\dot\theta^2 \end{bmatrix}, \quad
    G = \begin{bmatrix} (m_1 l_1 + m_2 d)\, g \cos\theta \\ m_2\, g \sin\theta \end{bmatrix}""")
def test_the_printed_terms_are_those_of_the_recursions(rng):
    for q, qd in states(rng, 2):
        (theta, d), (thetad, dd) = q, qd
        assert_allclose(np.diag([A(d), m2]), crba(arm(), q), atol=1e-12)
        assert_allclose([2 * m2 * d * dd * thetad, -m2 * d * thetad**2], coriolis(arm(), q, qd) @ qd, atol=1e-12)
        assert_allclose([(m1 * l1 + m2 * d) * g * np.cos(theta), m2 * g * np.sin(theta)], gravity(arm(), q), atol=1e-12)


@equation("eq-rp_arm-early", r"d - d_0 \approx \frac{d_0\, \tau_1^2\, t^4}{12 A^2}")
def test_the_slider_starts_with_the_fourth_power_of_time():
    flat, d0, tau1 = of_model(arm(g=0)), 0.8, 1.3
    for t in (0.02, 0.04):
        moved = simulate(flat, [0.2, d0], [0, 0], np.linspace(0, t, 9), tau=np.array([tau1, 0])).q[-1, 1] - d0
        assert_allclose(d0 * tau1**2 * t**4 / (12 * A(d0)**2), moved, rtol=1e-3)


@equation("eq-rp_arm-offset", r"M_{12} = -m_2\, c")
def test_a_centre_of_mass_off_the_axis_couples_the_joints(rng):
    """From the energies of two points, without the package's inertia."""
    for (theta, d), (c, _) in states(rng, 2):
        u, across = np.array([np.cos(theta), np.sin(theta)]), np.array([-np.sin(theta), np.cos(theta)])
        J = np.column_stack([d * across - c * u, u])           # velocity of the offset point: dθ̇ across − cθ̇ u + ḋ u
        assert_allclose((m2 * J.T @ J)[0, 1], -m2 * c, atol=1e-12)
        slider = replace(arm().bodies[1], inertia=Inertia(m2, np.array([0, c, 0]), np.diag([0, J2, J2])))
        offset = replace(arm(), bodies=(arm().bodies[0], slider))
        assert_allclose(crba(offset, [theta, d])[0, 1], -m2 * c, atol=1e-12)


@equation("eq-rp_arm-momentum", r"A(d)\,\dot\theta = \text{constant} \qquad \text{for } \tau = G")
def test_the_turning_momentum_stays_where_gravity_is_carried(rng):
    dynamics = of_model(arm())
    run = simulate(dynamics, [0.3, 0.5], [1.4, 0.7], np.linspace(0, 0.5, 101), tau=lambda t, q, qd: gravity(arm(), q))
    assert_allclose(A(run.q[:, 1]) * run.qd[:, 0], A(0.5) * 1.4, rtol=1e-8)
    assert run.q[-1, 1] > 0.6


# -- numbers computed elsewhere -------------------------------------------------------------------------------

def test_the_inverse_cases_of_the_examples():
    model = rp_arm()
    for case in EXAMPLES["inverse_cases"]:
        q, qd, qdd = (np.array(case[key]) for key in ("q", "qd", "qdd"))
        assert_allclose(rnea(model, q, qd, qdd), case["tau"], rtol=0, atol=1e-12)
        assert_allclose(crba(model, q), case["M"], rtol=0, atol=1e-12)
        assert_allclose(coriolis(model, q, qd), case["C_christoffel"], rtol=0, atol=1e-12)
        assert_allclose(gravity(model, q), case["G"], rtol=0, atol=1e-12)
        K, U = kinetic_energy(model, q, qd), potential_energy(model, q)
        assert_allclose([K, U, K - U, K + U], [case[key] for key in "KULE"], rtol=0, atol=1e-12)
        assert_allclose(rnea(model, q, qd, qdd) @ qd, case["power"], rtol=0, atol=1e-12)


def test_the_forward_cases_of_the_examples():
    for case in EXAMPLES["forward_cases"]:
        assert_allclose(aba(rp_arm(), case["q"], case["qd"], case["tau"]), case["qdd"], rtol=0, atol=1e-12)


def test_the_free_motion_of_the_examples():
    motion = EXAMPLES["free_motion"]
    start, end = ([motion[part][key] for key in ("theta", "d", "thetad", "dd")] for part in ("y0", "final"))
    run = simulate(of_model(rp_arm()), start[:2], start[2:], [0, motion["t"]], method="DOP853", rtol=1e-12, atol=1e-13)
    assert_allclose([*run.q[-1], *run.qd[-1]], end, rtol=0, atol=1e-10)


def test_the_static_postures_of_the_text():
    model = rp_arm()
    assert_allclose(gravity(model, [0, 0.8]), [(2.0 * 0.3 + 1.5 * 0.8) * 9.81, 0], atol=1e-12)
    assert_allclose(gravity(model, [np.pi / 2, 0.8]), [0, 1.5 * 9.81], atol=1e-12)
