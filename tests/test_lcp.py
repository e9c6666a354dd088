"""The LCP solvers against the definition, closed forms, published examples, and blocks on tables."""

from functools import partial
from itertools import permutations, product

import numpy as np
import pytest

from lagrangebook.lcp import all_solutions, lemke, projected_gauss_seidel
from reference import fault, load

assert_allclose = partial(np.testing.assert_allclose, rtol=0)

CASES = load("open_5_lcp")["cases"]
MATCHES = pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])

# M. M. Kostreva, Cycling in linear complementarity problems, Mathematical Programming 16 (1979): careless ties cycle here.
KOSTREVA = np.array([[1.0, 2, 0], [0, 1, 2], [2, 0, 1]])


def assert_solves(solution, M, q, tolerance=1e-9):
    """The definition, each row held against the size of its own terms."""
    M, q = np.asarray(M, dtype=float), np.asarray(q, dtype=float)
    assert solution.status == "solved"
    assert np.all(solution.z >= 0) and np.all(solution.w >= 0) and np.all(solution.z * solution.w == 0)
    terms = abs(M) @ solution.z + abs(q)
    assert np.all(abs(solution.w - M @ solution.z - q) <= tolerance * terms)


def random_P_matrix(rng, n):
    """Positive definite but not symmetric: its symmetric part is definite."""
    A, S = rng.normal(size=(n, n)), rng.normal(size=(n, n))
    return A @ A.T + 0.1 * np.eye(n) + 2 * (S - S.T)


def careless_lemke(M, q, last):
    """Lemke's pivots with the first (or last) of the tied rows: what happens on Kostreva's example without a rule."""
    n, pick = len(q), -1 if last else 0
    A, basis = np.column_stack([np.eye(n), -M, -np.ones(n)]), list(range(n))
    row = np.flatnonzero(q == np.min(q))[pick]
    leaving, basis[row], seen = basis[row], 2 * n, set()
    while leaving != 2 * n and (leaving, tuple(basis)) not in seen:
        seen.add((leaving, tuple(basis)))
        entering = (leaving + n) % (2 * n)
        x, delta = np.linalg.solve(A[:, basis], q), np.linalg.solve(A[:, basis], A[:, entering])
        ratio = np.divide(x, delta, out=np.full(n, np.inf), where=delta > 1e-12)
        row = np.flatnonzero(ratio < np.min(ratio) + 1e-12)[pick]
        leaving, basis[row] = basis[row], entering
    return "solved" if leaving == 2 * n else "cycle"


# -- published numbers -----------------------------------------------------------------------------------

@MATCHES
def test_every_vertex_of_the_exact_solutions_is_listed(case):
    solutions = all_solutions(case["M"], case["q"])
    exact = [vertex["z"] for vertex in case["isolated_or_vertex_solutions"]]
    assert len(solutions) == len(exact)
    assert_allclose(sorted(s.z.tolist() for s in solutions), sorted(exact), atol=1e-12)
    assert solutions.continuum == (case["solution_set"] == "continuum")


@MATCHES
def test_pivoting_finds_an_exact_solution_or_says_which_way_it_failed(case):
    solution = lemke(case["M"], case["q"])
    if case["isolated_or_vertex_solutions"]:
        assert_solves(solution, case["M"], case["q"], 1e-12)
        assert min(np.max(abs(solution.z - vertex["z"])) for vertex in case["isolated_or_vertex_solutions"]) < 1e-12
    else:
        assert solution.status == ("ray" if case["feasible_region_nonempty"] else "none")
        assert solution.z is None and solution.residual == np.inf


def test_one_dimensional_problems_are_solved_or_refused():
    case = fault("K01")
    for (m, q), z in zip(case["inputs"]["m_q"], case["expected"]["all_solutions"]):
        solutions, solution = all_solutions([[m]], [q]), lemke([[m]], [q])
        assert sorted(s.z[0] for s in solutions) == pytest.approx(z, abs=1e-12)
        assert (solution.status == "none") == (not z)
        assert not z or min(abs(solution.z[0] - each) for each in z) < 1e-12


def test_a_contact_that_is_not_there_is_a_solved_problem_of_size_zero():
    for solve in (lemke, projected_gauss_seidel):
        solution = solve(np.zeros((0, 0)), np.zeros(0))
        assert solution.status == "solved" and solution.z.shape == (0,) and solution.residual == 0
    assert len(all_solutions(np.zeros((0, 0)), np.zeros(0))) == 1


@pytest.mark.parametrize("order", list(permutations(range(3))), ids=str)
def test_kostreva_1979_does_not_cycle(order):
    """The same answer, z = (1/3, 1/3, 1/3), in every order of the rows and for the transpose."""
    for M in (KOSTREVA, KOSTREVA.T):
        solution = lemke(M[np.ix_(order, order)], -np.ones(3))
        assert_solves(solution, M[np.ix_(order, order)], -np.ones(3), 1e-14)
        assert_allclose(solution.z, np.full(3, 1 / 3), atol=1e-14)


def test_kostreva_1979_cycles_when_ties_are_broken_carelessly():
    assert careless_lemke(KOSTREVA, -np.ones(3), last=False) == "cycle"
    assert careless_lemke(KOSTREVA.T, -np.ones(3), last=True) == "cycle"


def test_the_linear_programme_of_beale_1955_on_which_the_simplex_method_cycles():
    """min cᵀx, A x ≤ b, x ≥ 0 has the optimality conditions M = [[0, Aᵀ], [−A, 0]], q = (c, b); optimum −1/20."""
    c = np.array([-3 / 4, 150, -1 / 50, 6])
    A = np.array([[1 / 4, -60, -1 / 25, 9], [1 / 2, -90, -1 / 50, 3], [0, 0, 1, 0]])
    M, q = np.block([[np.zeros((4, 4)), A.T], [-A, np.zeros((3, 3))]]), np.append(c, [0, 0, 1])
    solution = lemke(M, q)
    assert_solves(solution, M, q, 1e-12)
    assert c @ solution.z[:4] == pytest.approx(-1 / 20, abs=1e-12)


# -- closed forms ----------------------------------------------------------------------------------------

def test_a_diagonal_matrix_decouples_into_positive_parts(rng):
    m, q = rng.uniform(0.1, 10, 8), rng.normal(size=8)
    assert_allclose(lemke(np.diag(m), q).z, np.maximum(0, -q / m), atol=1e-15)
    assert_allclose(projected_gauss_seidel(np.diag(m), q).z, np.maximum(0, -q / m), atol=1e-15)


@pytest.mark.parametrize("n", [1, 2, 5, 12])
def test_the_triangular_matrix_of_murty_is_solved_by_its_last_variable(n):
    """M has ones on the diagonal and twos above it, q = −1: z = (0, …, 0, 1), all signs decided from the last row up."""
    M, q = np.eye(n) + 2 * np.triu(np.ones((n, n)), 1), -np.ones(n)
    assert_allclose(lemke(M, q).z, np.eye(n)[-1], atol=1e-15)


def test_negative_diagonal_gives_two_to_the_n_solutions():
    """w = −z + 1: z is 0 or 1 in every component."""
    solutions = all_solutions(-np.eye(4), np.ones(4))
    assert {tuple(s.z) for s in solutions} == set(product((0.0, 1.0), repeat=4))
    assert not solutions.continuum


def test_a_ray_of_solutions_is_flagged():
    """M = 0, q = 0: every z ≥ 0 solves; M = [[0, 0], [1, 0]], q = (0, −1): every z₁ ≥ 1 does."""
    assert all_solutions([[0]], [0]).continuum
    solutions = all_solutions([[0, 0], [1, 0]], [0, -1])
    assert solutions.continuum and [list(s.z) for s in solutions] == [[1, 0]]


# -- another route ---------------------------------------------------------------------------------------

@pytest.mark.parametrize("seed", range(60))
def test_a_P_matrix_has_one_solution_and_all_three_methods_find_it(seed):
    rng = np.random.default_rng(seed)
    n = 1 + seed % 7
    M, q = random_P_matrix(rng, n), rng.normal(size=n)
    (only,) = solutions = all_solutions(M, q)
    assert not solutions.continuum
    assert_solves(only, M, q)
    assert_allclose(lemke(M, q).z, only.z, atol=1e-10 * (1 + np.max(only.z)))
    symmetric = projected_gauss_seidel(M + M.T, q)
    assert_solves(symmetric, M + M.T, q)
    assert_allclose(symmetric.z, lemke(M + M.T, q).z, atol=1e-8 * (1 + np.max(symmetric.z)))


@pytest.mark.parametrize("seed", range(60))
def test_redundant_contacts_are_solved_and_their_accelerations_are_unique(seed):
    """M = J Jᵀ with more rows than rank and q in the range of J: z may differ, w may not."""
    rng = np.random.default_rng(100 + seed)
    n = 2 + seed % 10
    rank = 1 + seed % (n - 1) if n > 2 else 1
    J = rng.integers(-2, 3, (n, rank)) if seed % 3 else rng.normal(size=(n, rank))
    M, q = (J @ J.T).astype(float), J @ rng.normal(size=rank)
    solution = lemke(M, q)
    assert_solves(solution, M, q, 1e-12)
    if n <= 7:
        for other in all_solutions(M, q):
            assert_solves(other, M, q, 1e-10)
            assert_allclose(other.w, solution.w, atol=1e-10 * (1 + np.max(abs(q))))


@pytest.mark.parametrize("seed", range(150))
def test_every_small_integer_problem_is_judged_as_the_definition_judges_it(seed):
    """Ties, singular bases, rays, empty sets: what is found is a solution, and "none" is never wrong."""
    rng = np.random.default_rng(1000 + seed)
    n = int(rng.integers(1, 5))
    M, q = rng.integers(-3, 4, (n, n)).astype(float), rng.integers(-3, 4, n).astype(float)
    solution, solutions = lemke(M, q), all_solutions(M, q)
    assert solution.status in ("solved", "ray", "none")
    for each in solutions:
        assert_solves(each, M, q, 1e-12)
    if solution.status == "solved":
        assert_solves(solution, M, q, 1e-12)
        assert solutions
    if solution.status == "none":
        assert not solutions


@pytest.mark.parametrize("seed", range(100))
def test_other_units_give_the_same_answer(seed):
    """Rows, columns and q times 10^±8: the same status, and z and w in the new units."""
    rng = np.random.default_rng(2000 + seed)
    n = int(rng.integers(1, 6))
    M, q = rng.integers(-3, 4, (n, n)).astype(float), rng.integers(-3, 4, n).astype(float)
    if seed % 2:
        M, q = random_P_matrix(rng, n), rng.normal(size=n)
    row, column = 10.0 ** rng.integers(-8, 9, n), 10.0 ** rng.integers(-8, 9, n)
    scale = 10.0 ** rng.integers(-8, 9)
    ours, theirs = lemke(M, q), lemke(row[:, None] * M * column, row * q * scale)
    assert ours.status == theirs.status
    if ours.status == "solved":
        assert_allclose(theirs.z * column / scale, ours.z, atol=1e-9 * (1 + np.max(ours.z)))
        assert_allclose(theirs.w / row / scale, ours.w, atol=1e-9 * (1 + np.max(ours.w)))
    many, scaled = all_solutions(M, q), all_solutions(row[:, None] * M * column, row * q * scale)
    assert len(many) == len(scaled) and many.continuum == scaled.continuum


def test_rounding_error_is_not_taken_for_a_pivot():
    """w₁ = 3 z₂ − 1, w₂ = 2 z₁ + 3 has no solution; in other units the zero pivot is 1e-17, and still zero."""
    M, q = np.array([[0.0, 3.0], [2.0, 0.0]]), np.array([-1.0, 3.0])
    row, column = np.array([10.0, 1e-7]), np.array([1e-3, 1.0])
    assert lemke(M, q).status == lemke(row[:, None] * M * column, 0.1 * row * q).status == "ray"


def test_the_covering_variable_leaves_as_soon_as_it_can():
    """Here z₀ reaches zero together with another variable; were that one to leave instead, a ray would follow."""
    M, q = np.array([[1.0, 0, 1], [1, 1, -1], [0, -1, -1]]), np.array([-1.0, -1, 0])
    assert_solves(lemke(M, q), M, q)


def test_the_iteration_says_when_it_has_not_arrived():
    M, q = np.array([[1.0, 0.99], [0.99, 1.0]]), np.array([-1.0, -1.0])
    early = projected_gauss_seidel(M, q, max_sweeps=3)
    assert early.status == "limit" and early.pivots == 3 and 1e-8 < early.residual < 1
    assert_solves(projected_gauss_seidel(M, q, z0=early.z), M, q)


def test_the_iteration_stays_finite_where_it_diverges():
    solution = projected_gauss_seidel([[1.0, -3.0], [-3.0, 1.0]], [-1.0, -1.0])
    assert solution.status == "limit" and np.all(np.isfinite(solution.z)) and np.isfinite(solution.residual)


# -- physics ---------------------------------------------------------------------------------------------

def test_a_table_carries_a_block_until_the_pull_exceeds_its_weight():
    block = load("examples")["block_on_table"]
    m, g = block["parameters"]["m"], block["parameters"]["g"]
    for case in block["pull_cases_acceleration_LCP"]:
        solution = lemke([[1 / m]], [case["pull_up_N"] / m - g])
        assert solution.z[0] == pytest.approx(case["lambda"], abs=1e-12)
        assert solution.w[0] == pytest.approx(case["gap_acceleration"], abs=1e-12)


def test_dropping_every_pulling_force_of_the_equality_solution_is_wrong():
    """Both equality forces on the lifted rod pull, yet one end stays down and pushes."""
    rod = load("examples")["block_on_table"]["rod_two_contacts"]
    assert np.all(np.array(rod["equality_lambda"]) < 0)
    for solution in (lemke(rod["W"], rod["b_free_gap_acceleration"]), *all_solutions(rod["W"], rod["b_free_gap_acceleration"]),
                     projected_gauss_seidel(rod["W"], rod["b_free_gap_acceleration"])):
        assert_allclose(solution.z, rod["LCP_lambda"], atol=1e-9)
        assert_allclose(solution.w, rod["LCP_gap_acceleration"], atol=1e-9)


def test_the_legs_of_a_table_push_with_its_weight_whatever_the_split():
    """Redundant legs: the four forces are not unique, their sum and moments are."""
    table = load("examples")["four_legged_table"]
    A, load_ = np.array(table["equilibrium_matrix"]), np.array(table["right_side"])
    M, q = A.T @ A, -A.T @ load_
    solutions = all_solutions(M, q)
    assert solutions.continuum
    intervals = np.array(table["feasible_pushing_interval_per_leg"])
    for solution in (lemke(M, q), *solutions):
        assert_allclose(A @ solution.z, load_, atol=1e-9)
    assert_allclose(np.min([s.z for s in solutions], axis=0), intervals[:, 0], atol=1e-9)
    assert_allclose(np.max([s.z for s in solutions], axis=0), intervals[:, 1], atol=1e-9)


# -- errors ----------------------------------------------------------------------------------------------

@pytest.mark.parametrize("solve", [lemke, all_solutions, projected_gauss_seidel])
def test_bad_input_is_refused_by_name(solve):
    with pytest.raises(ValueError, match=r"M has shape \(2, 3\); wanted a square matrix"):
        solve(np.ones((2, 3)), np.ones(2))
    with pytest.raises(ValueError, match=r"q has shape \(3,\); M is 2 × 2"):
        solve(np.eye(2), np.ones(3))
    with pytest.raises(ValueError, match="q must be finite"):
        solve(np.eye(2), [1.0, np.nan])
    with pytest.raises(ValueError, match="M must be finite"):
        solve(np.diag([1.0, np.inf]), np.ones(2))


def test_structure_that_a_method_cannot_serve_is_refused_by_name():
    with pytest.raises(ValueError, match="trying 2ⁿ bases is meant for n ≤ 12"):
        all_solutions(np.eye(13), np.ones(13))
    with pytest.raises(ValueError, match=r"M\[1, 1\] is 0; projected Gauss–Seidel divides"):
        projected_gauss_seidel(np.diag([1.0, 0.0]), np.ones(2))


def test_too_few_pivots_are_a_status():
    assert lemke(KOSTREVA, -np.ones(3), max_pivots=1).status == "limit"
