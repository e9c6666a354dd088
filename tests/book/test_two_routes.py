"""The labelled equations of the chapter on two routes, each by an independent route."""

import numpy as np
import pytest
from book_equations import equation
from numpy.testing import assert_allclose

from lagrangebook.kinematics import body_jacobian, kinetic_energy, potential_energy
from lagrangebook.mass_matrix import crba
from lagrangebook.mechanisms import pendulum, two_link
from lagrangebook.newton_euler import rnea
from reference import load

PARAMETERS = dict(l1=0.7, l2=0.5, m1=2.1, m2=1.3, lc1=0.3, lc2=0.2, I1=0.11, I2=0.05, g=9.81)


@pytest.fixture
def rng():
    return np.random.default_rng(3)


def arm():
    return two_link(**PARAMETERS)


@equation("eq-two_routes-M", r"""M = \begin{bmatrix} I_1 + I_2 + m_1 l_{c1}^2 + m_2\,(l_1^2 + l_{c2}^2 + 2 l_1 l_{c2} c_2)
    & I_2 + m_2\,(l_{c2}^2 + l_1 l_{c2} c_2) \\ I_2 + m_2\,(l_{c2}^2 + l_1 l_{c2} c_2) & I_2 + m_2 l_{c2}^2 \end{bmatrix}""")
def test_the_printed_mass_matrix_is_the_hessian_of_the_energy(rng):
    l1, _, m1, m2, lc1, lc2, I1, I2, _ = PARAMETERS.values()
    for q in rng.normal(size=(10, 2)):
        c2 = np.cos(q[1])
        coupling = I2 + m2 * (lc2**2 + l1 * lc2 * c2)
        M = [[I1 + I2 + m1 * lc1**2 + m2 * (l1**2 + lc2**2 + 2 * l1 * lc2 * c2), coupling], [coupling, I2 + m2 * lc2**2]]
        e = np.eye(2)
        hessian = [[kinetic_energy(arm(), q, a + b) - kinetic_energy(arm(), q, a) - kinetic_energy(arm(), q, b)
                    for a in e] for b in e]
        assert_allclose(M, hessian, rtol=1e-12)


@equation("eq-two_routes-V", r"""V = \begin{bmatrix} -h\,(2 \dot q_1 \dot q_2 + \dot q_2^2) \\ h\,\dot q_1^2 \end{bmatrix}""")
def test_the_printed_velocity_terms_are_those_of_the_recursion_without_gravity(rng):
    l1, m2, lc2 = (PARAMETERS[k] for k in ("l1", "m2", "lc2"))
    weightless = two_link(**{**PARAMETERS, "g": 0.0})
    for q, qd in rng.normal(size=(10, 2, 2)):
        h = m2 * l1 * lc2 * np.sin(q[1])
        V = [-h * (2 * qd[0] * qd[1] + qd[1]**2), h * qd[0]**2]
        assert_allclose(V, rnea(weightless, q, qd, np.zeros(2)), atol=1e-13)


@equation("eq-two_routes-G", r"""G = g \begin{bmatrix} (m_1 l_{c1} + m_2 l_1)\cos q_1 + m_2 l_{c2} \cos(q_1+q_2) \\
    m_2 l_{c2} \cos(q_1+q_2) \end{bmatrix}""")
def test_the_printed_gravity_terms_are_the_gradient_of_the_potential(rng, eps=1e-6):
    l1, _, m1, m2, lc1, lc2, _, _, g = PARAMETERS.values()
    for q in rng.normal(size=(10, 2)):
        G = g * np.array([(m1 * lc1 + m2 * l1) * np.cos(q[0]) + m2 * lc2 * np.cos(q.sum()), m2 * lc2 * np.cos(q.sum())])
        gradient = [(potential_energy(arm(), q + eps * e) - potential_energy(arm(), q - eps * e)) / (2 * eps) for e in np.eye(2)]
        assert_allclose(G, gradient, atol=1e-7)


class _Counted:
    """A number that counts the arithmetic done with it."""

    count = 0

    def _operate(self, *_):
        _Counted.count += 1
        return _Counted()

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _operate

    def __neg__(self):
        return self

    def cos(self):
        return self

    sin = cos


def _operations(algorithm, n, vectors):
    _Counted.count = 0
    algorithm(pendulum(n), *(np.array([_Counted() for _ in range(n)]) for _ in range(vectors)))
    return _Counted.count


def _jacobian_sum(model, q):
    return sum(J.T @ body.I @ J for J, body in ((body_jacobian(model, q, i), b) for i, b in model.outward))


@equation("eq-two_routes-orders", r"\text{operations} \sim n^4,\quad n^2,\quad n")
def test_the_orders_of_cost_are_those_of_finite_differences_of_counts():
    """A polynomial of degree k has vanishing differences of order k + 1 and constant ones of order k."""
    recursion = [_operations(rnea, n, 3) for n in range(2, 9)]
    composite = [_operations(crba, n, 1) for n in range(2, 9)]
    assert np.ptp(np.diff(recursion)) == 0 and np.diff(recursion)[0] > 0
    assert np.ptp(np.diff(composite, 2)) == 0 and np.diff(composite, 2)[0] > 0
    naive = [n * _operations(_jacobian_sum, n, 1) for n in range(2, 9)]
    assert np.ptp(np.diff(naive, 4)) == 0 and np.diff(naive, 4)[0] > 0


def test_the_two_link_cases_of_the_examples():
    for case in load("examples")["two_link"]["inverse_cases"]:
        assert_allclose(rnea(two_link(), case["q"], case["qd"], case["qdd"]), case["tau_rigid"], rtol=0, atol=1e-12)
