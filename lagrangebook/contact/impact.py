"""Impacts: velocities that jump. Three laws for all contacts at once, and one contact after the other.

    M (q̇⁺ − q̇⁻) = J_Nᵀ p_N + J_Tᵀ p_T + Jᵀ p_J        p_N ≥ 0,  ‖p_T‖ ≤ μ p_N at each contact

The laws are functions of matrices; `collision` takes them from contacts. With W = R B Rᵀ, R the rows of all
contacts and B = M⁻¹ (or what bilateral constraints leave of it), the velocities γ = R q̇ obey γ⁺ = γ⁻ + W p.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..constraints import _rows, _units
from ..model import checked
from ..spatial import Array
from ..standard_form import Dynamics
from .cone import solve_contact
from .modes import every_mode

FEW = 3             # contacts in the plane whose 4^m modes are tried one by one where no solver succeeds
CLOSED = 1e-9       # a gap below it [m] counts as closed


@dataclass(frozen=True, eq=False)
class Impact:
    """What an impact law says."""

    qd: Array           # (n,) velocities after
    p_N: Array          # (m,) normal impulses ≥ 0 [N s]
    p_T: Array          # (m d,) tangential impulses [N s]
    energy: float       # K⁺ − K⁻ [J]: below zero where energy is lost, above where the law has made some
    status: str         # "solved", or what the contact solver or the limit of a sequence says
    count: int          # impacts in sequence; 1 for a simultaneous one
    p_J: Array          # (k,) impulses of the bilateral constraints [N s | N m s]


def newton_impact(M: Array, J_N: Array, J_T: Array | None, qd: Array, mu: Any, e: Any, e_T: Any = 0.0,
                  J: Array | None = None) -> Impact:
    """Newton's law, kinematic: each normal velocity is turned round and multiplied by its e.

        0 ≤ γ_N⁺ + e γ_N⁻  ⟂  p_N ≥ 0        p_T opposes  γ_T⁺ + e_T γ_T⁻,  ‖p_T‖ ≤ μ p_N

    M : (n, n)   J_N : (m, n)   J_T : (m d, n), d tangents a contact one after the other, or None   qd : (n,)
    mu, e, e_T : numbers or (m,), e and e_T from 0 to 1   J : (k, n) bilateral rows, J q̇ stays what it was
    An inequality: a contact that others pull open gets no impulse. With friction, or e that differ, the law
    can make energy; the result's `energy` has the sign. ValueError names what has a wrong shape or range.
    """
    touch = _touch(M, J_N, J_T, qd, mu, e, e_T, J)
    return touch.result(*touch.solve(touch.W, touch.b))


def moreau_impact(M: Array, J_N: Array, J_T: Array | None, qd: Array, mu: Any, e: Any, e_T: Any = None,
                  J: Array | None = None) -> Impact:
    """Moreau's law: Coulomb's law and complementarity, both for the mean velocity (γ⁺ + e γ⁻)/(1 + e).

        0 ≤ γ_N⁺ + e γ_N⁻  ⟂  p_N ≥ 0        p_T opposes  γ_T⁺ + e γ_T⁻,  ‖p_T‖ ≤ μ p_N

    One e for normal and tangential velocities (e_T, if given, replaces it along the tangents). With one
    common e ≤ 1 energy never grows: K⁺ − K⁻ = p·ξ − (1 − e)/(1 + e) pᵀW p/2, where ξ is that mean and
    p·ξ ≤ 0. Arguments as for `newton_impact`. Moreau, Unilateral contact and dry friction (1988).
    """
    return newton_impact(M, J_N, J_T, qd, mu, e, e if e_T is None else e_T, J)


def poisson_impact(M: Array, J_N: Array, J_T: Array | None, qd: Array, mu: Any, e: Any,
                   J: Array | None = None) -> Impact:
    """Poisson's law, kinetic: compression to the end of approach, then expansion that gives back e of its
    impulse.

        compression   0 ≤ γ_N  ⟂  p_c ≥ 0          at its end, Coulomb's law with γ_T there
        expansion     0 ≤ γ_N⁺ ⟂  p_e − e p_c ≥ 0   more than e p_c only where contacts would overlap else,
                                                    Coulomb's law with γ_T⁺ and ‖p_T‖ ≤ μ p_e

    Arguments as for `newton_impact`. Glocker and Pfeiffer, Multiple impacts with friction (1995).
    """
    touch = _touch(M, J_N, J_T, qd, mu, e, 0.0, J)
    p_c, status = touch.solve(touch.W, touch.gamma)
    if status != "solved":
        return touch.result(p_c, status)
    p_e, status = touch.expansion(touch.gamma + touch.W @ p_c, touch.e * p_c[touch.normal])
    return touch.result(p_c + p_e, status)


def sequential(M: Array, J_N: Array, J_T: Array | None, qd: Array, mu: Any, e: Any,
               law: Callable = newton_impact,
               J: Array | None = None, limit: int = 1000, tolerance: float = 1e-12) -> Impact:
    """One contact at a time by `law`, always the one that approaches fastest (the first of equals), until
    none does.

    tolerance : approach below this fraction of the fastest one at the start counts as none
    status "solved", or "limit" where contacts still approach after so many impacts. Arguments as for
    `newton_impact`.
    """
    touch = _touch(M, J_N, J_T, qd, mu, e, 0.0, J)
    impulse, v, count = np.zeros(len(touch.R)), touch.qd, 0
    slow, status = tolerance * np.max(-touch.gamma[touch.normal], initial=0.0), "solved"
    while status == "solved" and np.any(touch.R[touch.normal] @ v < -slow):
        if count == limit:
            status = "limit"
            break
        i = int(np.argmin(touch.R[touch.normal] @ v))
        row, count = slice(i * touch.size, (i + 1) * touch.size), count + 1
        one = law(touch.M, touch.R[row][:1], touch.R[row][1:], v, touch.mu[i], touch.e[i], J=J)
        impulse[row] += np.concatenate([one.p_N, one.p_T])
        v, status = one.qd, one.status
    return replace(touch.result(impulse, status), qd=v, count=count)


def collision(dynamics: Dynamics, q: Array, qd: Array, contacts: Any, law: Callable = newton_impact,
              constraint: Any = None, closed: Array | None = None, t: float = 0.0) -> Impact:
    """The impact of all closed contacts at (q, q̇), with their μ and e; impulses of open ones read zero.

    contacts : with .gap(q), .J_N(q), .J_T(q), .mu, .e      law : one of the laws of this module
    constraint : with .J(q, t); that of a ConstrainedDynamics if not given
    closed : booleans (m,) which contacts take part, if not those with a gap up to `CLOSED`
    """
    constraint = getattr(dynamics, "constraint", None) if constraint is None else constraint
    closed = np.asarray(contacts.gap(q) <= CLOSED if closed is None else closed)
    J_N, J_T = contacts.J_N(q), contacts.J_T(q)
    tangents = np.repeat(closed, len(J_T) // max(len(J_N), 1))
    mu, e = (np.broadcast_to(x, closed.shape)[closed] for x in (contacts.mu, contacts.e))
    some = law(dynamics.mass_matrix(q, t), J_N[closed], J_T[tangents], qd, mu, e,
               J=None if constraint is None else constraint.J(q, t))
    p_N, p_T = np.zeros(len(J_N)), np.zeros(len(J_T))
    p_N[closed], p_T[tangents] = some.p_N, some.p_T
    return replace(some, p_N=p_N, p_T=p_T)


# -- what the laws share -----------------------------------------------------------------------------------

def mobility(M: Array, J: Array | None = None) -> Array:
    """B (n, n): the velocities B f that an impulse f makes while constraints J q̇ = 0 answer it.

    B = M⁻¹ without constraints, else Z (Zᵀ M Z)⁻¹ Zᵀ with J Z = 0, whatever the rank of J.
    """
    unit = _units(M)
    Z = np.diag(unit) if J is None else unit[:, None] * _rows(J * unit).free
    L = np.linalg.cholesky(Z.T @ M @ Z)
    half = np.linalg.solve(L, Z.T)
    return half.T @ half


def interleaved(J_N: Array, J_T: Array | None) -> Array:
    """The rows of each contact together: normal, then its tangents (m (1 + d), n)."""
    if J_T is None or len(J_T) == 0:
        return J_N
    m, n = J_N.shape
    return np.concatenate([J_N[:, None, :], J_T.reshape(m, -1, n)], axis=1).reshape(-1, n)


@dataclass(frozen=True, eq=False)
class _Touch:
    """An impact to be solved: rows of each contact together, normal first."""

    M: Array
    R: Array            # (m (1 + d), n)
    qd: Array
    mu: Array           # (m,)
    e: Array            # (m,)
    e_T: Array          # (m,)
    J: Array | None     # (k, n)
    B: Array            # (n, n)

    @property
    def size(self) -> int:
        """1 + d."""
        return len(self.R) // max(len(self.mu), 1)

    @property
    def normal(self) -> Array:
        """Indices (m,) of the normal rows."""
        return self.size * np.arange(len(self.mu))

    @property
    def gamma(self) -> Array:
        """γ⁻ = R q̇⁻."""
        return self.R @ self.qd

    @property
    def W(self) -> Array:
        """R B Rᵀ."""
        return self.R @ self.B @ self.R.T

    @property
    def b(self) -> Array:
        """γ⁻ + ε γ⁻, to which W p is added:  γ⁺ + ε γ⁻."""
        restitution = np.repeat(self.e_T, self.size)
        restitution[self.normal] = self.e
        return (1 + restitution) * self.gamma

    def solve(self, W: Array, b: Array, mu: Array | None = None) -> tuple[Array, str]:
        """(p, status) of the contact problem, its blocks all of one size; what is hard in the plane goes by
        its modes."""
        mu = self.mu if mu is None else mu
        p, _, status = solve_contact(W, b, mu, [self.size] * len(mu))
        if status == "limit" and self.size == 2 and len(mu) <= FEW:
            found = next(every_mode(W, b, mu, (2,) * len(mu), np.max(abs(b))), None)
            return (p, "none") if found is None else (found, "solved")
        return p, status

    def expansion(self, gamma: Array, given: Array) -> tuple[Array, str]:
        """(p, status) with p_N ≥ given, and Coulomb's law for all of it.

        Friction of the part that is given has the fixed radius μ given: it is that of a second contact at the
        same place whose normal pushes on a mass of its own, so that its normal impulse is what is given.
        """
        m, k = len(self.mu), len(self.R)
        own = np.eye(k)
        own[self.normal, self.normal] = 0
        both = np.hstack([np.eye(k), own])
        W, start = both.T @ self.W @ both, np.zeros(k)
        start[self.normal] = given
        b, weight = both.T @ (gamma + self.W @ start), np.diag(self.W)[self.normal]
        W[k + self.normal, k + self.normal], b[k + self.normal] = weight, -weight * given
        if self.size == 1 or not np.any(self.mu * given):
            W, b, both, m = self.W, b[:k], np.eye(k), 0
        p, status = self.solve(W, b, np.concatenate([self.mu, self.mu[:m]]))
        return start + both @ p, status

    def result(self, p: Array, status: str) -> Impact:
        """The state after the impulses p."""
        change = self.B @ (self.R.T @ p)
        energy = float(change @ self.M @ (self.qd + change / 2))
        tangential = np.delete(p, self.normal)
        p_J = np.zeros(0) if self.J is None else _rows(self.J * _units(self.M)).multipliers(
            _units(self.M) * (self.M @ change - self.R.T @ p))
        return Impact(self.qd + change, p[self.normal], tangential, energy, status, 1, p_J)


def _touch(M: Array, J_N: Array, J_T: Array | None, qd: Array, mu: Any, e: Any, e_T: Any,
           J: Array | None) -> _Touch:
    """The arguments of a law, checked."""
    M, qd = np.asarray(M, dtype=float), np.asarray(qd, dtype=float)
    if M.ndim != 2 or M.shape[0] != M.shape[1]:
        raise ValueError(f"M has shape {M.shape}; wanted a square matrix (n, n)")
    n, qd = len(M), checked("qd", qd, len(M), "M has n")
    J_N, J_T, J = (None if x is None else _matrix(name, x, n)
                   for name, x in (("J_N", J_N), ("J_T", J_T), ("J", J)))
    m = len(J_N)
    if J_T is not None and (len(J_T) if m == 0 else len(J_T) % m):
        raise ValueError(f"J_T has {len(J_T)} rows; wanted as many tangents for each of {m} contacts")
    mu, e, e_T = (_coefficients(name, x, m, most)
                  for name, x, most in (("mu", mu, np.inf), ("e", e, 1), ("e_T", e_T, 1)))
    return _Touch(M, interleaved(J_N, J_T), qd, mu, e, e_T, J, mobility(M, J))


def _matrix(name: str, J: Array, n: int) -> Array:
    J = np.asarray(J, dtype=float)
    if J.ndim != 2 or J.shape[1] != n or not np.all(np.isfinite(J)):
        raise ValueError(f"{name} has shape {J.shape}; wanted finite rows (m, {n})")
    return J


def _coefficients(name: str, x: Any, m: int, most: float) -> Array:
    x = np.asarray(x, dtype=float)
    if x.shape not in ((), (m,)) or not np.all((x >= 0) & (x <= most)):
        raise ValueError(f"{name} is {x.tolist()}; wanted a number from 0 to {most}, or one "
                         f"for each of {m} contacts")
    return np.broadcast_to(x, (m,))
