"""The labelled equations of the chapter on the linear complementarity problem, each by an independent route."""

from itertools import combinations

import numpy as np
import pytest
from book_equations import equation
from numpy.testing import assert_allclose
from scipy.optimize import linprog, minimize

from lagrangebook.contact import contact_accelerations, contacts, sphere_sphere
from lagrangebook.inertia import Inertia
from lagrangebook.lcp import all_solutions, lemke, projected_gauss_seidel
from lagrangebook.model import GROUND, Body, Joint, Model
from lagrangebook.spatial import Pose
from lagrangebook.standard_form import of_model


@pytest.fixture
def rng():
    return np.random.default_rng(31)


def principal_minors(M):
    rows = range(len(M))
    return [np.linalg.det(M[np.ix_(k, k)]) for n in rows for k in combinations(rows, n + 1)]


@equation("eq-lcp-definition", r"w = M z + q, \qquad w \ge 0, \quad z \ge 0, \quad z^T w = 0")
def test_lemke_meets_every_line_of_the_definition(rng):
    for n in (1, 3, 8):
        A = rng.normal(size=(n, n))
        M, q = A @ A.T + 0.1 * np.eye(n), rng.normal(size=n)
        z = lemke(M, q).z
        w = M @ z + q
        assert z.min() >= 0 and w.min() > -1e-9 and abs(z @ w) < 1e-9


@equation("eq-lcp-p", r"M \text{ is a P-matrix} \iff \text{every } q \text{ has exactly one solution}")
def test_p_matrices_have_one_solution_for_each_q_and_others_do_not(rng):
    """By enumeration over random q: one each for P-matrices; none or several for some q otherwise."""
    seen = {True: 0, False: 0}
    for M in rng.normal(size=(60, 2, 2)) + np.eye(2):
        is_p = min(principal_minors(M)) > 0.05
        if not is_p and min(principal_minors(M)) > -0.05:
            continue                                        # too close to the border to tell by sampling
        angle = np.linspace(0, 2 * np.pi, 240, endpoint=False) + 0.0123
        counts = {len(all_solutions(M, np.array([np.cos(a), np.sin(a)]))) for a in angle}
        assert (counts == {1}) == is_p, (M, counts)
        seen[is_p] += 1
    assert min(seen.values()) > 10


@equation("eq-lcp-minimum", r"\min_{z \ge 0} \; \tfrac12\,z^T M z + q^T z")
def test_semidefinite_problems_are_minima_with_a_unique_w(rng):
    """By a bounded quasi-Newton method, for matrices of rank three in five unknowns; z differs, w does not."""
    for _ in range(10):
        A = rng.normal(size=(5, 3))
        M, q = A @ A.T, A @ rng.normal(size=3) + rng.uniform(0, 0.5, 5)
        assert linprog(np.zeros(5), A_ub=-M, b_ub=q).status == 0
        found = minimize(lambda z: z @ M @ z / 2 + q @ z, np.ones(5), jac=lambda z: M @ z + q, bounds=[(0, None)] * 5,
                         options={"ftol": 1e-16, "gtol": 1e-12, "maxiter": 5000})
        assert_allclose(M @ found.x + q, lemke(M, q).w, atol=1e-4)


def narrowing(rho, r):
    """A disc of radius r between two balls of radius ρ, at the narrowest place, sliding through."""
    disc = Model((Body("disc", GROUND, Joint("planar"), Pose(), Inertia(2.0, (0, 0, 0), np.diag([0, 0, 0.1]))),), (0, 0, 0), "disc")
    return disc, contacts(*(sphere_sphere(disc, 0, (0, 0, 0), r, GROUND, (0, s * (rho + r), 0), rho) for s in (1, -1)))


@equation("eq-lcp-channel", r"""W = \frac1m \begin{bmatrix} 1 & -1 \\ -1 & 1 \end{bmatrix}, \qquad
          b = -\frac{v^2}{\rho} \begin{bmatrix} 1 \\ 1 \end{bmatrix}""")
def test_a_disc_in_a_channel_that_bends_in_has_no_forces():
    """By contacts of a disc: between two balls the channel widens and b is positive; its negative is the narrowing one."""
    v, r = 1.5, 0.1
    for rho in (0.7, 1.4):
        disc, walls = narrowing(rho, r)
        q, qd = np.zeros(3), np.array([v, 0, 0])
        J = walls.J_N(q)
        assert_allclose(J @ np.linalg.solve(of_model(disc)(q, qd).M, J.T), np.array([[1, -1], [-1, 1]]) / 2.0, atol=1e-12)
        assert_allclose(walls.bias_N(q, qd), v**2 / (rho + r) * np.ones(2), rtol=1e-9)
        assert contact_accelerations(of_model(disc)(q, qd), np.zeros(3), walls, q, qd, law="frictionless").status == "solved"
    W = np.array([[1.0, -1.0], [-1.0, 1.0]]) / 2
    assert lemke(W, -v**2 / 0.9 * np.ones(2)).status == "none"
    assert linprog(np.zeros(2), A_ub=-W, b_ub=-v**2 / 0.9 * np.ones(2)).status == 2      # infeasible


@equation("eq-lcp-sweep", r"z_i \leftarrow \max\left(0,\; z_i - \frac{(M z + q)_i}{M_{ii}}\right)")
def test_each_correction_minimises_along_its_own_force(rng):
    """By a line search: no other value of z_i gives less; sweeps end where Lemke's method does."""
    A = rng.normal(size=(6, 6))
    M, q, z = A @ A.T + np.eye(6), rng.normal(size=6), rng.uniform(0, 1, 6)

    def value(z):
        return z @ M @ z / 2 + q @ z

    for i in range(6):
        moved = z.copy()
        moved[i] = max(0.0, z[i] - (M @ z + q)[i] / M[i, i])
        for other in rng.uniform(0, 3, 30):
            trial = z.copy()
            trial[i] = other
            assert value(moved) <= value(trial) + 1e-12
        z = moved
    assert_allclose(projected_gauss_seidel(M, q).z, lemke(M, q).z, atol=1e-7)


def test_copositive_without_plus_may_be_feasible_and_have_no_solution():
    M, q = np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([-1.0, 1.0])
    assert linprog(np.zeros(2), A_ub=-M, b_ub=q).status == 0          # feasible
    assert all_solutions(M, q) == [] and lemke(M, q).status == "ray"
