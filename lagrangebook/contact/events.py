"""Event-driven motion with few contacts: smooth stretches in fixed modes, and what happens between them.

A contact is open, sticks or slips. In fixed modes the held rows H (R q̈ + bias) = 0 stay held under forces
p = E z, where a slipping contact pushes along J_N − μ s·J_T, s the direction of its slip. Modes change
where a gap, a normal force, a slip or the room left in a cone becomes zero; velocities jump by an impact law.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..spatial import Array
from ..standard_form import Dynamics
from .forces import contact_accelerations
from .impact import CLOSED, collision, interleaved, mobility, newton_impact
from .stepping import LIMIT

OPEN, STICK, SLIP = 0, 1, 2
NAMES = ("open", "stick", "slip")
STILL = 1e-8        # speeds [m/s] up to which a closed contact neither approaches nor slides
CROWDED = 1000      # switches between two samples from which on they count as endless


class Switch(NamedTuple):
    """A contact whose mode changes, or which is hit."""

    t: float            # [s]
    contact: int
    mode: str           # from here on: "open", "stick" or "slip"


class _Modes(NamedTuple):
    kind: Array         # (m,) OPEN, STICK or SLIP
    slip: Array         # (m, d) unit directions of slip, zero without friction


class _Look(NamedTuple):
    """What there is at one state before contact forces are known."""

    gap: Array          # (m,)
    R: Array            # (m, 1 + d, n)
    u: Array            # (m, 1 + d) = R q̇
    bias: Array         # (m, 1 + d) Ṙ q̇
    B: Array            # (n, n) mobility
    free: Array         # (n,) q̈ without contacts
    tau: Array          # (n,)


class _Stop(Exception):
    """The motion cannot go on: the argument is the status."""


@dataclass(frozen=True, eq=False)
class _System:
    """A mechanism with contacts; a state vector y is (q, q̇, four works, impulses of the contacts so far)."""

    dynamics: Dynamics
    drive: Callable
    contacts: Any
    law: Callable
    rest_speed: float

    @property
    def mu(self) -> Array:
        """(m,)"""
        return self.contacts.mu

    def split(self, y: Array) -> tuple[Array, Array]:
        """(q, q̇)."""
        return y[:self.dynamics.nq], y[self.dynamics.nq:self.dynamics.nq + self.dynamics.n]

    def look(self, t: float, y: Array) -> _Look:
        """All that forces in fixed modes need."""
        q, qd = self.split(y)
        gap, J_N, J_T, bias_N, bias_T = self.contacts.look(q, qd)
        constraint, tau = getattr(self.dynamics, "constraint", None), self.drive(t, q, qd)
        R = interleaved(J_N, J_T).reshape(len(gap), -1, len(qd))
        bias = np.column_stack([bias_N, bias_T.reshape(len(gap), -1)])
        B = mobility(self.dynamics.mass_matrix(q, t), None if constraint is None else constraint.J(q, t))
        return _Look(gap, R, R @ qd, bias, B, self.dynamics.accelerations(q, qd, tau, t), tau)

    def forces(self, look: _Look, modes: _Modes) -> tuple[Array, Array]:
        """(p (m, 1 + d), q̈ (n,)): the smallest z with H (R q̈ + bias) = 0 and p = E z."""
        m, size, n = look.R.shape
        E, H = np.zeros((m, size, m, size)), np.zeros((m, size, m, size))
        for i in np.flatnonzero(modes.kind):
            rows = np.arange(1 if modes.kind[i] == SLIP else size)
            E[i, rows, i, rows] = H[i, rows, i, rows] = 1
            if modes.kind[i] == SLIP:
                E[i, 1:, i, 0] = -self.mu[i] * modes.slip[i]
        E, H, R = E.reshape(m * size, -1), H.reshape(m * size, -1), look.R.reshape(-1, n)
        z = np.linalg.lstsq(H @ R @ look.B @ R.T @ E, -H @ (R @ look.free + look.bias.ravel()),
                            rcond=1e-11)[0]
        return (E @ z).reshape(m, size), look.free + look.B @ (R.T @ (E @ z))

    def turned(self, look: _Look, modes: _Modes) -> _Modes:
        """The modes with slip along the velocity, if that still leads about where it did."""
        speed = np.linalg.norm(look.u[:, 1:], axis=1)
        along = np.sum(modes.slip * look.u[:, 1:], axis=1) > np.maximum(0.5 * speed, STILL)
        return modes._replace(slip=np.where(along[:, None],
                                            look.u[:, 1:] / np.where(along, speed, 1)[:, None], modes.slip))

    def derivative(self, t: float, y: Array, modes: _Modes) -> Array:
        """d/dt of the state vector; slip turns with the velocity."""
        (q, qd), tau = self.split(y), self.drive(t, *self.split(y))
        friction, moving = self.dynamics.F(qd) @ qd, self.dynamics.moving_constraint_power(q, qd, t, tau)
        if np.any(modes.kind):
            look = self.look(t, y)
            p, qdd = self.forces(look, self.turned(look, modes))
            friction -= np.sum(p[:, 1:] * look.u[:, 1:])
        else:
            p, qdd = np.zeros(modes.slip.size + len(modes.kind)), self.dynamics.accelerations(q, qd, tau, t)
        return np.concatenate([self.dynamics.rates(q, qd), qdd, [tau @ qd, friction, moving, 0.0], p.ravel()])

    def step(self, t: float, y: Array, modes: _Modes, dt: float) -> Array:
        """The classical Runge–Kutta step in fixed modes."""
        k1 = self.derivative(t, y, modes)
        k2 = self.derivative(t + dt / 2, y + dt / 2 * k1, modes)
        k3 = self.derivative(t + dt / 2, y + dt / 2 * k2, modes)
        k4 = self.derivative(t + dt, y + dt * k3, modes)
        y = y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        if not np.all(np.abs(y) < LIMIT):
            raise _Stop("diverged")
        y[:self.dynamics.nq + self.dynamics.n] = np.concatenate(self.dynamics.settled(*self.split(y), t + dt))
        return y

    def room(self, t: float, y: Array, modes: _Modes) -> Array:
        """(m, 2): what must not become negative: a gap, for an open contact that approaches; for a closed
        one its normal force, and the room in its cone or its speed along the slip."""
        look = self.look(t, y)
        p, _ = self.forces(look, modes)
        opened, stick = modes.kind == OPEN, modes.kind == STICK
        first = np.where(opened, np.where(look.u[:, 0] < 0, look.gap, 1.0), p[:, 0])
        inside = self.mu * p[:, 0] - np.linalg.norm(p[:, 1:], axis=1)
        along = np.sum(modes.slip * look.u[:, 1:], axis=1)
        second = np.where(opened | (self.mu == 0), 1.0, np.where(stick, inside, along))
        return np.column_stack([first, second])

    # -- what happens at an event --------------------------------------------------------------------------

    def decide(self, t: float, y: Array, closed: Array, leaving: Array) -> _Modes:
        """The modes that go on from here, by `contact_accelerations` of the closed contacts. One without
        force stays if nothing moves it away and its force has not just gone."""
        m, index = len(closed), np.flatnonzero(closed)
        modes = _Modes(np.full(m, OPEN), np.zeros((m, self.contacts[0].d)))
        if not len(index):
            return modes
        (q, qd), look, constraint = self.split(y), self.look(t, y), getattr(self.dynamics, "constraint", None)
        rows = {} if constraint is None else dict(J=constraint.J(q, t), gamma=constraint.bias(q, qd, t))
        found = contact_accelerations(self.dynamics(q, qd, t), look.tau, self.contacts[index], q, qd, **rows)
        if found.qdd is None or found.status == "limit":
            raise _Stop(found.status)
        a = look.R @ found.qdd + look.bias
        small = 1e-8 * np.max(abs(look.R) @ abs(found.qdd) + abs(look.bias))
        for i, mode in zip(index, found.modes):
            if mode in ("open", "separating") and (a[i, 0] > small or leaving[i]):
                continue
            u = look.u[i, 1:] if np.linalg.norm(look.u[i, 1:]) > STILL else a[i, 1:]
            modes.kind[i] = SLIP if mode == "slip" or self.mu[i] == 0 else STICK
            if mode == "slip" and self.mu[i] > 0:
                modes.slip[i] = u / np.linalg.norm(u)
        return modes

    def impact(self, t: float, y: Array, touching: Array) -> tuple[Array, Array]:
        """(y, closed) after an impact of the touching contacts; a rebound below the rest speed is made
        plastic."""
        y, (q, qd), R, bounce = y.copy(), self.split(y), self.look(t, y).R, np.ones(len(touching))
        for _ in range(2):
            hit = collision(self.dynamics, q, qd, self.contacts, lambda M, J_N, J_T, qd, mu, e, J: self.law(
                M, J_N, J_T, qd, mu, e * bounce[touching], J=J), closed=touching, t=t)
            bounce = np.where(R[:, 0] @ hit.qd <= self.rest_speed, 0.0, 1.0)
        if hit.status != "solved":
            raise _Stop(hit.status)
        p = np.column_stack([hit.p_N, hit.p_T.reshape(len(touching), -1)])
        lost = -p * (R @ (qd + hit.qd)) / 2
        y[-4 - p.size:-p.size] += [0, np.sum(lost[:, 1:]), 0, np.sum(lost[:, 0])]
        y[-p.size:] += p.ravel()
        y[len(q):len(q) + len(qd)] = hit.qd
        return y, touching & (R[:, 0] @ hit.qd <= STILL)

    def switched(self, t: float, y: Array, modes: _Modes, crossed: Array) -> tuple[Array, _Modes]:
        """State and modes after the event at which the marked rooms (m, 2) are used up."""
        look = self.look(t, y)
        hit = (modes.kind == OPEN) & (look.gap <= CLOSED) & (look.u[:, 0] < -STILL)
        closed = modes.kind != OPEN
        if np.any(hit):
            y, closed = self.impact(t, y, closed | hit)
        grazing = (modes.kind == OPEN) & crossed[:, 0] & ~hit
        return y, self.decide(t, y, closed | grazing, closed & crossed[:, 0] & (modes.kind != OPEN))


def event_driven(dynamics: Dynamics, drive: Callable, t: Array, y0: Array, contacts: Any,
                 law: Callable = newton_impact,
                 rest_speed: float = 1e-6) -> tuple[Array, Array, str, tuple, Array]:
    """Runge–Kutta steps between neighbouring t, cut at events: times, states, status, switches, impulses.

    law        : an impact law of `contact.impact`, for all contacts that are closed
    rest_speed : a contact that rebounds more slowly [m/s] stays closed, so that a bouncing ball comes to rest
    status "finished"; "zeno": more than 1000 switches between two samples; "diverged"; "impulse": no
    accelerations obey the contact laws (Painlevé); or what else the solvers say. But for the first the
    trajectory ends there.
    """
    system = _System(dynamics, drive, contacts, law, rest_speed)
    m, size = len(contacts.mu), 1 + (contacts[0].d if len(contacts.mu) else 0)
    y, rows, switches, status = np.concatenate([y0, np.zeros(m * size)]), [], [], "finished"
    try:
        q, qd = system.split(y)
        touching = contacts.gap(q) <= CLOSED
        if np.any(contacts.J_N(q)[touching] @ qd < -STILL):
            y, touching = system.impact(t[0], y, touching)
        touching = touching & (contacts.J_N(q) @ system.split(y)[1] <= STILL)
        modes = system.decide(t[0], y, touching, np.zeros(m, dtype=bool))
        rows.append(y)
        for start, end in zip(t, t[1:]):
            y, modes, new = _stretch(system, start, end, y, modes)
            rows.append(y)
            switches += new
    except _Stop as stop:
        status = stop.args[0]
        rows = rows or [y]
    rows = np.array(rows)
    impulses = np.diff(rows[:, len(y0):], axis=0, prepend=np.zeros((1, m * size)))
    return t[:len(rows)], rows[:, :len(y0)], status, tuple(switches), impulses.reshape(len(rows), m, size)


def _stretch(system: _System, t: float, end: float, y: Array, modes: _Modes) -> tuple[Array, _Modes, list]:
    """From one sample to the next, with all switches between them. A room that is used up without that the
    modes change (forces that are not unique) is not looked at again before something else happens."""
    switches, ignored = [], np.zeros((len(modes.kind), 2), dtype=bool)
    for _ in range(CROWDED):
        following = system.step(t, y, modes, end - t)
        crossed = (system.room(end, following, modes) < 0) & ~ignored
        if not np.any(crossed):
            return following, system.turned(system.look(end, following), modes), switches
        dt = _first(lambda s: np.min(system.room(t + s, system.step(t, y, modes, s), modes)[crossed]),
                    end - t)
        at = system.step(t, y, modes, dt)
        crossed &= system.room(t + dt, at, modes) < 0
        after, new = system.switched(t + dt, at, modes, crossed)
        if after is at and np.all(new.kind == modes.kind) and np.allclose(new.slip, modes.slip, atol=1e-6):
            ignored |= crossed
            continue
        changed = (new.kind != modes.kind) | crossed[:, 0]
        switches += [Switch(t + dt, int(i), NAMES[new.kind[i]]) for i in np.flatnonzero(changed)]
        t, y, modes, ignored = t + dt, after, new, np.zeros_like(ignored)
        if t >= end:
            return y, modes, switches
    raise _Stop("zeno")


def _first(room: Callable, end: float) -> float:
    """A time s in (0, end] at which room(s) has just turned negative, given room(end) < 0; it may start at
    zero."""
    from scipy.optimize import brentq
    low, high = 0.0, end
    while low == 0.0 and high > 1e-15 * end:
        middle = high / 2
        low, high = (low, middle) if room(middle) < 0 else (middle, high)
    if low == 0.0:
        return high
    root = brentq(room, low, high, xtol=1e-16 * end, rtol=1e-15)
    for nudge in (0, 1e-15, 1e-14, 1e-13, 1e-12):
        if room(min(root + nudge * end, end)) < 0:
            return min(root + nudge * end, end)
    return high
