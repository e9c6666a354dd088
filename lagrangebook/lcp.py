"""The linear complementarity problem: w = M z + q, w ≥ 0, z ≥ 0, z·w = 0.

Nothing here depends on units: rows, columns and q may be multiplied by any positive numbers and the answers
only change their units. Decisions are taken in a balanced copy of the problem, and a number counts as zero
when it is rounding error beside the terms that it is a difference of.
"""

from dataclasses import dataclass, replace
from itertools import combinations, product
from math import comb

import numpy as np

Array = np.ndarray

ROUNDING = 1e-13        # below this fraction of its own terms a difference counts as zero
ACCEPTED = 1e-8         # a residual above it is not called a solution


@dataclass(frozen=True, eq=False)
class LCPSolution:
    """What was found, and how good it is."""

    z: Array | None         # (n,) ≥ 0; None where there is nothing to show ("ray", "none")
    w: Array | None         # (n,) ≥ 0, zero wherever z is not
    status: str             # "solved", "ray" (not found), "none" (there is none), "limit" (gave up)
    pivots: int             # pivots of Lemke's method, sweeps of the iteration
    residual: float         # max |w − M z − q|ᵢ / (|M| |z| + |q|)ᵢ, free of units; ∞ without a z


class Solutions(list):
    """A list of `LCPSolution`; `continuum`: there are more, on segments between them or rays from them."""

    continuum: bool = False


def lemke(M: Array, q: Array, max_pivots: int = 5000) -> LCPSolution:
    """One solution by Lemke's complementary pivoting, with the lexicographic rule, so that it never cycles.

    A variable z₀ with a covering vector d > 0 is added,  w − M z − d z₀ = q.  It enters first, as large as q
    demands; then the complement of whatever has just left enters, until z₀ leaves (a solution) or nothing
    stops the entering variable (a ray). Ties are broken by the rows of [B⁻¹q, B⁻¹], B the basis.

    M : (n, n)   q : (n,)
    status "solved"; "none" where some y ≥ 0 with Mᵀy ≤ 0, q·y < 0 proves that no z ≥ 0 has M z + q ≥ 0; "ray"
    otherwise, which cannot happen for P and for copositive-plus M (so for no positive semidefinite one);
    "limit" after max_pivots, or where rounding has spoilt the basis. ValueError names a wrong shape or a
    number not finite. Cottle, Pang and Stone, The Linear Complementarity Problem (1992), chapter 4.
    """
    M, q = _checked(M, q)
    if np.all(q >= 0):
        return _accepted(M, q, np.zeros(len(q)), q, 0)
    rows, columns, scale, d = _balance(M, q)
    Mb, qb = rows[:, None] * M * columns, rows * q * scale
    status, z, w, pivots = _pivot(Mb, qb, d, max_pivots)
    if status == "ray":
        return LCPSolution(None, None, "none" if _infeasible(Mb, qb) else "ray", pivots, np.inf)
    solution = _accepted(M, q, columns * z / scale, w / (rows * scale), pivots)
    return solution if status == "solved" else replace(solution, status="limit")


def _pivot(M: Array, q: Array, d: Array, max_pivots: int) -> tuple[str, Array, Array, int]:
    """(status, z, w, pivots) of the balanced problem. Variables: w is 0 … n−1, z is n … 2n−1, z₀ is 2n."""
    n = len(q)
    A, basis, entering = np.column_stack([np.eye(n), -M, -d]), np.arange(n), 2 * n
    status, pivots, x = "limit", 0, np.zeros(2 * n + 1)
    try:
        while status == "limit" and pivots < max_pivots:
            row, pivots = _blocking_row(A, q, basis, entering), pivots + 1
            if row is None:
                return "ray", x[n:2 * n], x[:n], pivots
            leaving, basis[row] = basis[row], entering
            entering, status = (leaving + n) % (2 * n), "solved" if leaving == 2 * n else "limit"
        x[basis] = np.maximum(np.linalg.solve(A[:, basis], q), 0)
    except np.linalg.LinAlgError:
        status = "limit"
    return status, x[n:2 * n], x[:n], pivots


def _blocking_row(A: Array, q: Array, basis: Array, entering: int) -> int | None:
    """The row whose basic variable stops the entering one first; None where none does.

    With δ = B⁻¹a it is the lexicographically smallest [B⁻¹q, B⁻¹]ᵢ / δᵢ over δᵢ > 0, but z₀ leaves as soon as
    it can. Where z₀ itself enters (B = 1, a = −d) the sign of a is turned: z₀ must grow until q + d z₀ ≥ 0.
    spread bounds what rounding can do to B⁻¹.
    """
    z0 = A.shape[1] - 1
    a = -A[:, entering] if entering == z0 else A[:, entering]
    inverse = np.linalg.inv(A[:, basis])
    delta, rows = inverse @ a, np.column_stack([inverse @ q, inverse])
    spread = ROUNDING * np.outer(abs(inverse).sum(axis=1), abs(A[:, basis]).max(axis=0) @ abs(inverse))
    error = np.column_stack([spread @ abs(q), spread])
    first = np.flatnonzero(delta > spread @ abs(a))
    for k in range(rows.shape[1]):
        if len(first) < 2:
            break
        ratio, doubt = rows[first, k] / delta[first], error[first, k] / delta[first]
        first = first[ratio - doubt <= np.min(ratio + doubt)]
        if k == 0 and z0 in basis[first]:
            first = np.flatnonzero(basis == z0)
    return int(first[0]) if len(first) else None


def all_solutions(M: Array, q: Array) -> Solutions:
    """Every vertex of the solution set, by the definition: each of the 2ⁿ ways to let zᵢ or wᵢ vanish is
    tried.

    For a choice, {x ≥ 0 : B x = q} with B of columns eᵢ (wᵢ may be positive) or −Mᵢ (zᵢ may) is a point, a
    polyhedron, or empty. The list is empty where there is no solution; its flag `continuum` is set where a
    polyhedron is more than a point. It is the check on `lemke`, for n ≤ 12 (ValueError above).
    """
    M, q = _checked(M, q)
    n = len(q)
    if n > 12:
        raise ValueError(f"M is {n} × {n}; trying 2ⁿ bases is meant for n ≤ 12")
    rows, columns, scale, _ = _balance(M, q)
    Mb, qb = rows[:, None] * M * columns, rows * q * scale
    found, solutions = [], Solutions()
    for active in product((False, True), repeat=n):
        B = np.where(active, -Mb, np.eye(n))
        vertices = _vertices(B, qb)
        solutions.continuum |= len(vertices) > 1 or (len(vertices) == 1 and _has_ray(B))
        for x in vertices:
            z, w = np.where(active, x, 0), np.where(active, 0, x)
            if not any(_same(z, other) and _same(w, slack) for other, slack in found):
                found.append((z, w))
    solutions += [_accepted(M, q, columns * z / scale, w / (rows * scale), 0) for z, w in found]
    return solutions


def _vertices(A: Array, b: Array) -> list[Array]:
    """All vertices of {x ≥ 0 : A x = b}, each once: the basic solutions A_B⁻¹ b that are not negative."""
    n, rank, found = A.shape[1], int(_rank(A)), []
    bases = np.array(list(combinations(range(n), rank)), dtype=int).reshape(comb(n, rank), rank)
    parts = np.moveaxis(A[:, bases], 0, 1)                              # (m, rank) for each choice of columns
    inverses = np.linalg.pinv(parts, rcond=1e-14)
    x = inverses @ b
    likely = (_rank(parts) == rank) & np.all(x >= -1e-6 * np.max(abs(x), initial=0.0), axis=-1)
    for basis, part, inverse in zip(bases[likely], parts[likely], inverses[likely]):
        x, spread = inverse @ b, 100 * ROUNDING * abs(inverse) @ abs(part) @ abs(inverse) @ abs(b)
        vertex = np.zeros(n)
        vertex[basis] = np.where(abs(x) <= spread, 0, x)
        exact = np.all(abs(A @ vertex - b) <= abs(part) @ spread + 100 * ROUNDING * abs(b))
        if np.all(vertex >= 0) and exact and not any(_same(vertex, other) for other in found):
            found.append(vertex)
    return found


def _has_ray(B: Array) -> bool:
    """Is there x ≥ 0, x ≠ 0, with B x = 0? Then B x = q holds along a ray from every solution."""
    n = len(B)
    return _rank(B) < n and len(_vertices(np.vstack([B, np.ones(n)]), np.append(np.zeros(n), 1.0))) > 0


def _rank(A: Array) -> Array:
    """Rank of a balanced matrix, or of each in a stack of them."""
    return np.linalg.matrix_rank(A, tol=ROUNDING * A.shape[-1])


def _same(x: Array, y: Array) -> bool:
    return bool(np.all(abs(x - y) <= 1e-9 * np.max(abs(np.append(x, y)), initial=0.0)))


def projected_gauss_seidel(M: Array, q: Array, z0: Array | None = None, max_sweeps: int = 2000,
                           tolerance: float = 1e-10) -> LCPSolution:
    """A solution by iteration: row by row  zᵢ ← max(0, zᵢ − (M z + q)ᵢ / Mᵢᵢ),  until the residual is small.

    Converges for symmetric positive semidefinite M that have a solution, slowly where M is near singular.
    z0 : (n,) where to start, zero if not given
    status "solved", or "limit" with the last iterate and its residual; pivots counts the sweeps. ValueError
    where a diagonal element is not positive.
    """
    M, q = _checked(M, q)
    z = np.zeros(len(q)) if z0 is None else np.maximum(_vector("z0", z0, len(q)), 0)
    for i in np.flatnonzero(np.diag(M) <= 0):
        raise ValueError(f"M[{i}, {i}] is {M[i, i]:g}; projected Gauss–Seidel divides by a positive diagonal")
    last = _accepted(M, q, z, _slack(M, q, z), 0, tolerance)
    with np.errstate(over="ignore", invalid="ignore"):
        while last.status != "solved" and last.pivots < max_sweeps:
            z = last.z.copy()
            for i in range(len(q)):
                z[i] = max(0.0, z[i] - (M[i] @ z + q[i]) / M[i, i])
            following = _accepted(M, q, z, _slack(M, q, z), last.pivots + 1, tolerance)
            if not np.isfinite(following.residual):
                break
            last = following
    return last


def _slack(M: Array, q: Array, z: Array) -> Array:
    """w (n,) that keeps the signs: M z + q where z vanishes and this is positive, else zero."""
    return np.where(z > 0, 0, np.maximum(M @ z + q, 0))


# -- checks, balance, residual -----------------------------------------------------------------------------

def _checked(M: Array, q: Array) -> tuple[Array, Array]:
    M = np.asarray(M, dtype=float)
    if M.ndim != 2 or M.shape[0] != M.shape[1]:
        raise ValueError(f"M has shape {M.shape}; wanted a square matrix (n, n)")
    if not np.all(np.isfinite(M)):
        raise ValueError("M must be finite; it holds NaN or infinity")
    return M, _vector("q", q, len(M))


def _vector(name: str, x: Array, n: int) -> Array:
    x = np.asarray(x, dtype=float)
    if x.shape != (n,):
        raise ValueError(f"{name} has shape {x.shape}; M is {n} × {n}, so wanted ({n},)")
    if not np.all(np.isfinite(x)):
        raise ValueError(f"{name} must be finite; got {x.tolist()}")
    return x


def _balance(M: Array, q: Array) -> tuple[Array, Array, float, Array]:
    """(rows, columns, scale, d): powers of two that bring the sizes of rowsᵢ [Mᵢⱼ columnsⱼ, qᵢ scale] near
    one.

    Least squares on the logarithms of the elements that are not zero (Curtis and Reid, 1972): what multiplies
    a row, a column or q is divided out again. d (n,), in the balanced rows, is free of the rounding to powers
    of two.
    """
    n = len(q)
    A = abs(np.column_stack([M, q]))
    there = A > 0
    log = np.log2(A, where=there, out=np.zeros_like(A))
    in_row, in_column = np.diag(there.sum(axis=1)), np.diag(there.sum(axis=0))
    counts = np.block([[in_row, there], [there.T, in_column]]).astype(float)
    exponent = np.linalg.lstsq(counts, -np.concatenate([log.sum(axis=1), log.sum(axis=0)]), rcond=1e-10)[0]
    power = np.exp2(np.round(exponent))
    return power[:n], power[n:-1], power[-1], np.exp2(np.round(exponent[:n]) - exponent[:n])


def _accepted(M: Array, q: Array, z: Array, w: Array, pivots: int,
              tolerance: float = ACCEPTED) -> LCPSolution:
    """The pair with its residual; "solved" where that is small enough, "limit" otherwise."""
    defect, size = abs(w - M @ z - q), abs(M) @ abs(z) + abs(q)
    residual = float(np.max(defect / np.where(size > 0, size, 1), initial=0.0))
    return LCPSolution(z, w, "solved" if residual <= tolerance else "limit", pivots, residual)


def _infeasible(M: Array, q: Array) -> bool:
    """Is there y ≥ 0 with Mᵀy ≤ 0 and q·y < 0? Then y·(M z + q) < 0 for every z ≥ 0 (Farkas)."""
    from scipy.optimize import linprog
    found = linprog(q, A_ub=M.T, b_ub=np.zeros(len(q)), bounds=(0, 1),
                    options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10})
    if found.status != 0:
        return False
    y = np.maximum(found.x, 0)
    return bool(q @ y < -1e-9 * (abs(q) @ y) and np.all(M.T @ y <= 1e-9 * (abs(M.T) @ y)))
