"""The labelled equations of the chapter on unilateral contact, each by an independent route."""

import numpy as np
import pytest
from book_equations import equation
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from lagrangebook.contact import contact_accelerations, contacts, point_plane, sphere_sphere
from lagrangebook.inertia import Inertia
from lagrangebook.lcp import lemke
from lagrangebook.model import GROUND, Body, Joint, Model
from lagrangebook.spatial import Pose
from lagrangebook.standard_form import of_model

BAR = Model((Body("bar", GROUND, Joint("planar"), Pose(), Inertia(1.3, (0.1, 0.05, 0), np.diag([0, 0.2, 0.2]))),),
            (0, -9.81, 0), "bar")


@pytest.fixture
def rng():
    return np.random.default_rng(29)


def supports():
    return contacts(point_plane(BAR, 0, (-0.8, 0, 0)), point_plane(BAR, 0, (0.7, 0, 0)))


@equation("eq-unilateral-complementarity", r"0 \le \lambda_N \;\perp\; \mathrm{gap}(q) \ge 0")
def test_a_sum_of_products_vanishes_only_where_each_does(rng):
    """Over random vectors without negative entries: λ·gap = 0 exactly where no pair is positive together (claim 000-31)."""
    for lam, gap in rng.integers(0, 2, (200, 2, 4)) * rng.uniform(0.1, 1, (200, 2, 4)):
        assert (lam @ gap == 0) == all(x == 0 or y == 0 for x, y in zip(lam, gap))


@equation("eq-unilateral-acceleration", r"0 \le \lambda_N \;\perp\; \ddot{\mathrm{gap}} \ge 0 \qquad \text{where } \mathrm{gap} = \dot{\mathrm{gap}} = 0")
def test_the_gap_opens_without_force_or_stays_shut_under_it(rng):
    """By a short motion under the forces found: half the acceleration times the time squared is the gap that opens."""
    q, qd, dt = np.zeros(3), np.zeros(3), 1e-4
    for tau in rng.normal(0, 15, (20, 3)):
        found = contact_accelerations(of_model(BAR)(q, qd), tau, supports(), q, qd, law="frictionless")
        after = BAR.integrate(q, found.qdd, dt**2 / 2)
        gap = supports().gap(after) / (dt**2 / 2)
        assert np.all(found.lam_N >= 0) and np.all(gap > -1e-4)
        assert np.all((found.lam_N < 1e-9) | (np.abs(gap) < 1e-4))


@equation("eq-unilateral-linear", r"""\ddot{\mathrm{gap}} = W \lambda_N + b, \qquad W = J_N M^{-1} J_N^T,
          \qquad b = J_N M^{-1}(\tau - h) + \dot J_N\,\dot q""")
def test_the_acceleration_of_the_gap_by_second_differences(rng):
    """Along the motion that a given force makes, on a ball where J_N turns."""
    onto = contacts(sphere_sphere(BAR, 0, (0.2, 0.1, 0), 0.0, GROUND, (0, 0, 0), 0.6))
    for q, qd, tau in rng.normal(size=(10, 3, 3)):
        q[:2] += 1.5
        form, lam, eps = of_model(BAR)(q, qd), rng.normal(), 1e-4
        J = onto.J_N(q)
        qdd = form.accelerations(tau + J.T @ [lam])
        gap = [onto.gap(_moved(q, qd, qdd, t))[0] for t in (eps, 0, -eps)]
        W = J @ np.linalg.solve(form.M, J.T)
        b = J @ form.accelerations(tau) + onto.bias_N(q, qd)
        assert_allclose((gap[0] - 2 * gap[1] + gap[2]) / eps**2, (W @ [lam] + b)[0], rtol=1e-4, atol=1e-4)


def _moved(q, qd, qdd, t):
    """Where a planar body is after t with body-axis rates q̇ + q̈ t, by many small steps."""
    n = 40
    for k in range(n):
        q = BAR.integrate(q, qd + qdd * t * (k + 0.5) / n, t / n)
    return q


@equation("eq-unilateral-lcp", r"0 \le \lambda_N \;\perp\; W\lambda_N + b \ge 0")
def test_the_forces_minimise_a_quadratic_function_over_what_may_push(rng):
    """By another solver: min ½ λᵀWλ + bᵀλ over λ ≥ 0."""
    J = supports().J_N(np.zeros(3))
    W = J @ np.linalg.solve(of_model(BAR)(np.zeros(3), np.zeros(3)).M, J.T)
    for b in rng.normal(size=(20, 2)):
        found = minimize(lambda x: x @ W @ x / 2 + b @ x, np.ones(2), jac=lambda x: W @ x + b, bounds=[(0, None)] * 2,
                         options={"ftol": 1e-15, "gtol": 1e-12})
        assert_allclose(lemke(W, b).z, found.x, atol=1e-5)


def test_dropping_every_negative_force_lets_a_support_be_penetrated():
    """The published two-contact rod: W = [[4, −2], [−2, 4]], b = (−1, 3) (claim 000-34)."""
    W, b = np.array([[4.0, -2.0], [-2.0, 4.0]]), np.array([-1.0, 3.0])
    assert_allclose(np.linalg.solve(W, -b), [-1 / 6, -5 / 6], rtol=1e-12)
    assert b.min() < 0                                     # both let go: the first gap closes
    assert_allclose(lemke(W, b).z, [0.25, 0], atol=1e-12)


@equation("eq-unilateral-curvature", r"\lambda_N = m\left(g\cos\theta - \frac{v^2}{R}\right)")
def test_the_force_on_a_ball_falls_with_speed(rng):
    """By the contact law at random angles and speeds; where the formula is negative there is no force."""
    m, R = 1.7, 0.4
    bead = Model((Body("bead", GROUND, Joint("planar"), Pose(), Inertia(m, (0, 0, 0), np.diag([0, 0, 1e-3]))),), (0, -9.81, 0), "bead")
    ball = contacts(sphere_sphere(bead, 0, (0, 0, 0), 0.0, GROUND, (0, 0, 0), R))
    for theta, v in zip(rng.uniform(-1.2, 1.2, 20), rng.uniform(-2.5, 2.5, 20)):
        q, qd = np.array([R * np.sin(theta), R * np.cos(theta), 0]), np.array([v * np.cos(theta), -v * np.sin(theta), 0])
        found = contact_accelerations(of_model(bead)(q, qd), np.zeros(3), ball, q, qd, law="frictionless")
        assert_allclose(found.lam_N[0], max(0, m * (9.81 * np.cos(theta) - v**2 / R)), atol=1e-8)
