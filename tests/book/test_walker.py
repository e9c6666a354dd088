"""The labelled equations of the chapter on the walker, each by an independent route."""

import numpy as np
import pytest
import sympy as sp
from book_equations import equation
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

from lagrangebook.contact import moreau_impact
from lagrangebook.kinematics import kinetic_energy, point
from lagrangebook.mass_matrix import crba
from lagrangebook.mechanisms import walker
from lagrangebook.standard_form import of_model

LIGHT = walker(foot=1e-8)


@pytest.fixture
def rng():
    return np.random.default_rng(41)


def swing(theta, phi, thetad, slope=0.009):
    thetadd = np.sin(theta - slope)
    return thetadd, thetadd + thetad**2 * np.sin(phi) - np.cos(theta - slope) * np.sin(phi)


@equation("eq-walker-places", r"""r_H = l \begin{bmatrix} -\sin\theta \\ \cos\theta \end{bmatrix}, \qquad
          r_f = r_H + l \begin{bmatrix} \sin(\theta - \phi) \\ -\cos(\theta - \phi) \end{bmatrix}""")
def test_the_places_by_the_kinematics_of_the_model(rng):
    for theta, phi in rng.uniform(-0.6, 0.6, (10, 2)):
        q = np.array([0, 0, theta, phi])
        hip = np.array([-np.sin(theta), np.cos(theta)])
        assert_allclose(point(LIGHT.model, q, 0, (0, 1, 0))[:2], hip, atol=1e-14)
        assert_allclose(point(LIGHT.model, q, 1, (0, -1, 0))[:2], hip + [np.sin(theta - phi), -np.cos(theta - phi)], atol=1e-14)


@equation("eq-walker-swing", r"""\ddot\theta = \sin(\theta - \gamma), \qquad
          \ddot\phi = \ddot\theta + \dot\theta^2\sin\phi - \cos(\theta - \gamma)\sin\phi""")
def test_the_swing_by_the_recursion_with_light_feet(rng):
    """The tree pinned at its stance foot: forward dynamics of its last two rows, feet of 1e-8."""
    for theta, phi, thetad, phid in rng.uniform(-0.5, 0.5, (10, 4)):
        form = of_model(LIGHT.model)(np.array([0, 0, theta, phi]), np.array([0, 0, thetad, phid]))
        assert_allclose(np.linalg.solve(form.M[2:, 2:], -form.h[2:]), swing(theta, phi, thetad), atol=1e-6)


@equation("eq-walker-strike", r"""\theta^+ = -\theta^-, \quad \dot\theta^+ = \dot\theta^- \cos 2\theta^-, \qquad
          \phi^+ = -2\theta^-, \quad \dot\phi^+ = \dot\theta^-\cos 2\theta^-\,(1 - \cos 2\theta^-)""")
def test_the_blow_by_two_conserved_angular_momenta(rng):
    """Of the whole about the new foot, and of the old stance leg about the hip; then by Moreau's law on both contacts."""
    for theta, thetad, phid in zip(rng.uniform(-0.35, -0.1, 8), rng.uniform(-0.4, -0.1, 8), rng.uniform(-0.05, 0.05, 8)):
        c = np.cos(2 * theta)
        expected = np.array([thetad * c, thetad * c * (1 - c)])
        M, m = 1.0, 1e-9
        hip, foot = np.array([-np.sin(theta), np.cos(theta)]), np.array([-2 * np.sin(theta), 0])
        v_hip = thetad * np.array([-np.cos(theta), -np.sin(theta)])
        arm = hip - foot
        about_new = M * (arm[0] * v_hip[1] - arm[1] * v_hip[0])
        assert_allclose(about_new, M * expected[0], atol=1e-12)          # unit leg: momentum M l² θ̇⁺ counter-clockwise
        v_after = expected[0] * np.array([-np.cos(-theta), -np.sin(-theta)])
        old = -hip                                                        # from the hip to the old stance foot
        foot_after = v_after + (expected[0] - expected[1]) * np.array([-old[1], old[0]])
        assert abs(m * (old[0] * foot_after[1] - old[1] * foot_after[0])) < 1e-9 * abs(m) + 1e-21
        q, qd = np.array([0, 0, theta, 2 * theta]), np.array([0, 0, thetad, phid])
        found = moreau_impact(crba(LIGHT.model, q), LIGHT.contacts.J_N(q), LIGHT.contacts.J_T(q), qd, LIGHT.contacts.mu, 0.0)
        assert_allclose([found.qd[2] - found.qd[3], -found.qd[3]], expected, atol=1e-6)


@equation("eq-walker-energy", r"""2\,m_H g\,l \sin\theta\,\sin\gamma
          = \tfrac12\,m_H l^2\,(\dot\theta^-)^2 \sin^2 2\theta""")
def test_the_cycle_balances_gravity_and_the_blow():
    """From the published fixed point, integrated without the book's step: work of gravity, loss of the impact law."""
    slope, theta, thetad = 0.009, 0.200310900544287, -0.199832473004977
    c = np.cos(2 * theta)

    def flow(t, y):
        a = swing(y[0], y[1], y[2], slope)
        return [y[2], y[3], *a]
    heel = lambda t, y: y[1] - 2 * y[0] if y[0] < -0.05 else -1.0
    heel.terminal = True
    run = solve_ivp(flow, (0, 8), [theta, 2 * theta, thetad, thetad * (1 - c)], events=heel, rtol=1e-11, atol=1e-12)
    end = run.y[:, -1]
    assert_allclose([-end[0], end[2] * np.cos(2 * end[0])], [theta, thetad], atol=2e-7)       # it repeats
    q, qd = np.array([0, 0, end[0], end[1]]), np.array([0, 0, end[2], end[3]])
    found = moreau_impact(crba(LIGHT.model, q), LIGHT.contacts.J_N(q), LIGHT.contacts.J_T(q), qd, LIGHT.contacts.mu, 0.0)
    assert_allclose(2 * np.sin(theta) * np.sin(slope), -found.energy, rtol=1e-5)
    assert_allclose(-found.energy, kinetic_energy(LIGHT.model, q, qd) * np.sin(2 * theta)**2, rtol=1e-5)
