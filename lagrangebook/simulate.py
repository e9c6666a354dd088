"""From accelerations to motion: integrators, and the energy ledger that every trajectory carries."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .contact.events import event_driven
from .contact.stepping import LIMIT, time_steps
from .model import checked
from .spatial import Array
from .standard_form import Dynamics

WITH_CONTACTS = ("moreau_jean", "event")
METHODS = ("rk4", "symplectic_euler", *WITH_CONTACTS, "RK45", "RK23", "DOP853", "Radau", "BDF", "LSODA")


@dataclass(frozen=True, eq=False)
class Ledger:
    """Where the energy of a trajectory is and where it went [J], one entry per sample (T,)."""

    kinetic: Array          # K
    potential: Array        # U
    actuator: Array         # ∫ τ·q̇ dt so far
    dissipation: Array      # lost to friction so far: ∫ F·q̇ dt, never falling, and what sliding contacts take
    constraint: Array       # work of constraints that move with time, so far
    impact: Array           # energy lost in impacts, so far

    @property
    def total(self) -> Array:
        """K + U (T,)."""
        return self.kinetic + self.potential

    @property
    def balance(self) -> Array:
        """What does not add up (T,): E − E(0) − actuator − constraint + dissipation + impact, zero but for the integrator."""
        return (self.total - self.total[0]) - self.actuator - self.constraint + self.dissipation + self.impact


@dataclass(frozen=True, eq=False)
class Trajectory:
    """A simulated motion, sampled at T times."""

    t: Array                # (T,) [s]
    q: Array                # (T, nq)
    qd: Array               # (T, n)
    tau: Array              # (T, n) the forces applied at the samples
    energy: Ledger
    status: str = "finished"        # "finished", "event" (an event function stopped it) or "diverged" (cut off before);
                                    # with contacts also what `time_steps` and `event_driven` say
    events: tuple = ()              # for each event function the times of its zeros [s]; "event": the switches of contacts
    impulses: Array | None = None   # (T, m, 1 + d) [N s] of each contact from sample to sample, normal first


WORKS = 4         # drive, friction, moving constraints, impacts: integrated behind q and q̇


class _Diverged(Exception):
    """A number went beyond the limit inside a step."""


def simulate(dynamics: Dynamics, q0: Array, qd0: Array, t: Array, tau: Any = None, method: str = "rk4",
             events: Sequence[Callable] = (), rtol: float = 1e-9, atol: float = 1e-10, contacts: Any = None,
             **options: Any) -> Trajectory:
    """Integrate M q̈ + h = τ from (q0, qd0) over the times t (T,).

    tau    : None (no drive), a constant (n,), or a function tau(t, q, qd) -> (n,)
    method : "rk4" (order 4) and "symplectic_euler" (order 1, q̇ first) take one step between neighbouring t;
             scipy's "RK45", "DOP853", "Radau", "LSODA" ... choose their own steps to rtol, atol;
             "moreau_jean" and "event" take contacts: `contact.stepping.time_steps` (one step between neighbouring t)
             and `contact.events.event_driven`; `options` go to them (theta, e_T; law, rest_speed)
    events : functions e(t, q, qd) for scipy's methods; an attribute `terminal = True` stops there
    Quaternions are integrated by their rates and brought back to norm one. Works of drive and friction are
    integrated with the state, so that `energy.balance` shows the integrator's error alone. ValueError for bad
    input; a motion that grows without bound ends with status "diverged", cut before it does (scipy's methods then
    keep the first sample alone).
    """
    if method not in METHODS:
        raise ValueError(f"method {method!r} is not known; wanted one of {', '.join(METHODS)}")
    t = np.asarray(t, dtype=float)
    if t.ndim != 1 or len(t) < 2 or not np.all(np.diff(t) > 0):
        raise ValueError(f"t must be at least two increasing times; got shape {t.shape}")
    if events and method in ("rk4", "symplectic_euler", *WITH_CONTACTS):
        raise ValueError(f"events need one of scipy's methods; got {method!r}")
    if (contacts is not None) != (method in WITH_CONTACTS) or (options and contacts is None):
        raise ValueError(f"contacts and {sorted(options) or 'options'} belong to {' and '.join(WITH_CONTACTS)}, which "
                         f"want contacts; got method {method!r} and contacts {type(contacts).__name__}")
    q0 = checked("q0", q0, dynamics.nq, f"{dynamics.name} has nq = {dynamics.nq}")
    qd0 = checked("qd0", qd0, dynamics.n, f"{dynamics.name} has n = {dynamics.n}")
    dynamics.energy(q0, qd0, t[0])          # the start must be a state as it stands, before anything is normalised
    drive = _drive(tau, dynamics.n)
    y0 = np.concatenate([dynamics.normalized(q0), qd0, np.zeros(WORKS)])
    if method in ("rk4", "symplectic_euler"):
        run = _fixed_steps(dynamics, drive, t, y0, _rk4_step if method == "rk4" else _symplectic_step)
    elif method in WITH_CONTACTS:
        run = (time_steps if method == "moreau_jean" else event_driven)(dynamics, drive, t, y0, contacts, **options)
    else:
        run = _solve_ivp(dynamics, drive, t, y0, method, events, rtol, atol)
    return _trajectory(dynamics, drive, *run)


def _drive(tau: Any, n: int) -> Callable[[float, Array, Array], Array]:
    if callable(tau):
        return lambda t, q, qd: checked("tau", tau(t, q, qd), n, f"the drive has n = {n}")
    constant = np.zeros(n) if tau is None else checked("tau", tau, n, f"the drive has n = {n}")
    return lambda t, q, qd: constant


def _bounded(y: Array) -> Array:
    if not np.all(np.abs(y) < LIMIT):
        raise _Diverged
    return y


def _split(dynamics: Dynamics, t: float, y: Array) -> tuple[Array, Array]:
    """(q, q̇) of a state vector (q, q̇, works), brought back onto quaternion spheres and constraints."""
    y = _bounded(y)
    return dynamics.settled(y[:dynamics.nq], y[dynamics.nq:dynamics.nq + dynamics.n], t)


def _derivative(dynamics: Dynamics, drive: Callable, t: float, y: Array) -> Array:
    """d/dt (q, q̇, ∫τ·q̇, ∫F·q̇, moving constraints' work, none in impacts)."""
    q, qd = _split(dynamics, t, y)
    tau = drive(t, q, qd)
    return _bounded(np.concatenate([dynamics.rates(q, qd), dynamics.accelerations(q, qd, tau, t),
                                    [tau @ qd, dynamics.F(qd) @ qd, dynamics.moving_constraint_power(q, qd, t, tau), 0.0]]))


def _rk4_step(dynamics: Dynamics, drive: Callable, t: float, y: Array, dt: float) -> Array:
    """The classical Runge–Kutta step."""
    k1 = _derivative(dynamics, drive, t, y)
    k2 = _derivative(dynamics, drive, t + dt / 2, y + dt / 2 * k1)
    k3 = _derivative(dynamics, drive, t + dt / 2, y + dt / 2 * k2)
    k4 = _derivative(dynamics, drive, t + dt, y + dt * k3)
    return y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def _symplectic_step(dynamics: Dynamics, drive: Callable, t: float, y: Array, dt: float) -> Array:
    """q̇ first, then q with the new q̇ (semi-implicit Euler; symplectic for a separable energy)."""
    q, qd = _split(dynamics, t, y)
    rate = _derivative(dynamics, drive, t, y)
    qd_next = qd + dt * rate[dynamics.nq:dynamics.nq + dynamics.n]
    return np.concatenate([dynamics.integrate(q, qd_next, dt), qd_next, y[-WORKS:] + dt * rate[-WORKS:]])


def _fixed_steps(dynamics: Dynamics, drive: Callable, t: Array, y0: Array, step: Callable) -> tuple:
    y, status = [y0], "finished"
    with np.errstate(over="ignore", invalid="ignore"):
        for k, dt in enumerate(np.diff(t)):
            try:
                following = step(dynamics, drive, t[k], y[-1], dt)
                following[:-WORKS] = np.concatenate(_split(dynamics, t[k + 1], following))
            except _Diverged:
                status = "diverged"
                break
            y.append(following)
    return t[:len(y)], np.array(y), status, ()


def _solve_ivp(dynamics: Dynamics, drive: Callable, t: Array, y0: Array, method: str, events: Sequence[Callable],
               rtol: float, atol: float) -> tuple:
    from scipy.integrate import solve_ivp

    def wrapped(event: Callable) -> Callable:
        def function(time: float, y: Array) -> float:
            return event(time, *_split(dynamics, time, y))
        function.terminal, function.direction = getattr(event, "terminal", False), getattr(event, "direction", 0)
        return function

    try:
        solution = solve_ivp(lambda time, y: _derivative(dynamics, drive, time, y), (t[0], t[-1]), y0, method=method,
                             t_eval=t, events=[wrapped(e) for e in events] or None, rtol=rtol, atol=atol)
    except _Diverged:
        return t[:1], y0[None], "diverged", ()
    times, y = solution.t, solution.y.T
    if solution.status == 1:        # the stop is the last sample, and takes the place of one at the same time
        stop, y_stop = max(((when[-1], what[-1]) for when, what in zip(solution.t_events, solution.y_events) if len(when)),
                           key=lambda pair: pair[0])
        before = times < stop - 1e-12 * (t[-1] - t[0])
        times, y = np.append(times[before], stop), np.vstack([y[before], y_stop])
    return (times, y, {0: "finished", 1: "event"}.get(solution.status, "diverged"), tuple(solution.t_events or ()))


def _trajectory(dynamics: Dynamics, drive: Callable, t: Array, y: Array, status: str, events: tuple,
                impulses: Array | None = None) -> Trajectory:
    states = [_split(dynamics, time, row) for time, row in zip(t, y)]
    q, qd = (np.array([state[k] for state in states]) for k in (0, 1))
    energies = np.array([dynamics.energy(*state, time) for state, time in zip(states, t)], dtype=float)
    tau = np.array([drive(time, *state) for state, time in zip(states, t)], dtype=float)
    ledger = Ledger(energies[:, 0], energies[:, 1], *y[:, -WORKS:].T)
    return Trajectory(t, q, qd, tau, ledger, status, events, impulses)
