"""Motion under bilateral constraints: accelerations and forces, what of the forces is determined, and staying
closed.

    M q̈ + h = τ + Jᵀλ        J q̈ + γ = 0

The constraints themselves come from `loops`. Outcomes are statuses. What counts as zero is decided below
`tolerance` after every row of J was divided by its length, so that a row may be written in any unit; a row
shorter than 1e-11 of the longest one has lost its direction and counts as zero itself.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from .forward import aba
from .loops import Loop, Rolling, Symbolic, Together, frame_loop, holonomic, nonholonomic, point_loop, rolling
from .model import checked
from .spatial import Array, solve
from .standard_form import Dynamics, StandardForm

__all__ = ["Bounds", "Constrained", "ConstrainedDynamics", "Loop", "Motors", "Placed", "Rolling",
           "Singularity", "Symbolic", "Together", "assemble", "baumgarte", "constrained",
           "constrained_accelerations", "constrained_inverse", "delassus", "delassus_by_recursion",
           "determined", "frame_loop", "holonomic", "internal_forces", "multiplier_bounds", "nonholonomic", "point_loop",
           "project", "rolling", "singularity"]

TOLERANCE = 1e-9
LOST = 1e-11        # a row of J shorter than this fraction of the longest one is rounding error


# -- the rank of J -----------------------------------------------------------------------------------------

class _Rows(NamedTuple):
    """J taken apart: J = diag(length) U S Vᵀ, the first `rank` singular values not zero."""

    length: Array       # (m,)
    U: Array            # (m, m)
    S: Array            # (rank,)
    V: Array            # (n, n)
    rank: int

    def reach(self, x: Array) -> Array:
        """The least-squares solution of J q̈ = x of smallest norm: J⁺ x (n,), rows of length one."""
        return self.V[:, :self.rank] @ ((self.U[:, :self.rank].T @ (x / self.length)) / self.S)

    def multipliers(self, f: Array) -> Array:
        """The λ (m,) of smallest norm with Jᵀλ = f, or nearest to it; the last line takes rounding out."""
        U, V, N = self.U[:, :self.rank], self.V[:, :self.rank], self.internal
        lam = U @ ((V.T @ f) / self.S) / self.length
        if self.rank < len(lam):
            lam = lam - N @ (N.T @ lam)
            lam = lam + U @ ((V.T @ f) / self.S - U.T @ (self.length * lam)) / self.length
        return lam

    @property
    def internal(self) -> Array:
        """Orthonormal basis (m, m − rank) of the λ with Jᵀλ = 0."""
        if self.rank == len(self.length):
            return np.zeros((self.rank, 0))
        return np.linalg.qr(self.U[:, self.rank:] / self.length[:, None])[0]

    @property
    def free(self) -> Array:
        """Orthonormal basis (n, n − rank) of the motions with J q̇ = 0."""
        return self.V[:, self.rank:]


def _lengths(J: Array) -> Array:
    """The length of each row (m,); that of the longest one for rows that count as zero."""
    length = np.linalg.norm(J, axis=1)
    longest = np.max(length, initial=0.0)
    return np.where(length > LOST * longest, length, longest if longest > 0 else 1.0)


def _rows(J: Array, tolerance: float = TOLERANCE) -> _Rows:
    length = _lengths(J)
    U, S, Vt = np.linalg.svd(J / length[:, None])
    rank = int(np.sum(S > tolerance * np.max(S, initial=0.0)))
    return _Rows(length, U, S[:rank], Vt.T, rank)


def _jacobian(J: Array, n: int) -> Array:
    J = np.asarray(J)
    if J.ndim != 2 or J.shape[1] != n:
        raise ValueError(f"J has shape {J.shape}; wanted (m, {n})")
    if J.dtype != object and not np.all(np.isfinite(J)):
        raise ValueError("J must be finite; it holds NaN or infinity")
    return J if J.dtype == object else J.astype(float)


# -- accelerations and forces ------------------------------------------------------------------------------

class Constrained(NamedTuple):
    """Accelerations and multipliers; unpacks as q̈, λ, rank, status."""

    qdd: Array      # (n,)
    lam: Array      # (m,)
    rank: int       # of J
    status: str     # "solved", "redundant", "inconsistent" or "singular"


def constrained_accelerations(form: StandardForm, tau: Array, J: Array, gamma: Array,
                              tolerance: float = TOLERANCE) -> Constrained:
    """q̈ and λ of M q̈ + h = τ + Jᵀλ, J q̈ + γ = 0, by the null space of J.

    With J Z = 0 the columns of Z are the motions left free:  q̈ = −J⁺γ + Z y,  ZᵀM Z y = Zᵀ (τ − h + M J⁺γ),
    and λ is the smallest with Jᵀλ = M q̈ + h − τ.

    tau : (n,)   J : (m, n)   gamma : (m,)
    status "solved"; "redundant": rows of J depend on each other, q̈ and Jᵀλ are unique, λ is the one of
    smallest norm; "inconsistent": dependent rows ask for different accelerations, q̈ comes nearest to them;
    "singular": M has nothing to move along a motion that J allows, q̈ is the smallest there. Symbols and
    recorded scalars take the elimination with W = J M⁻¹Jᵀ, for J of full rank. ValueError names what has a
    wrong shape or is not finite.
    """
    n = len(form.qd)
    tau, J = checked("tau", tau, n, "the form has n"), _jacobian(J, n)
    gamma, f = checked("gamma", gamma, len(J), "J has m rows"), tau - form.h
    if object in (form.M.dtype, J.dtype, f.dtype, gamma.dtype):
        return _by_elimination(form.M, f, J, gamma)
    if not (np.all(np.isfinite(form.M)) and np.all(np.isfinite(f))):
        raise ValueError("M and h must be finite; they hold NaN or infinity")
    unit = _units(form.M)
    rows, M, f = _rows(J * unit, tolerance), unit[:, None] * form.M * unit, unit * f
    fixed, Z = rows.reach(-gamma), rows.free
    y, regular = _definite_solve(Z.T @ M @ Z, Z.T @ (f - M @ fixed))
    x = fixed + Z @ y
    lam = rows.multipliers(M @ x - f)
    missed = abs(J @ (unit * x) + gamma) / rows.length
    terms = (abs(J) @ (unit * (abs(x) + abs(f)) + form.qd**2) + abs(gamma)) / rows.length
    consistent = np.all(missed <= tolerance * np.max(terms, initial=0.0))
    status = ("inconsistent" if not consistent else "singular" if not regular
              else "redundant" if rows.rank < len(J) else "solved")
    return Constrained(unit * x, lam, rows.rank, status)


def _units(M: Array) -> Array:
    """Scales (n,) of the velocities that make the diagonal of M one, where it is positive."""
    diagonal = np.diag(M)
    return 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))


def _definite_solve(A: Array, b: Array) -> tuple[Array, bool]:
    """x of A x = b for positive semidefinite A, and whether A was definite; the smallest x if not."""
    try:
        return solve(A, b), True
    except np.linalg.LinAlgError:
        return np.linalg.pinv(A, rcond=1e-12, hermitian=True) @ b, False


def _by_elimination(M: Array, f: Array, J: Array, gamma: Array) -> Constrained:
    """W λ = −(J M⁻¹f + γ), then q̈ = M⁻¹ (f + Jᵀλ): no decision, so that symbols can pass."""
    MJ, free = solve(M, J.T), solve(M, f)
    lam = solve(J @ MJ, -(J @ free + gamma))
    return Constrained(free + MJ @ lam, lam, len(J), "solved")


def delassus(M: Array, J: Array) -> Array:
    """W = J M⁻¹ Jᵀ (m, m), the inverse mass that the constraints feel. LinAlgError where M is singular."""
    J = _jacobian(J, len(M))
    W = J @ solve(M, J.T)
    return (W + W.T) / 2


def delassus_by_recursion(q: Array, loop: Loop, lam: Array | None = None) -> Array:
    """W λ (m,) without M and J, or W (m, m) column by column where no λ is given: O(n) a column.

    The multipliers become wrenches on the two bodies, `aba` gives the accelerations of the tree at rest
    without gravity, and these are the rates at which the loop opens.
    """
    if lam is None:
        return np.column_stack([delassus_by_recursion(q, loop, e) for e in np.eye(len(loop.holonomic))])
    lam = checked("lam", lam, len(loop.holonomic), "the loop has m rows")
    weightless, rest = replace(loop.model, gravity=np.zeros(3)), np.zeros(loop.model.n)
    return loop.velocity(q, aba(weightless, q, rest, rest, loop.wrenches(q, lam)))


class Motors(NamedTuple):
    """Motor efforts and multipliers; unpacks as u, λ, rank, status."""

    u: Array        # (k,)
    lam: Array      # (m,)
    rank: int       # of [B Jᵀ]
    status: str     # "solved", "redundant" or "inconsistent"


def constrained_inverse(form: StandardForm, qdd: Array, J: Array, B: Array,
                        tolerance: float = TOLERANCE) -> Motors:
    """Inverse dynamics with loops: u and λ of M q̈ + h = B u + Jᵀλ, for a q̈ that the loops allow.

    Along the free motions Z of J only the motors act:   Zᵀ B u = Zᵀ (M q̈ + h);   λ then carries the rest.

    qdd : (n,)   J : (m, n)   B : (n, k), τ = B u
    status "solved"; "redundant": more motors or rows than needed (or a parallel singularity), u of smallest
    norm and then λ; "inconsistent": these motors cannot produce the motion, u comes nearest.
    """
    n, f = len(form.qd), form.forces(qdd)
    J, B = _jacobian(J, n), _jacobian(np.asarray(B).T, n).T
    rows = _rows(J, tolerance)
    motors = _rows((rows.free.T @ B).T, tolerance)
    u = motors.multipliers(rows.free.T @ f)
    lam = rows.multipliers(f - B @ u)
    missed = abs(f - B @ u - J.T @ lam)
    terms = abs(form.M) @ abs(np.asarray(qdd)) + abs(form.h) + abs(B) @ abs(u) + abs(J.T) @ abs(lam)
    rank = rows.rank + motors.rank
    status = ("inconsistent" if np.any(missed > tolerance * np.max(terms, initial=0.0))
              else "redundant" if rank < len(J) + B.shape[1] else "solved")
    return Motors(u, lam, rank, status)


# -- what of the forces is determined ----------------------------------------------------------------------

def internal_forces(J: Array, tolerance: float = TOLERANCE) -> Array:
    """Orthonormal basis N (m, m − rank) of the λ that move nothing, Jᵀ N = 0: λ is known up to N y."""
    return _rows(_jacobian(J, np.shape(J)[-1]), tolerance).internal


def determined(J: Array, combinations: Array | None = None, tolerance: float = 1e-7) -> Array:
    """Which multipliers are determined in spite of dependent rows: booleans (m,), or (k,) for the rows of
    `combinations`.

    c·λ has one value exactly where c·N = 0, N the internal forces.
    """
    J = _jacobian(J, np.shape(J)[-1])
    c = np.eye(len(J)) if combinations is None else _jacobian(combinations, len(J))
    rows = _rows(J)
    c = c / rows.length                # the same combinations, of the forces along rows of length one
    return np.linalg.norm(c @ rows.U[:, rows.rank:], axis=1) <= tolerance * np.linalg.norm(c, axis=1)


class Bounds(NamedTuple):
    """Between which values each multiplier lies; unpacks as lower, upper, status."""

    lower: Array | None     # (m,), −∞ where nothing bounds it; None where infeasible
    upper: Array | None     # (m,), +∞ where nothing bounds it
    status: str             # "bounded", "unbounded" or "infeasible" (no λ keeps the limits)


def multiplier_bounds(J: Array, lam: Array, lower: Any = -np.inf, upper: Any = np.inf,
                      cone: Array | None = None) -> Bounds:
    """The range of each λᵢ over all λ with the same Jᵀλ that keep the limits, by linear programming.

    lam : (m,) one solution      lower, upper : limits of λ, numbers or (m,)
    cone : rows A with A λ ≤ 0, such as λ_t − μ λ_n ≤ 0 and −λ_t − μ λ_n ≤ 0 for a contact with friction
    """
    from scipy.optimize import linprog
    J = _jacobian(J, np.shape(J)[-1])
    lam, N = checked("lam", lam, len(J), "J has m rows"), internal_forces(J)
    A = np.zeros((0, len(J))) if cone is None else _jacobian(cone, len(J))
    scale = np.max(abs(lam), initial=0.0) or 1.0
    ends = [np.broadcast_to(np.asarray(end, dtype=float), lam.shape) for end in (lower, upper)]
    G = np.vstack([-np.eye(len(J)), np.eye(len(J)), A])
    room = np.concatenate([lam - ends[0], ends[1] - lam, -A @ lam]) / scale
    G, room = (G @ N)[np.isfinite(room)], room[np.isfinite(room)]
    if N.shape[1] == 0:
        within = np.all(room >= -TOLERANCE)
        return Bounds(lam, lam, "bounded") if within else Bounds(None, None, "infeasible")
    if linprog(0 * N[0], A_ub=G, b_ub=room, bounds=(None, None)).status == 2:
        return Bounds(None, None, "infeasible")
    found = np.empty((2, len(J)))
    for i, k in np.ndindex(len(J), 2):
        sign = 1 - 2 * k
        best = linprog(sign * N[i], A_ub=G, b_ub=room, bounds=(None, None))
        found[k, i] = lam[i] + scale * sign * best.fun if best.status == 0 else -sign * np.inf
    return Bounds(*found, "bounded" if np.all(np.isfinite(found)) else "unbounded")


# -- staying closed ----------------------------------------------------------------------------------------

def baumgarte(constraint: Any, q: Array, qd: Array, alpha: float, beta: float | None = None,
              t: float = 0.0) -> Array:
    """γ (m,) with feedback of the violation, so that J q̈ + γ = 0 means   φ̈ + 2 α φ̇ + β² φ = 0.

    alpha, beta : [1/s], critically damped for β = α (the default): a violation dies out as e^(−α t). Rows
    that bind velocities alone get ψ̇ + 2 α ψ = 0. Baumgarte (1972).
    """
    beta = alpha if beta is None else beta
    if alpha == beta == 0:
        return constraint.bias(q, qd, t)
    rate = constraint.J(q, t) @ np.asarray(qd) + constraint.rate(q, t)
    return constraint.bias(q, qd, t) + 2 * alpha * rate + beta**2 * constraint.phi(q, t)


class Placed(NamedTuple):
    """A state that keeps the constraints, or comes near; unpacks as q, qd, status, violation."""

    q: Array                # (nq,)
    qd: Array | None        # (n,) where one was given
    status: str             # "solved" or "none"
    violation: float        # largest |φ| left, each row divided by its length [rad | m]


def project(constraint: Any, q: Array, qd: Array | None = None, M: Array | None = None, t: float = 0.0,
            tolerance: float = 1e-12, max_steps: int = 50) -> Placed:
    """The nearest state that keeps φ = 0 and J q̇ + b = 0; near in the sense of M (n, n), of the unit matrix
    without it.

        q ← q − M⁻¹Jᵀ (J M⁻¹Jᵀ)⁺ φ   until φ = 0,        q̇ ← q̇ − M⁻¹Jᵀ (J M⁻¹Jᵀ)⁺ (J q̇ + b)

    With the mass matrix only the constraints' own forces act: the new velocity is that after a plastic impact
    on them.
    status "none" where φ does not reach zero from here, or no velocity keeps all rows.
    """
    position, (J, phi, violation) = constraint.holonomic, _standing(constraint, q, t)
    root = np.eye(J.shape[1]) if M is None else _inverse_root(np.asarray(M, dtype=float))
    for _ in range(max_steps):
        if violation <= tolerance:
            break
        nearer = constraint.integrate(q, root @ _rows(J[position] @ root).reach(-phi[position]))
        J_nearer, phi_nearer, left = _standing(constraint, nearer, t)
        if not left < violation:
            break
        q, J, phi, violation = nearer, J_nearer, phi_nearer, left
    kept = violation <= max(tolerance, 1e-10)
    if qd is not None:
        b = constraint.rate(q, t)
        qd = qd + root @ _rows(J @ root).reach(-(J @ qd + b))
        kept &= bool(np.all(abs(J @ qd + b) <= TOLERANCE * np.max(abs(J) @ abs(qd) + abs(b), initial=0.0)))
    return Placed(q, qd, "solved" if kept else "none", violation)


def _standing(constraint: Any, q: Array, t: float) -> tuple[Array, Array, float]:
    """J, φ, and the largest |φ|, each divided by the length of its row."""
    J, phi = constraint.J(q, t), constraint.phi(q, t)
    return J, phi, float(np.max(abs(phi) / _lengths(J), initial=0.0))


def _inverse_root(M: Array) -> Array:
    """T (n, n) with M⁻¹ = T Tᵀ."""
    unit = _units(M)
    return unit[:, None] * np.linalg.inv(np.linalg.cholesky(unit[:, None] * M * unit)).T


def assemble(constraint: Any, q: Array, fixed: tuple[int, ...] = (), t: float = 0.0, tolerance: float = 1e-12,
             tries: int = 8) -> Placed:
    """A closed configuration near the guess q: the guess chooses between the ways in which the parts fit
    together.

    fixed : indices into q̇ of joints that stay where the guess has them
    Damped least squares on φ; where it ends open, it starts again from `tries` nudged guesses (seeded, ever
    farther).
    status "none" where all of them end open: as far as this search can tell the parts do not reach; q is
    where the least violation was. Each row is measured by its longest J over the starts.
    """
    rng, position = np.random.default_rng(0), constraint.holonomic
    movable = np.ones(constraint.J(q, t).shape[1])
    movable[list(fixed)] = 0
    nudges = (movable * rng.normal(0, 0.2 * (k + 1), len(movable)) for k in range(tries))
    starts = [q, *(constraint.integrate(q, nudge) for nudge in nudges)]
    size = np.max([np.linalg.norm(constraint.J(start, t)[position], axis=1) for start in starts], axis=0)
    size, best = np.where(size > 0, size, 1.0), None
    for start in starts:
        end, left = _close(constraint, start, movable, size, t, tolerance)
        if best is None or left < best[1]:
            best = end, left
        if left <= tolerance:
            break
    return Placed(best[0], None, "solved" if best[1] <= tolerance else "none", best[1])


def _close(constraint: Any, q: Array, movable: Array, size: Array, t: float,
           tolerance: float) -> tuple[Array, float]:
    """(q, largest |φ|/size) by Levenberg–Marquardt:   (JᵀJ + μ 1) step = −Jᵀφ,   μ falls with success.

    Steps of half a radian at most; it ends at φ = 0, or where no step makes φ smaller.
    """
    position, mu, r = constraint.holonomic, 1e-3, constraint.phi(q, t)[constraint.holonomic] / size
    for _ in range(100):
        J = constraint.J(q, t)[position] * movable / size[:, None]
        closed = np.max(abs(r), initial=0.0) <= tolerance / 10
        if closed or np.linalg.norm(J.T @ r) <= 1e-7 * np.linalg.norm(r):
            break
        step = -np.linalg.solve(J.T @ J + mu * np.eye(len(movable)), J.T @ r)
        nearer = constraint.integrate(q, step / max(1.0, 2 * np.max(abs(step))))
        left = constraint.phi(nearer, t)[position] / size
        if np.linalg.norm(left) < np.linalg.norm(r):
            q, r, mu = nearer, left, max(mu / 10, 1e-10)
        else:
            mu *= 10
    return q, float(np.max(abs(r), initial=0.0))


# -- singular configurations -------------------------------------------------------------------------------

class Singularity(NamedTuple):
    """What a closed mechanism with motors loses at a configuration."""

    kind: str               # "regular", "serial", "parallel" or "both"
    rank_J: int             # less than its rows where constraints depend on each other
    rank_passive: int       # of J on the motions that the motors leave free
    rank_BJ: int            # of [B Jᵀ]; n, unless parallel
    locked: Array           # (n, k) motions left with the motors locked: no load along them can be held
    unseen: Array           # (n, k) motions of the mechanism that the output does not follow


def singularity(J: Array, B: Array, output: Array | None = None, tolerance: float = TOLERANCE) -> Singularity:
    """Serial or parallel singularity of a mechanism J q̇ = 0 with motors τ = B u and the output velocity
    J_out q̇.

    parallel  the mechanism moves with locked motors:  J q̇ = 0, Bᵀq̇ = 0 for a q̇ ≠ 0,  so rank [B Jᵀ] < n
    serial    it moves while the output stands:        J q̇ = 0, J_out q̇ = 0 for a q̇ ≠ 0

    J : (m, n)   B : (n, k)   output : J_out (o, n); without it serial singularities are not looked for.
    Gosselin and Angeles, Singularity analysis of closed-loop kinematic chains (1990).
    """
    J = _jacobian(J, np.shape(J)[-1])
    n = J.shape[1]
    B = _jacobian(np.asarray(B).T, n).T
    motors = _rows(np.vstack([B.T, J]), tolerance)
    out = _rows(np.vstack([J, np.eye(n) if output is None else _jacobian(output, n)]), tolerance)
    parallel, serial = motors.free.shape[1] > 0, out.free.shape[1] > 0
    kind = {(0, 0): "regular", (1, 0): "parallel", (0, 1): "serial", (1, 1): "both"}[parallel, serial]
    passive = _rows(J @ _rows(B.T, tolerance).free, tolerance).rank
    return Singularity(kind, _rows(J, tolerance).rank, passive, motors.rank, motors.free, out.free)


# -- motion ------------------------------------------------------------------------------------------------

@dataclass(frozen=True, eq=False)
class ConstrainedDynamics(Dynamics):
    """A dynamics under constraints, for whoever takes a Dynamics: `simulate` above all."""

    dynamics: Dynamics | None = None    # of the tree
    constraint: Any = None
    alpha: float = 0.0                  # Baumgarte's gain [1/s], critically damped; 0: none
    projected: bool = True              # onto φ = 0, J q̇ + b = 0 wherever an integrator looks at the state

    def __call__(self, q: Array, qd: Array, t: float = 0.0) -> StandardForm:
        """The terms of the tree."""
        return self.dynamics(q, qd, t)

    def mass_matrix(self, q: Array, t: float = 0.0) -> Array:
        """M of the tree."""
        return self.dynamics.mass_matrix(q, t)

    def inverse(self, q: Array, qd: Array, qdd: Array, t: float = 0.0) -> Array:
        """M q̈ + h (n,) of the tree: what drives and constraints give together."""
        return self.dynamics.inverse(q, qd, qdd, t)

    def solve(self, q: Array, qd: Array, tau: Array, t: float = 0.0) -> Constrained:
        """q̈, λ, rank, status under τ."""
        gamma = baumgarte(self.constraint, q, qd, self.alpha, t=t)
        return constrained_accelerations(self.dynamics(q, qd, t), tau, self.constraint.J(q, t), gamma)

    def accelerations(self, q: Array, qd: Array, tau: Array, t: float = 0.0) -> Array:
        """q̈ (n,). LinAlgError, naming the configuration, where there is none or no single one."""
        qdd, _, rank, status = self.solve(q, qd, tau, t)
        if status in ("inconsistent", "singular"):
            where = np.array2string(np.asarray(q), precision=6, separator=", ")
            raise np.linalg.LinAlgError(f"{self.name} at q = {where}, t = {t:.6g}: the constraints "
                                        f"(rank {rank}) leave the accelerations {status}")
        return qdd

    def settled(self, q: Array, qd: Array, t: float = 0.0) -> tuple[Array, Array]:
        """The nearest state that keeps the constraints."""
        q, qd = self.dynamics.settled(q, qd, t)
        if not self.projected:
            return q, qd
        placed = project(self.constraint, q, qd, t=t)
        return placed.q, placed.qd

    def moving_constraint_power(self, q: Array, qd: Array, t: float = 0.0, tau: Array | None = None) -> float:
        """λ·J q̇ = −λ·b [W], what constraints that move with time feed in, besides what the tree's own do."""
        b, power = self.constraint.rate(q, t), self.dynamics.moving_constraint_power(q, qd, t, tau)
        if not np.any(b):
            return power
        return power - float(b @ self.solve(q, qd, np.zeros(self.n) if tau is None else tau, t).lam)

    def energy(self, q: Array, qd: Array, t: float = 0.0) -> tuple[float, float]:
        """(K, U) [J] of the tree."""
        return self.dynamics.energy(q, qd, t)

    def rates(self, q: Array, qd: Array) -> Array:
        """dq/dt (nq,)."""
        return self.dynamics.rates(q, qd)

    def integrate(self, q: Array, qd: Array, dt: float) -> Array:
        """q after moving with q̇ for dt."""
        return self.dynamics.integrate(q, qd, dt)

    def normalized(self, q: Array) -> Array:
        """q with its quaternions on their sphere."""
        return self.dynamics.normalized(q)


def constrained(dynamics: Dynamics, *constraints: Any, alpha: float = 0.0,
                projected: bool = True) -> ConstrainedDynamics:
    """A tree's dynamics under one constraint or several.

    alpha     : Baumgarte's gain [1/s], 0 for none
    projected : bring the state back onto φ = 0 and J q̇ + b = 0 wherever an integrator looks at it
    """
    if not constraints:
        raise ValueError("constrained wants one constraint or more; got none")
    together = constraints[0] if len(constraints) == 1 else Together(constraints)
    return ConstrainedDynamics(dynamics.n, dynamics.nq, dynamics.name, dynamics.friction, dynamics, together,
                               alpha, projected)
