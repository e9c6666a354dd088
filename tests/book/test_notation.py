"""The equations of the page on notation, by an independent route."""

import numpy as np
import pytest
from book_equations import equation
from numpy.testing import assert_allclose

from lagrangebook.kinematics import kinetic_energy, point_bias, point_jacobian, potential_energy
from lagrangebook.mechanisms import two_link
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
