"""Time stepping: motion with contacts, impacts and friction in steps of given length, without looking for
events."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..constraints import _rows, _units
from ..model import checked
from ..spatial import Array
from ..standard_form import Dynamics
from .cone import solve_contact
from .impact import interleaved, mobility

LIMIT = 1e50        # a state or rate beyond it counts as without bound: its powers still are finite numbers
PASSES = 20         # how often contacts that the impulses of others close may join


@dataclass(frozen=True, eq=False)
class Step:
    """The state after a step, and what it took."""

    q: Array            # (nq,)
    qd: Array           # (n,)
    p: Array            # (m, 1 + d) impulses of each contact, normal first [N s]
    p_J: Array          # (k,) impulses of the bilateral constraints
    works: Array        # (4,) [J]: by the drive; lost to friction; by moving constraints; lost in impacts
    status: str         # "solved", or what the contact solver says


def moreau_jean_step(dynamics: Dynamics, q: Array, qd: Array, dt: float, contacts: Any, tau: Any = 0.0,
                     constraint: Any = None, theta: float = 0.5, e_T: float = 0.0, t: float = 0.0,
                     start: Array | None = None) -> Step:
    """One step of Moreau and Jean's scheme: velocities and impulses at once, positions before and after.

        q_m = q + (1 − θ) dt q̇,    M (q̇⁺ − q̇) = dt (τ − h) + J_Nᵀ p_N + J_Tᵀ p_T + Jᵀ p_J,
        q⁺ = q_m + θ dt q̇⁺

    with all terms at q_m, Coulomb's law for p and the velocities after, J q̇⁺ + b = 0, and for each contact

        0 ≤ γ_N⁺ − L ⟂ p_N ≥ 0,    L = −e γ_N⁻ where it rebounds,  L = −gap(q_m)/dt where it lands or rests.

    From one q_m to the next a gap moves by dt γ_N⁺, so that a landing body uses up its gap and stops; the
    curvature of a gap leaves errors of dt² a step. A rebound slower than what the forces take back in one
    step counts as a landing: a ball comes to rest.

    theta      : 1/2 (uniform gravity keeps its energy; order 2 where nothing touches) to 1 (order 1, damps)
    contacts   : with .gap(q) (m,), .J_N(q) (m, n), .J_T(q) (m d, n), .mu, .e
    constraint : with .J(q, t) and .rate(q, t); a ConstrainedDynamics brings its own
    tau        : (n,) or a function tau(t, q, qd)
    e_T        : restitution along the tangents where a contact rebounds
    start      : (m, 1 + d) a guess of p, such as the last step's
    Jean, The non-smooth contact dynamics method (1999).
    """
    q = checked("q", q, dynamics.nq, f"{dynamics.name} has nq = {dynamics.nq}")
    qd = checked("qd", qd, dynamics.n, f"{dynamics.name} has n = {dynamics.n}")
    constraint = getattr(dynamics, "constraint", None) if constraint is None else constraint
    q_m, t_m = dynamics.integrate(q, qd, (1 - theta) * dt), t + (1 - theta) * dt
    M = dynamics.mass_matrix(q_m, t_m)
    J, b = (None, 0.0) if constraint is None else (constraint.J(q_m, t_m), constraint.rate(q_m, t_m))
    B, kept = mobility(M, J), qd if J is None else _keeping(M, J, b, qd)

    def free(v: Array) -> tuple[Array, Array, Array]:
        """τ, dt (τ − h) with the velocity terms of v, and the velocity after these alone."""
        drive = np.zeros(len(qd)) + (tau(t_m, q_m, v) if callable(tau) else tau)
        impulse = dt * (drive - dynamics.inverse(q_m, v, np.zeros(len(qd)), t_m))
        return drive, impulse, kept + B @ (impulse + M @ (qd - kept))

    v = qd
    drive, impulse, after = free(v)
    if theta < 1:
        v = qd + (1 - theta) * (after - qd)
        drive, impulse, after = free(v)
    near, gap, R = _looked(contacts, q_m, [qd, after], dt)
    every = np.zeros((len(contacts.mu), R.shape[1]))
    if start is not None and np.shape(start) != every.shape:
        raise ValueError(f"start has shape {np.shape(start)}; wanted {every.shape}, the rows of each contact")
    guess = None if start is None else np.asarray(start, dtype=float)[near]
    p, status = _contact_impulses(contacts, near, gap, R, qd, after, B, dt, e_T, guess)
    pushed = np.einsum("ijk,ij->k", R, p)
    after = after + B @ pushed
    mean, p_J = (qd + after) / 2, np.zeros(0)
    power = getattr(dynamics, "dynamics", dynamics).moving_constraint_power(q_m, mean, t_m, drive)
    lost = -p * (R @ mean)
    if J is not None:
        p_J = _rows(J * _units(M)).multipliers(_units(M) * (M @ (after - qd) - impulse - pushed))
        power += p_J @ J @ mean / dt
    works = [dt * drive @ mean, dt * dynamics.F(v) @ mean + np.sum(lost[:, 1:]), dt * power,
             np.sum(lost[:, 0])]
    q, qd = dynamics.settled(dynamics.integrate(q_m, after, theta * dt), after, t + dt)
    every[near] = p
    return Step(q, qd, every, p_J, np.array(works, dtype=float), status)


def _keeping(M: Array, J: Array, b: Array, qd: Array) -> Array:
    """The velocity nearest to q̇, in units of the diagonal of M, with J q̇ + b = 0."""
    unit = _units(M)
    return qd - unit * _rows(J * unit).reach(J @ qd + b)


def _looked(contacts: Any, q: Array, velocities: list[Array], dt: float) -> tuple[Array, Array, Array]:
    """Indices (k,), gaps (k,) and rows (k, 1 + d, n) of the contacts that may matter: all, if they cannot
    say."""
    if hasattr(contacts, "near"):
        near = contacts.near(q, velocities, dt)
        return near, contacts.gap(q)[near], contacts.rows(q, near)
    gap, J_N, J_T = contacts.look(q)[:3] if hasattr(contacts, "look") else (
        contacts.gap(q), contacts.J_N(q), contacts.J_T(q))
    return np.arange(len(gap)), gap, interleaved(J_N, J_T).reshape(len(gap), -1, J_N.shape[1])


def _contact_impulses(contacts: Any, near: Array, gap: Array, R: Array, qd: Array, free: Array, B: Array,
                      dt: float, e_T: float, guess: Array | None) -> tuple[Array, str]:
    """Impulses (k, 1 + d) and status. Only contacts that would close take part: at first by the free
    velocities and those that press in the guess, then by the velocities that the impulses of the others
    make."""
    before, coming = R @ qd, R @ free
    mu, e = (np.broadcast_to(x, np.shape(contacts.mu))[near] for x in (contacts.mu, contacts.e))
    rebounds = -e * before[:, 0] > abs(coming - before)[:, 0]
    b = coming + np.where(rebounds[:, None], e_T * before, 0)
    b[:, 0] = coming[:, 0] - np.where(rebounds, -e * before[:, 0], -np.maximum(gap, 0) / dt)
    p = np.zeros(R.shape[:2]) if guess is None else guess.copy()
    status, active = "solved", (gap + dt * coming[:, 0] < 0) | (p[:, 0] > 0)
    p[~active] = 0
    for _ in range(PASSES):
        rows = R[active].reshape(-1, len(qd))
        W = rows @ B @ rows.T
        if len(rows):
            some, _, status = solve_contact(W, b[active].ravel(), mu[active], [R.shape[1]] * np.sum(active),
                                            None if guess is None else p[active].ravel())
            p[active] = some.reshape(-1, R.shape[1])
        after = gap + dt * (R[:, 0] @ (free + B @ (rows.T @ p[active].ravel())))
        closing = after < -1e-9 * dt * np.max(abs(before), initial=0.0)
        if not np.any(closing & ~active):
            break
        active |= closing
    return p, status


def time_steps(dynamics: Dynamics, drive: Callable, t: Array, y0: Array, contacts: Any, theta: float = 0.5,
               e_T: float = 0.0) -> tuple[Array, Array, str, tuple, Array]:
    """Steps between neighbouring t: times, states (q, q̇, four works), status, no events, impulses
    (T, m, 1 + d).

    status "finished", "limit" where the contact problem of a step was not solved to its tolerance, "diverged"
    where the motion grew without bound and was cut off.
    """
    y, p, status = [y0], [], "finished"
    for k, dt in enumerate(np.diff(t)):
        q, qd, works = np.split(y[-1], [dynamics.nq, dynamics.nq + dynamics.n])
        step = moreau_jean_step(dynamics, q, qd, dt, contacts, drive, theta=theta, e_T=e_T, t=t[k],
                                start=p[-1] if p else None)
        following = np.concatenate([step.q, step.qd, works + step.works])
        if not np.all(np.abs(following) < LIMIT):
            status = "diverged"
            break
        status = status if step.status == "solved" else "limit"
        y.append(following)
        p.append(step.p)
    still = np.zeros((1, *p[0].shape)) if p else np.zeros((1, 0, 1))
    return t[:len(y)], np.array(y), status, (), np.concatenate([still, p]) if p else still
