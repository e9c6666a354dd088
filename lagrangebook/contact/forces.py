"""Accelerations and forces of bodies in contact.

    M q̈ + h = τ + J_Nᵀ λ_N + J_Tᵀ λ_T + Jᵀ λ      J q̈ + γ = 0      0 ≤ g̈ap ⟂ λ_N ≥ 0  where gap = ġap = 0

Coulomb's law at a closed contact: where it slides, λ_T = −μ λ_N u_T/‖u_T‖; where it does not, ‖λ_T‖ ≤ μ λ_N,
and λ_T opposes u̇_T, on the rim, where that is not zero.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..constraints import _jacobian, _rows, _units, constrained_accelerations, multiplier_bounds
from ..model import checked
from ..spatial import Array, solve
from ..standard_form import StandardForm
from .cone import _directions, coulomb_residual, solve_contact
from .gaps import Contacts
from .modes import ZERO, every_mode

LAWS = ("exact", "facets", "frictionless")
FEW = 64            # combinations of modes up to which all are tried
ACCEPTED = 1e-8     # a residual above it is not called a solution


@dataclass(frozen=True, eq=False)
class ContactAccelerations:
    """What the contacts let happen; accelerations and forces are None where there are none."""

    qdd: Array | None       # (n,)
    lam_N: Array | None     # (m,) ≥ 0 [N], the contact's push on a along the normal
    lam_T: Array | None     # (Σ d,) [N], on a along the tangents
    modes: tuple            # "open"; "stick", "slip" under force; "separating": closed, without force
    status: str             # "solved", "several", "none", "impulse" or "limit"
    residual: float         # largest defect of the contact laws, free of units
    lam: Array | None       # (k,) of the bilateral rows
    others: tuple = ()      # with status "several": the other solutions


def contact_accelerations(form: StandardForm, tau: Array, contacts: Contacts, q: Array, qd: Array,
                          law: str = "exact", facets: int = 8, J: Array | None = None,
                          gamma: Array | None = None, tol: float = 1e-8) -> ContactAccelerations:
    """q̈ and the forces at contacts: law "exact", Coulomb's cones; "facets", pyramids; "frictionless", μ = 0.

    tau : (n,)   J : (k, n), gamma : (k,) bilateral constraints in the same solve
    tol : a contact is closed where gap ≤ tol [m] and ġap ≤ tol [m/s], and slides where ‖u_T‖ > tol [m/s]

    status "solved": the forces may be one choice of many (`force_bounds`); without friction q̈ is the only
    one. "several": more than one q̈ obeys the laws (Painlevé); the solution shown has the smallest forces,
    `others` has the rest. "impulse": none does, velocities must jump: Painlevé's other case, curvature that
    closes a gap whatever the forces, or a closed contact that approaches. "none": the bilateral constraints
    contradict each other. "limit": none found.
    Where the modes of all closed contacts can be tried one by one they are (up to 64 combinations; in
    space, if no contact rests with friction): then "several" and "impulse" are certain. Otherwise
    `cone.solve_contact` finds one solution.
    """
    if law not in LAWS:
        raise ValueError(f"law is {law!r}; wanted one of {', '.join(LAWS)}")
    touch = _touch(form, tau, contacts, q, qd, law, facets, J, gamma, tol)
    if touch.free is None:
        return _nothing("none")
    if touch.approaching:
        return _nothing("impulse")
    if law != "frictionless" and touch.enumerable:
        tried = [touch.result(p) for p in touch.all_modes()]
        if not tried:
            return _nothing("impulse")
        found = [each for each in tried if each.residual <= ACCEPTED]
        if found:
            if len(found) == 1:
                return found[0]
            return replace(found[0], status="several", others=tuple(found[1:]))
    p, residual, status = solve_contact(touch.W, touch.b, touch.mu, touch.sizes, terms=touch.terms,
                                        facets=facets if law == "facets" and 3 in touch.sizes else None)
    if status == "none":
        return _nothing("impulse")
    return replace(touch.result(p), residual=residual, status=status)


def _nothing(status: str) -> ContactAccelerations:
    return ContactAccelerations(None, None, None, (), status, np.inf, None)


# -- the closed contacts -----------------------------------------------------------------------------------

@dataclass(frozen=True, eq=False)
class _Touch:
    """Closed contacts: rows R that accelerate, a = R q̈ + bias = W p + b, and forces Cᵀ p.

    A contact that slides or is smooth has its normal row alone, with C = N + μ (direction of friction) T; one
    that rests with friction has N and T in R and in C.
    """

    form: StandardForm
    tau: Array
    J: Array                # (k, n)
    gamma: Array            # (k,)
    approaching: bool       # is there a closed contact with ġap < 0?
    closed: tuple           # indices of the closed contacts
    slices: tuple           # rows of J_T of each contact
    slip: tuple             # of each closed contact: direction of friction (d,), or None where it rests
    J_T: Array              # (Σ d, n)
    bias_T: Array           # (Σ d,)
    sliding: tuple          # of each closed contact: does it move along its tangents?
    R: Array                # (r, n)
    C: Array                # (r, n)
    bias: Array             # (r,)
    mu: Array               # of each closed contact; 0 where its row of C has the friction in it
    sizes: tuple            # rows of each
    m: int                  # contacts, open ones too
    free: Array | None      # (n,) q̈ without contact forces; None: there is none
    B: Array                # (n, n) q̈ = free + B Cᵀ p

    @property
    def W(self) -> Array:
        """R B Cᵀ (r, r)."""
        return self.R @ self.B @ self.C.T

    @property
    def b(self) -> Array:
        """R q̈_free + bias (r,)."""
        return self.R @ self.free + self.bias

    @property
    def terms(self) -> Array:
        """The size of the numbers that b is a difference of (r,)."""
        return self.size(self.free)

    def size(self, qdd: Array) -> Array:
        """How large the parts of R q̈ + bias are (r,)."""
        form = self.form
        forces = abs(self.tau) + abs(form.C @ form.qd) + abs(form.G) + abs(form.F) + abs(form.rest)
        return abs(self.R) @ (abs(self.B) @ forces + abs(qdd)) + abs(self.bias)

    @property
    def enumerable(self) -> bool:
        """Can the modes be tried one by one?"""
        return 3 not in self.sizes and np.prod([2.0 * size for size in self.sizes]) <= FEW

    def all_modes(self) -> list[Array]:
        """The p (r,) of every choice of modes, one for each q̈, the smallest forces first."""
        found: list[tuple[Array, Array]] = []
        for p in every_mode(self.W, self.b, self.mu, self.sizes, np.max(self.terms, initial=0.0) or 1.0):
            qdd = self.B @ (self.C.T @ p)
            size = np.max(abs(qdd)) + np.max(abs(self.free))
            if not any(np.max(abs(qdd - other)) <= 1e-7 * size for other, _ in found):
                found.append((qdd, p))
        return [p for _, p in sorted(found, key=lambda pair: np.linalg.norm(pair[1]))]

    def result(self, p: Array) -> ContactAccelerations:
        """The solution that p (r,) stands for."""
        qdd = self.free + self.B @ (self.C.T @ p)
        lam_N, lam_T, modes, row = np.zeros(self.m), np.zeros(len(self.J_T)), ["open"] * self.m, 0
        scale = np.max(self.terms, initial=0.0) or 1.0
        force = max(np.max(abs(p), initial=0.0), 1e-300)
        for i, size, direction, sliding, mu in zip(self.closed, self.sizes, self.slip, self.sliding, self.mu):
            rows = self.slices[i]
            lam_N[i] = p[row]
            lam_T[rows] = p[row + 1:row + size] if size > 1 else p[row] * direction
            moves = sliding or np.any(abs(self.J_T[rows] @ qdd + self.bias_T[rows]) > 1e-8 * scale)
            modes[i] = "separating" if p[row] <= ZERO * force else "slip" if moves else "stick"
            row += size
        lam = np.zeros(0)
        if len(self.J):
            lam = constrained_accelerations(self.form, self.tau + self.C.T @ p, self.J, self.gamma).lam
        residual = coulomb_residual(self.W, self.b, self.mu, self.sizes, p, self.terms)
        return ContactAccelerations(qdd, lam_N, lam_T, tuple(modes), "solved", residual, lam)


def _touch(form: StandardForm, tau: Array, contacts: Contacts, q: Array, qd: Array, law: str, facets: int,
           J: Array | None, gamma: Array | None, tol: float) -> _Touch:
    """The state taken apart; ValueError names what has a wrong shape."""
    n = len(form.qd)
    tau, qd = checked("tau", tau, n, "the form has n").astype(float), checked("qd", qd, n, "the form has n")
    J = np.zeros((0, n)) if J is None else _jacobian(J, n)
    gamma = checked("gamma", np.zeros(len(J)) if gamma is None else gamma, len(J), "J has k rows")
    gap, J_N, J_T, bias_N, bias_T = contacts.look(q, qd)
    closed = np.flatnonzero((gap <= tol) & (J_N @ qd <= tol))
    R, C, bias, mus, sizes, slips, slidings = [], [], [], [], [], [], []
    for i in closed:
        rows, mu = contacts.blocks[i], 0.0 if law == "frictionless" else contacts.mu[i]
        T, u = J_T[rows], J_T[rows] @ qd
        sliding = np.linalg.norm(u) > tol
        if sliding or mu == 0:
            direction = -mu * _opposed(u, facets if law == "facets" else None) if sliding else 0 * u
            R, C = [*R, J_N[i:i + 1]], [*C, (J_N[i] + direction @ T)[None]]
            bias, sizes, mus = [*bias, bias_N[i:i + 1]], [*sizes, 1], [*mus, 0.0]
        else:
            direction, rows_of = None, np.vstack([J_N[i], T])
            R, C = [*R, rows_of], [*C, rows_of]
            bias, sizes, mus = [*bias, bias_N[i:i + 1], bias_T[rows]], [*sizes, 1 + len(u)], [*mus, mu]
        slips, slidings = [*slips, direction], [*slidings, sliding]
    empty = np.zeros((0, n))
    free, B = _response(form, tau, J, gamma)
    approaching = bool(np.any(J_N[closed] @ qd < -tol))
    return _Touch(form, tau, J, gamma, approaching, tuple(closed.tolist()), contacts.blocks, tuple(slips),
                  J_T, bias_T, tuple(slidings), np.vstack([empty, *R]), np.vstack([empty, *C]),
                  np.concatenate([np.zeros(0), *bias]), np.array(mus), tuple(sizes), len(gap), free, B)


def _opposed(u: Array, facets: int | None) -> Array:
    """The unit direction that friction opposes; with facets, that of the corner (or two) farthest along u."""
    if facets is None or len(u) < 2:
        return u / np.linalg.norm(u)
    D = _directions(facets, len(u))
    along = D @ u
    return D[along >= np.max(along) * (1 - 1e-9)].mean(axis=0)


def _response(form: StandardForm, tau: Array, J: Array, gamma: Array) -> tuple[Array | None, Array]:
    """q̈ without contact forces (None: there is none), and B = M⁻¹ or Z (ZᵀM Z)⁻¹Zᵀ with J Z = 0."""
    if len(J) == 0:
        B = solve(form.M, np.eye(len(tau)))
        return B @ (tau - form.h), (B + B.T) / 2
    found, unit = constrained_accelerations(form, tau, J, gamma), _units(form.M)
    if found.status == "singular":
        raise np.linalg.LinAlgError("M has nothing to move along a motion that the constraints allow")
    Z = unit[:, None] * _rows(J * unit).free
    return None if found.status == "inconsistent" else found.qdd, Z @ solve(Z.T @ form.M @ Z, Z.T)


# -- what of the forces is determined ----------------------------------------------------------------------

class ForceBounds(NamedTuple):
    """Between which values the forces lie; unpacks as lower, upper, status."""

    lower: Array | None     # (m,) of each λ_N [N]
    upper: Array | None     # (m,) of each λ_N [N]
    status: str             # "bounded", "unbounded" (jammed: forces of any size) or "infeasible"


def force_bounds(form: StandardForm, tau: Array, contacts: Contacts, q: Array, qd: Array,
                 found: ContactAccelerations, law: str = "exact", J: Array | None = None, facets: int = 16,
                 tol: float = 1e-8) -> ForceBounds:
    """The range of each λ_N over all forces that give the accelerations found and obey the contact laws.

    By linear programming (`constraints.multiplier_bounds`); the discs of contacts that rest in space are
    replaced by polygons around them, so that bounds can be a little too wide: μ grows to μ/cos(π/facets) at
    most. Other arguments as for `contact_accelerations`. ValueError where nothing was found.
    """
    if found.qdd is None:
        raise ValueError(f"found has status {found.status!r}: there are no forces to bound")
    k = 0 if J is None else len(J)
    touch = _touch(form, tau, contacts, q, qd, law, facets, J, None, tol)
    rows, lam, index, cone = [], [], [], []
    start, scale = 0, np.max(touch.size(found.qdd), initial=0.0) or 1.0
    for i, size, mu in zip(touch.closed, touch.sizes, touch.mu):
        own = slice(start, start + size)
        a, start = touch.R[own] @ found.qdd + touch.bias[own], start + size
        if a[0] > 1e-8 * scale:
            continue
        index.append((i, len(lam)))
        if size > 1 and np.linalg.norm(a[1:]) <= 1e-8 * scale:
            cone.append((len(lam), mu, size - 1))
            rows, lam = [*rows, *touch.C[own]], [*lam, found.lam_N[i], *found.lam_T[contacts.blocks[i]]]
            continue
        friction = -mu * a[1:] / np.linalg.norm(a[1:]) if size > 1 else np.zeros(0)
        rows, lam = [*rows, touch.C[own][0] + friction @ touch.C[own][1:]], [*lam, found.lam_N[i]]
    lower = np.full(len(lam) + k, -np.inf)
    lower[[row for _, row in index]] = 0
    bounds = _bounded(rows, np.append(lam, found.lam), lower, cone, touch.J, facets)
    if bounds.lower is None:
        return ForceBounds(None, None, bounds.status)
    ends = np.zeros((2, touch.m))
    for i, row in index:
        ends[:, i] = bounds.lower[row], bounds.upper[row]
    return ForceBounds(*ends, "bounded" if np.all(np.isfinite(ends)) else "unbounded")


def _bounded(rows: list, lam: Array, lower: Array, cone: list, J: Array, facets: int):
    """`multiplier_bounds` with the polygons d_k·λ_T ≤ μ λ_N of the contacts that rest."""
    A = [np.zeros((0, len(lam)))]
    for row, mu, d in cone:
        D = _directions(facets, d)
        block = np.zeros((len(D), len(lam)))
        block[:, row], block[:, row + 1:row + 1 + d] = -mu, D
        A.append(block)
    return multiplier_bounds(np.vstack([*rows, J]), lam, lower, np.inf, np.vstack(A))
