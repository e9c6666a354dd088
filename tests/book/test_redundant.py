"""The labelled equations of the chapter on redundant constraints, each by an independent route."""

from functools import partial

import numpy as np
import pytest
from book_equations import equation

from lagrangebook.constraints import constrained_accelerations, determined, internal_forces, multiplier_bounds
from lagrangebook.mechanisms import table
from lagrangebook.standard_form import of_model
from reference import load

assert_allclose = partial(np.testing.assert_allclose, rtol=0)

EXAMPLE = load("examples")["four_legged_table"]
BALANCE = np.array(EXAMPLE["equilibrium_matrix"])
INTERNAL = np.array([1, -1, 1, -1])


@pytest.fixture(params=range(5))
def rng(request):
    return np.random.default_rng(request.param)


def standing(**parameters):
    """J, and what the package says of a table at rest."""
    mechanism = table(**parameters)
    J, rest = mechanism.constraint.J(mechanism.model.zero), np.zeros(6)
    return J, constrained_accelerations(of_model(mechanism.model)(mechanism.model.zero, rest), rest, J, np.zeros(4))


def feasible_ends(A, w):
    """Least and largest entries of N ≥ 0 with A N = w: N₀ + s n with one parameter, its interval by hand."""
    N, n = np.linalg.lstsq(A, w, rcond=None)[0], np.linalg.svd(A)[2][-1]
    at_zero = -N / n
    s = np.array([np.max(at_zero[n > 0]), np.min(at_zero[n < 0])])
    return None if s[0] > s[1] + 1e-9 else np.sort(N[:, None] + n[:, None] * s, axis=1)


def least_energy(k, short, w):
    """N of springs under a rigid top: the minimum of Σ k u²/2 − w·z over the top's three motions, by Newton's one step."""
    energy = lambda z: np.sum(k * (BALANCE.T @ z - short)**2) / 2 - w @ z
    eye = np.eye(3)
    H = np.array([[(energy(p + q) - energy(p - q) - energy(q - p) + energy(-p - q)) / 4 for q in eye] for p in eye])
    slope = np.array([(energy(p) - energy(-p)) / 2 for p in eye])
    return k * (BALANCE.T @ -np.linalg.solve(H, slope) - short)


@equation("eq-redundant-balance", r"\begin{pmatrix} 1 & 1 & 1 & 1 \\ x_1 & x_2 & x_3 & x_4 \\ y_1 & y_2 & y_3 & y_4"
          r"\end{pmatrix} N = W \begin{pmatrix} 1 \\ x \\ y \end{pmatrix}")
def test_forces_of_the_feet_balance_weight_and_moments(rng):
    """Against the moments of forces in space, about a point anywhere, for other tables and loads."""
    a, b, m, box = rng.uniform(0.3, 1.5, 4)
    at = rng.uniform(-0.3, 0.3, 2)
    _, found = standing(a=a, b=b, m=10 * m, load=10 * box, load_at=tuple(at))
    feet = np.array([[a, b, 0], [-a, b, 0], [-a, -b, 0], [a, -b, 0]])
    weights = [((0, 0, 0.7), 10 * m * 9.81), ((*at, 0.7), 10 * box * 9.81)]
    pivot, up = rng.normal(size=3), np.array([0, 0, 1])
    moment = sum(np.cross(foot - pivot, force * up) for foot, force in zip(feet, found.lam))
    moment = moment - sum(np.cross(np.array(place) - pivot, force * up) for place, force in weights)
    assert_allclose(moment, 0, atol=1e-10)
    W = sum(force for _, force in weights)
    assert_allclose([np.sum(found.lam), feet[:, 0] @ found.lam, feet[:, 1] @ found.lam],
                    W * np.array([1, *(at * box / (m + box))]), atol=1e-10)
    assert (found.rank, found.status) == (3, "redundant")


@equation("eq-redundant-family", r"N = N_0 + s \begin{pmatrix} 1 & -1 & 1 & -1 \end{pmatrix}^T")
def test_the_internal_forces_of_a_rectangle_alternate(rng):
    J, found = standing()
    n = internal_forces(J)
    assert n.shape == (4, 1)
    assert_allclose(n[:, 0] / n[0, 0], EXAMPLE["null_vector"], atol=1e-12)
    for s in rng.normal(0, 100, 5):
        assert_allclose(BALANCE @ (found.lam + s * INTERNAL), EXAMPLE["right_side"], atol=1e-10)


@equation("eq-redundant-minimum", r"N_i = \frac{W}{4}\left(1 + \frac{x\,x_i}{a^2} + \frac{y\,y_i}{b^2}\right)")
def test_the_least_norm_has_a_closed_form(rng):
    a, b, mass, x, y = rng.uniform(0.2, 1.0, 5)
    _, found = standing(a=a, b=b, m=1.0, load=mass, load_at=(x, y))
    W, share = 9.81 * (1 + mass), mass / (1 + mass)
    signs = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]])
    expected = W / 4 * (1 + share * x * signs[:, 0] / a + share * y * signs[:, 1] / b)
    assert_allclose(found.lam, expected, atol=1e-10)
    assert abs(found.lam @ INTERNAL) < 1e-10        # nothing of the internal forces: the shortest of the family


@equation("eq-redundant-scaled", r"N = \operatorname*{arg\,min}_{A N = w}\; N^T \left(S S^T\right)^{-1} N")
def test_scaled_rows_minimise_another_norm(rng):
    """Along the family N₀ + s n the minimum of a parabola in s."""
    S = np.diag(rng.uniform(0.3, 3, 4))
    mechanism = table()
    J, rest = mechanism.constraint.J(mechanism.model.zero), np.zeros(6)
    form = of_model(mechanism.model)(mechanism.model.zero, rest)
    N = S.T @ constrained_accelerations(form, rest, S @ J, np.zeros(4)).lam
    weight, N0 = np.linalg.inv(S @ S.T), np.array(EXAMPLE["minimum_norm_forces"])
    s = -(INTERNAL @ weight @ N0) / (INTERNAL @ weight @ INTERNAL)
    assert_allclose(N, N0 + s * INTERNAL, atol=1e-9)
    assert np.max(abs(N - N0)) > 0.5


@equation("eq-redundant-springs", r"N = K\left(A^T z - \varepsilon\right), \qquad A K A^T z = w + A K \varepsilon")
def test_springs_take_the_least_energy(rng):
    k, short, w = rng.uniform(0.5, 2, 4), rng.normal(0, 1, 4), np.array(EXAMPLE["right_side"])
    K = np.diag(k)
    z = np.linalg.inv(BALANCE @ K @ BALANCE.T) @ (w + BALANCE @ K @ short)
    assert_allclose(K @ (BALANCE.T @ z - short), least_energy(k, short, w), atol=1e-8)
    assert_allclose(BALANCE @ K @ (BALANCE.T @ z - short), w, atol=1e-9)
    assert_allclose(least_energy(np.ones(4), np.zeros(4), w), EXAMPLE["equal_springs_flat_floor"], atol=1e-8)


@equation("eq-redundant-short", r"\Delta N = -\frac{k\,\delta}{4}\begin{pmatrix} 1 & -1 & 1 & -1 \end{pmatrix}^T")
def test_a_short_leg_shifts_force_to_its_neighbours(rng):
    w = np.array(EXAMPLE["right_side"])
    change = np.array(EXAMPLE["leg1_short_1mm_k_1e5_N_per_m"]) - EXAMPLE["equal_springs_flat_floor"]
    assert_allclose(change, -1e5 * 1e-3 / 4 * INTERNAL, atol=1e-9)
    k, delta = rng.uniform(0.5, 2, 2)
    change = least_energy(k * np.ones(4), np.array([delta, 0, 0, 0]), w) - least_energy(k * np.ones(4), np.zeros(4), w)
    assert_allclose(change, -k * delta / 4 * INTERNAL, atol=1e-8)


@equation("eq-redundant-determined", r"c \cdot N \text{ is determined} \iff c \cdot n = 0 \text{ for all } n"
          r"\text{ with } J^T n = 0")
def test_what_is_determined_is_what_motion_can_measure(rng):
    """c·N is determined exactly if the feet can move at the rates c: then power tells it. No null space is used."""
    J, _ = standing()
    for c in (*(J @ rng.normal(size=(6, 4))).T, *rng.normal(size=(4, 4)), *np.eye(4)):
        power = np.linalg.norm(J @ np.linalg.lstsq(J, c, rcond=1e-10)[0] - c) < 1e-9
        assert bool(determined(J, c[None])[0]) == power
    assert determined(J, [[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]]).all()
    assert not determined(J).any()


@equation("eq-redundant-bounds", r"\underline{N}_i = \min_{A N = w,\; N \ge 0} N_i, \qquad"
          r"\overline{N}_i = \max_{A N = w,\; N \ge 0} N_i")
def test_the_bounds_are_the_ends_of_the_family(rng):
    J, found = standing()
    bounds = multiplier_bounds(J, found.lam, lower=0)
    assert_allclose(np.transpose(bounds[:2]), EXAMPLE["feasible_pushing_interval_per_leg"], atol=1e-6)
    for x, y in rng.uniform(-0.8, 0.8, (6, 2)):
        w = 100 * np.array([1, x, y])
        ends, found = feasible_ends(BALANCE, w), multiplier_bounds(J, np.linalg.lstsq(BALANCE, w, rcond=None)[0], lower=0)
        assert (found.status == "infeasible") == (ends is None) == (max(abs(x) / 0.6, abs(y) / 0.4) > 1)
        if ends is not None:
            assert_allclose(np.transpose(found[:2]), ends, atol=1e-6)


# -- published and reference tables ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["table_rectangle", "table_quadrilateral"])
def test_bounds_of_the_reference_tables(kind):
    case = next(case for case in load("open_4_redundant")["cases"] if case["id"] == kind)
    for each in case["loads"]:
        A, w = np.array(each["A"]), each["weight"] * np.array([1, *each["load_point"]])
        least = np.linalg.pinv(A) @ w
        assert_allclose(least, each["min_norm"], atol=1e-8)
        found = multiplier_bounds(A.T, least, lower=0)
        assert (found.status == "bounded") == each["feasible"]
        if each["feasible"]:
            assert_allclose(np.transpose(found[:2]), each["leg_bounds"], atol=1e-5)


def test_the_least_norm_can_pull_where_pushing_would_do():
    case = EXAMPLE["pseudo_inverse_fails_pushing_only"]
    least = np.linalg.pinv(BALANCE) @ (case["load_N"] * np.array([1, *case["at"]]))
    assert_allclose(least, case["pinv"], atol=1e-9)
    assert_allclose(feasible_ends(BALANCE, BALANCE @ least), case["feasible_intervals"], atol=1e-9)
