"""The equations of the page on notation, by an independent route."""

import numpy as np
import pytest
from book_equations import equation
from numpy.testing import assert_allclose

from lagrangebook.identify import regressor
from lagrangebook.kinematics import kinetic_energy, point_bias, point_jacobian, potential_energy
from lagrangebook.mass_matrix import crba
from lagrangebook.mechanisms import rp_arm, two_link, vertical_mass
from lagrangebook.model import GROUND
from lagrangebook.standard_form import of_model


@pytest.fixture
def rng():
    return np.random.default_rng(6)


@equation("eq-notation-standard", r"""M(q)\,\ddot q + C(q,\dot q)\,\dot q + G(q) + F(\dot q) = \tau + J^T \lambda,
    \qquad \tau = B u""")
def test_the_standard_form_balances_power(rng, eps=1e-6):
    """τ·q̇ = dE/dt + F·q̇ along a motion, with the energies differentiated numerically."""
    arm = of_model(two_link(), friction=lambda qd: np.array([0.6, 0.3]) * qd)
    for q, qd, qdd in rng.normal(size=(10, 3, 2)):
        def energy(t, q=q, qd=qd, qdd=qdd):
            q_t, qd_t = q + qd * t + qdd * t**2 / 2, qd + qdd * t
            return kinetic_energy(two_link(), q_t, qd_t) + potential_energy(two_link(), q_t)
        rate = (energy(eps) - energy(-eps)) / (2 * eps)
        assert_allclose(arm(q, qd).forces(qdd) @ qd, rate + arm.F(qd) @ qd, rtol=1e-6, atol=1e-7)


@equation("eq-notation-kkt", r"""\begin{bmatrix} M & -J^T \\ J & 0 \end{bmatrix} \begin{bmatrix} \ddot q \\ \lambda \end{bmatrix}
    = \begin{bmatrix} \tau - h \\ -\gamma \end{bmatrix}""")
def test_the_block_system_keeps_a_point_where_it_is_and_pushes_as_a_hand_would(rng):
    """The tip of an arm held at one height: λ is the force that Gauss's principle finds by minimisation."""
    arm = two_link()
    for q, qd, tau in rng.normal(size=(10, 3, 2)):
        form = of_model(arm)(q, qd)
        J = point_jacobian(arm, q, "forearm", (0.4, 0, 0))[1:2]
        gamma = point_bias(arm, q, qd, "forearm", (0.4, 0, 0))[1:2]
        kkt = np.block([[form.M, -J.T], [J, np.zeros((1, 1))]])
        qdd, lam = np.split(np.linalg.solve(kkt, np.concatenate([tau - form.h, -gamma])), [2])
        free = np.linalg.solve(form.M, tau - form.h)
        along = np.array([-J[0, 1], J[0, 0]])                   # accelerations that the constraint allows
        special = np.linalg.lstsq(J, -gamma, rcond=None)[0]
        s = along @ form.M @ (free - special) / (along @ form.M @ along)
        assert_allclose(qdd, special + s * along, atol=1e-8)
        assert_allclose(form.M @ qdd + form.h - tau, J.T @ lam, atol=1e-8)


# -- rows of the table without an equation of their own ------------------------------------------------------------


def test_the_ground_is_the_only_parent_that_is_no_body_and_parents_come_first():
    for model in (two_link(), rp_arm()):
        assert model.bodies[0].parent == GROUND == -1
        assert all(-1 < body.parent < i for i, body in enumerate(model.bodies) if i)


def test_a_positive_normal_impulse_opens_a_closing_gap(m=2.0, fall=-3.0, e=0.25):
    """Newton's restitution sends the mass back at e times its speed, for which p_N = m (1 + e) |v| is positive."""
    p_N = m * (1 + e) * -fall
    J = point_jacobian(vertical_mass(m=m), [0.0], "mass", (0, 0, 0))[1:2]
    after = fall + np.linalg.solve(crba(vertical_mass(m=m), [0.0]), J.T @ [p_N])
    assert p_N > 0 and J @ after > 0
    assert_allclose(after, -e * fall)


def test_ten_numbers_per_body_give_the_power(rng, eps=1e-6):
    """(Y π)·q̇ = dE/dt, with m, m c and the tensor about the body's origin written down by hand for two rods."""
    pi = []
    for m, length in ((3.0, 0.5), (2.0, 0.4)):
        pi += [m, m * length / 2, 0, 0, 0, 0, m * length**2 / 3, 0, 0, m * length**2 / 3]
    arm = two_link()
    for q, qd, qdd in rng.normal(size=(10, 3, 2)):
        def energy(t, q=q, qd=qd, qdd=qdd):
            q_t, qd_t = q + qd * t + qdd * t**2 / 2, qd + qdd * t
            return kinetic_energy(arm, q_t, qd_t) + potential_energy(arm, q_t)
        rate = (energy(eps) - energy(-eps)) / (2 * eps)
        assert_allclose(regressor(arm, q, qd, qdd) @ pi @ qd, rate, rtol=1e-6, atol=1e-7)
