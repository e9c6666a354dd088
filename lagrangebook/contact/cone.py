"""Coulomb's cone, and the one problem that accelerations, impulses and time steps all lead to.

    v = W p + b      0 ≤ v_N ⟂ p_N ≥ 0      ‖p_T‖ ≤ μ p_N,  p_T opposes v_T, on the rim where v_T ≠ 0

Rows of a contact stand together, normal first. p may be forces and v accelerations, or impulses and
velocities.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..lcp import lemke
from ..model import checked
from ..spatial import Array
from .sweeps import fastest

SMALL = 48          # variables of the LCP up to which Lemke's method goes first
WARM = (30, 100, 500, 4000)     # sweeps before each try of Newton's method from a given guess
NEGLIGIBLE = 1e-12  # a diagonal element of W this small beside the largest is none


class Cone(NamedTuple):
    """A friction cone replaced by a pyramid; unpacks as generators, error."""

    generators: Array       # (facets, 1 + d): (1, μ d_k), which with weights ≥ 0 make up the pyramid
    error: float            # the part of friction missing where it is worst: 1 − cos(π/facets); plane: 0


def friction_cone(mu: float, facets: int = 8, d: int = 2) -> Cone:
    """The pyramid inside Coulomb's cone, d_k = (cos 2πk/facets, sin 2πk/facets); in the plane the cone
    itself.

    mu : ≥ 0    facets : 3 or more    d : 1 or 2
    """
    if not (np.isfinite(mu) and mu >= 0):
        raise ValueError(f"mu is {mu}; wanted a number ≥ 0")
    directions = _directions(facets, d)
    return Cone(np.column_stack([np.ones(len(directions)), mu * directions]),
                0.0 if d == 1 else 1 - np.cos(np.pi / facets))


def _directions(facets: int, d: int) -> Array:
    """Unit directions (facets, d); two in the plane, none without friction."""
    if d not in (0, 1, 2):
        raise ValueError(f"d is {d}; wanted 1 in the plane, 2 in space")
    if facets < 3:
        raise ValueError(f"facets is {facets}; wanted 3 or more")
    if d < 2:
        return np.array([[1.0], [-1.0]]) if d else np.zeros((0, 0))
    angle = 2 * np.pi * np.arange(facets) / facets
    return np.column_stack([np.cos(angle), np.sin(angle)])


def onto_disc(p: Array, radius: float) -> Array:
    """The point of the disc ‖·‖ ≤ radius nearest to p (d,)."""
    size = np.linalg.norm(p)
    return p if size <= radius else p * (radius / size)


# -- the solver --------------------------------------------------------------------------------------------

class ContactSolution(NamedTuple):
    """Unpacks as p, residual, status."""

    p: Array            # (k,) as the rows of W; in the cones even where it is no solution
    residual: float     # max |p − proj(p − v)|, rows scaled to a unit diagonal of W and a largest b of one
    status: str         # "solved", "none" (there is none) or "limit" (none was found; the best is shown)


def solve_contact(W: Array, b: Array, mu: Array, sizes: Sequence[int], start: Array | None = None,
                  terms: Array | None = None, facets: int | None = None,
                  tolerance: float = 1e-10) -> ContactSolution:
    """p with v = W p + b, complementary along the normals and with Coulomb's law along the tangents.

    W : (k, k) of any rank, symmetric or not    b : (k,)    mu : (m,)
    sizes  : rows of each contact, 1 + d, or 1 without friction
    start  : (k,) a guess, such as the last step's p
    terms  : (k,) the size of the numbers that b is a difference of; rounding is judged by them
    facets : pyramids of so many facets take the place of the cones

    Without friction, in the plane and for pyramids the problem is an LCP for Lemke's method. In space, and
    for many contacts: projected Gauss–Seidel with the discs themselves, then Newton on p = proj(p − v), a
    function with kinks (Alart and Curnier, 1991), damped because W may be singular.
    """
    problem = _problem(W, b, mu, sizes, terms)
    if facets is not None:
        p, status, residual = problem.by_lcp(facets)
        return ContactSolution(problem.unit * p, residual, status)
    if start is not None:
        start = checked("start", start, len(problem.b), "W has k rows") / problem.unit
    p, status = problem.solve(start, tolerance)
    return ContactSolution(problem.unit * p, problem.defect(p), status)


def coulomb_residual(W: Array, b: Array, mu: Array, sizes: Sequence[int], p: Array,
                     terms: Array | None = None) -> float:
    """How far p (k,) is from a solution, free of units: `residual` of a `ContactSolution`."""
    problem = _problem(W, b, mu, sizes, terms)
    return problem.defect(p / problem.unit)


@dataclass(frozen=True, eq=False)
class _Problem:
    """The problem in units that make W's diagonal and the largest b one: p = unit · (p here)."""

    W: Array            # (k, k)
    b: Array            # (k,)
    mu: Array           # (m,)
    N: Array            # (m,) rows of the normals
    rough: Array        # (s,) which contacts have tangents
    T: Array            # (s, d) rows of their tangents
    unit: Array         # (k,)

    def solve(self, start: Array | None, tolerance: float) -> tuple[Array, str]:
        """(p, status): Lemke where exact and cheap; Gauss–Seidel and Newton; Lemke as their last start."""
        lcp = self.T.shape[1] < 2
        best, status, plan = np.zeros(len(self.b)), "limit", (0, 20, 100, 500, 4000)
        if start is not None:
            best, plan = start, WARM
        elif lcp and len(self.N) + 3 * len(self.rough) <= SMALL:
            best, status, _ = self.by_lcp()
            if status == "none":
                return best, status
        for sweeps in plan:
            if sweeps > 500 and self.defect(best) > 1e-3:       # not near enough for patience
                break
            best = self.newton(self.sweep(best, sweeps), tolerance)
            if self.defect(best) <= tolerance:
                return best, "solved"
        other = self.newton(self.by_lcp()[0], tolerance)
        best = min(best, other, key=self.defect)
        if self.defect(best) <= tolerance:
            return best, "solved"
        return self._onto_cones(best)[0], "none" if self.hopeless() else "limit"

    def projected(self, p: Array) -> tuple[Array, Array, Array, Array]:
        """proj(p − v) (k,), where p_N − v_N > 0 (m,), the radius over ‖p_T − v_T‖ (s,), directions (s, d)."""
        return self._onto_cones(p - self.W @ p - self.b)

    def _onto_cones(self, x: Array) -> tuple[Array, Array, Array, Array]:
        """x with its normals at least zero and its tangents in the discs of these; the rest as
        `projected`."""
        push = np.maximum(x[self.N], 0)
        size = np.linalg.norm(x[self.T], axis=1)
        share = self.mu[self.rough] * push[self.rough] / np.where(size > 0, size, 1)
        y, inside = x.copy(), (share >= 1) | (size == 0)
        y[self.N] = push
        y[self.T] = np.where(inside, 1.0, share)[:, None] * x[self.T]
        return y, push > 0, np.where(inside, np.inf, share), x[self.T] / np.where(size > 0, size, 1)[:, None]

    def defect(self, p: Array) -> float:
        """max |p − proj(p − v)|."""
        return float(np.max(abs(p - self.projected(p)[0]), initial=0.0))

    def newton(self, p: Array, tolerance: float, steps: int = 30) -> Array:
        """(JᵀJ + ε 1) Δp = −Jᵀ f for f = p − proj(p − v); ε falls with ‖f‖², so the end is quadratic."""
        k, damping = len(p), 1.0
        for _ in range(steps):
            y, pushed, share, direction = self.projected(p)
            f = p - y
            if np.max(abs(f), initial=0.0) <= tolerance / 100:
                break
            J = np.eye(k) - self._slope(pushed, share, direction) @ (np.eye(k) - self.W)
            A, g = J.T @ J, J.T @ f
            for _ in range(6):
                step = np.linalg.solve(A + (damping * min(f @ f, 1e-2) + 1e-15 * np.trace(A)) * np.eye(k), g)
                better = p - step
                left = better - self.projected(better)[0]
                if left @ left < (1 - 1e-4) * (f @ f):
                    break
                damping *= 10
            else:
                break
            p, damping = better, max(damping / 10, 1e-6)
        return p

    def _slope(self, pushed: Array, share: Array, t: Array) -> Array:
        """∂ proj(x)/∂x (k, k): 1 in the disc; (radius/‖x_T‖)(1 − t tᵀ) and μ t for x_N outside of it."""
        P = np.zeros_like(self.W)
        P[self.N, self.N] = pushed
        inside, d = np.isinf(share), self.T.shape[1]
        round_ = np.where(inside, 1.0, share)[:, None, None] * np.eye(d)
        round_ -= np.where(inside, 0.0, share)[:, None, None] * t[:, :, None] * t[:, None, :]
        P[self.T[:, :, None], self.T[:, None, :]] = round_
        outward = np.where(inside, 0.0, self.mu[self.rough] * pushed[self.rough])
        P[self.T, self.N[self.rough][:, None]] = outward[:, None] * t
        return P

    def sweep(self, p: Array, count: int) -> Array:
        """Projected Gauss–Seidel, contact by contact: first along its normal, then in its disc."""
        k, weight = len(p), np.ones((len(self.N), 2))
        weight[:, 0] = np.maximum(self.W[self.N, self.N], 0.1)
        blocks = self.W[self.T[:, :, None], self.T[:, None, :]]
        if len(blocks):
            weight[self.rough, 1] = np.maximum(np.linalg.norm(blocks, 2, axis=(1, 2)), NEGLIGIBLE)
        return fastest()(p.copy(), self.W, self.b, self.mu, self.N, np.append(self.N[1:], k), weight, count)

    def by_lcp(self, facets: int = 8) -> tuple[Array, str, float]:
        """(p, status, residual) by Lemke's method, with friction in a pyramid; in the plane that is exact.

            0 ≤ v_N ⟂ p_N ≥ 0      0 ≤ d_k·v_T + σ ⟂ β_k ≥ 0      0 ≤ μ p_N − Σ β ⟂ σ ≥ 0      p_T = Σ β_k d_k

        Where W is singular rounding can put b out of its range, or make ties that lead into singular bases:
        then all rows of q are made larger by hairs of different lengths. Stewart and Trinkle (1996).
        """
        m, s, d = len(self.N), len(self.rough), self.T.shape[1]
        D = _directions(facets, d)
        G = np.zeros((len(self.b), m + s * len(D)))
        G[self.N, np.arange(m)] = 1
        for j, rows in enumerate(self.T):
            G[rows, m + j * len(D):m + (j + 1) * len(D)] = D.T
        E = np.vstack([np.zeros((m, s)), np.kron(np.eye(s), np.ones((len(D), 1)))])
        share = np.zeros((s, G.shape[1]))
        share[np.arange(s), self.rough] = self.mu[self.rough]
        M = np.block([[G.T @ self.W @ G, E], [share - E.T, np.zeros((s, s))]])
        q = np.append(G.T @ self.b, np.zeros(s))
        for hair, ratio in ((0.0, 0.0), (1e-12, 0.618), (1e-12, 0.755), (1e-11, 0.570), (1e-10, 0.819)):
            found = lemke(M, q + hair * (1 + ratio * np.arange(len(q)) % 1))
            if found.status == "solved":
                z = found.z
                return G @ z[:G.shape[1]], "solved", float(np.max(abs(np.minimum(z, M @ z + q)), initial=0.0))
        return np.zeros(len(self.b)), "none" if found.status == "none" else "limit", np.inf

    def hopeless(self, facets: int = 16) -> bool:
        """Does no p in pyramids around the cones give v_N ≥ 0? Then there is no solution."""
        from scipy.optimize import linprog
        D = _directions(facets, self.T.shape[1])
        cone = np.zeros((len(self.rough) * len(D), len(self.b)))
        for j, (i, rows) in enumerate(zip(self.rough, self.T)):
            block = cone[j * len(D):(j + 1) * len(D)]
            block[:, rows], block[:, self.N[i]] = D, -self.mu[i]
        bounds = [(0, None) if i in self.N else (None, None) for i in range(len(self.b))]
        found = linprog(np.zeros(len(self.b)), A_ub=np.vstack([-self.W[self.N], cone]),
                        b_ub=np.concatenate([self.b[self.N] + 1e-9, np.zeros(len(cone))]), bounds=bounds)
        return found.status == 2


def _problem(W: Array, b: Array, mu: Array, sizes: Sequence[int], terms: Array | None) -> _Problem:
    """The arguments checked and scaled."""
    W, sizes = np.asarray(W, dtype=float), np.asarray(sizes, dtype=int)
    k = len(W)
    b = checked("b", b, k, "W has k rows").astype(float)
    mu = checked("mu", mu, len(sizes), "sizes has m").astype(float)
    if W.shape != (k, k) or sizes.sum() != k or not set(sizes) <= {1, 2, 3} or {2, 3} <= set(sizes):
        raise ValueError(f"W has shape {W.shape}, sizes {sizes.tolist()}; wanted (k, k), k the sum of sizes, "
                         "and sizes of 1 and 2 (plane) or 1 and 3 (space)")
    if not (all(np.all(np.isfinite(x)) for x in (W, b, mu)) and np.all(mu >= 0)):
        raise ValueError("W, b and mu must be finite, mu ≥ 0")
    N, rough = np.cumsum(sizes) - sizes, np.flatnonzero((sizes > 1) & (mu > 0))
    d = int(np.max(sizes[rough], initial=1)) - 1
    T = N[rough][:, None] + 1 + np.arange(d)
    diagonal = abs(np.diag(W)).copy()
    diagonal[T] = diagonal[T].mean(axis=1, keepdims=True) if d else diagonal[T]
    largest = np.max(diagonal, initial=0.0) or 1.0
    scale = 1 / np.sqrt(np.maximum(diagonal, 1e-6 * largest))
    size = np.max(scale * (abs(b) if terms is None else np.maximum(abs(b), terms)), initial=0.0) or 1.0
    ratio = mu.copy()
    ratio[rough] *= scale[N[rough]] / scale[T[:, 0]] if d else 1.0
    smooth = np.setdiff1d(np.arange(k), np.concatenate([N, T.ravel()]))
    W, b = scale[:, None] * W * scale, scale * b / size
    W[smooth], b[smooth] = 0, 0                             # tangents without friction bear nothing
    W[:, smooth], W[smooth, smooth] = 0, 1
    return _Problem(W, b, ratio, N, rough, T, size * scale)
