"""Feedback laws on the standard form: each returns a function tau(t, q, qd) that `simulate` takes as its drive.

e = q_d − q is the error. Gains of laws that go through M are per second and per second squared; gains of laws that do not
are stiffnesses and dampings.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .identify import regressor
from .kinematics import point, point_jacobian
from .mass_matrix import gravity
from .model import Model, checked
from .spatial import Array
from .standard_form import Dynamics

Law = Callable[[float, Array, Array], Array]


def critically_damped(omega: Any) -> tuple[Array, Array]:
    """(Kp, Kd) = (ω², 2ω): ë + Kd ė + Kp e = 0 returns without overshoot, both roots at −ω [1/s]."""
    omega = np.asarray(omega, dtype=float)
    if not np.all(omega > 0):
        raise ValueError(f"omega must be positive; got {omega.tolist()}")
    return omega**2, 2 * omega


def angle_error(model: Model, q_d: Array, q: Array) -> Array:
    """e = q_d − q (n,), wrapped to (−π, π] for revolute joints without limits alone; on the manifold for quaternions."""
    e = model.difference(q, q_d)
    for i, body in model.outward:
        if body.joint.kind == "revolute" and body.joint.limits is None:
            k = model.slice_v(i)
            e[k] = -((-e[k] + np.pi) % (2 * np.pi) - np.pi)
    return e


# -- where to go -------------------------------------------------------------------------------------------

@dataclass(frozen=True, eq=False)
class Reference:
    """A straight motion in joint space from q0 to q1: reference(t) -> (q_d, q̇_d, q̈_d), at rest before and after."""

    q0: Array               # (n,)
    q1: Array               # (n,)
    duration: float         # [s]
    ramp: float | None = None       # duration of the acceleration phase of a trapezoid; None: quintic

    @classmethod
    def quintic(cls, q0: Array, q1: Array, duration: float) -> "Reference":
        """s = 10x³ − 15x⁴ + 6x⁵ with x = t/T: starts and ends without velocity and acceleration."""
        if not duration > 0:
            raise ValueError(f"duration must be positive; got {duration}")
        return cls(np.asarray(q0, dtype=float), np.asarray(q1, dtype=float), float(duration))

    @classmethod
    def trapezoidal(cls, q0: Array, q1: Array, speed: Array, acceleration: Array) -> "Reference":
        """Constant acceleration, constant speed, constant deceleration; the joints arrive together within the limits."""
        q0, q1 = np.asarray(q0, dtype=float), np.asarray(q1, dtype=float)
        speed, acceleration = np.broadcast_to(speed, q0.shape), np.broadcast_to(acceleration, q0.shape)
        if not (np.all(speed > 0) and np.all(acceleration > 0)):
            raise ValueError(f"speed and acceleration must be positive; got {speed.tolist()} and {acceleration.tolist()}")
        way = np.abs(q1 - q0)
        rate, growth = np.min(speed[way > 0] / way[way > 0], initial=np.inf), np.min(acceleration[way > 0] / way[way > 0], initial=np.inf)
        if not np.isfinite(rate):
            return cls(q0, q1, 1.0)
        rate = min(rate, np.sqrt(growth))           # a short way never reaches full speed
        return cls(q0, q1, 1 / rate + rate / growth, rate / growth)

    def __call__(self, t: float) -> tuple[Array, Array, Array]:
        """(q_d, q̇_d, q̈_d) at time t."""
        s, sd, sdd = self._profile(t)
        way = self.q1 - self.q0
        return self.q0 + s * way, sd * way, sdd * way

    def _profile(self, t: float) -> tuple[float, float, float]:
        T, r = self.duration, self.ramp
        if t <= 0 or t >= T:
            return float(t >= T), 0.0, 0.0
        if r is None:
            x = t / T
            return (10 * x**3 - 15 * x**4 + 6 * x**5, (30 * x**2 - 60 * x**3 + 30 * x**4) / T,
                    (60 * x - 180 * x**2 + 120 * x**3) / T**2)
        a = 1 / (r * (T - r))
        if t < r:
            return a * t**2 / 2, a * t, a
        if t > T - r:
            return 1 - a * (T - t)**2 / 2, a * (T - t), -a
        return a * r * (t - r / 2), a * r, 0.0


# -- laws in joint space -----------------------------------------------------------------------------------

def pd_gravity(model: Model, goal: Array, Kp: Array, Kd: Array) -> Law:
    """τ = G(q) + Kp e − Kd q̇: holds a goal without steady error if G is right; Kp [N m/rad], Kd [N m s/rad]."""
    return lambda t, q, qd: gravity(model, q) + Kp * angle_error(model, goal, q) - Kd * qd


def computed_torque(dynamics: Dynamics, reference: Callable, Kp: Array, Kd: Array) -> Law:
    """τ = M (q̈_d + Kd ė + Kp e) + C q̇ + G + F at the measured state: one call of inverse dynamics, no inverse of M.

    With an exact model the error obeys ë + Kd ė + Kp e = 0; Kp [1/s²], Kd [1/s].
    """
    def law(t: float, q: Array, qd: Array) -> Array:
        q_d, qd_d, qdd_d = reference(t)
        return dynamics.inverse(q, qd, qdd_d + Kd * (qd_d - qd) + Kp * _error(dynamics, q_d, q), t)
    return law


def feedforward(dynamics: Dynamics, reference: Callable, Kp: Array, Kd: Array) -> Law:
    """τ = M q̈_d + C q̇_d + G + F at the reference, with Kp e + Kd ė outside; Kp [N m/rad], Kd [N m s/rad]."""
    def law(t: float, q: Array, qd: Array) -> Array:
        q_d, qd_d, qdd_d = reference(t)
        return dynamics.inverse(q_d, qd_d, qdd_d, t) + Kp * _error(dynamics, q_d, q) + Kd * (qd_d - qd)
    return law


def _error(dynamics: Dynamics, q_d: Array, q: Array) -> Array:
    model = getattr(dynamics, "model", None)
    return q_d - q if model is None else angle_error(model, q_d, q)


# -- laws at a point of the robot --------------------------------------------------------------------------

def impedance(model: Model, body: int | str, r: Array, goal: Array, K: Array, D: Array) -> Law:
    """τ = G + Jᵀ [K (x_d − x) − D ẋ]: the point r of a body behaves like a spring K [N/m] and damper D [N s/m], world axes."""
    K, D, goal = np.asarray(K, dtype=float), np.asarray(D, dtype=float), checked("goal", goal, 3, "a point has three coordinates")

    def law(t: float, q: Array, qd: Array) -> Array:
        J = point_jacobian(model, q, body, r)
        return gravity(model, q) + J.T @ (K @ (goal - point(model, q, body, r)) - D @ (J @ qd))
    return law


def hybrid(model: Model, body: int | str, r: Array, normal: Array, force: float, goal: Array, K: Array, D: Array) -> Law:
    """τ = G + Jᵀ [P (K (x_d − x) − D ẋ) + force n]: position along a surface, force [N] against it.

    n is the unit vector from the robot into the surface, P = 1 − n nᵀ. The force is fed forward, not measured.
    """
    n = checked("normal", normal, 3, "a direction has three coordinates")
    n = n / np.linalg.norm(n)
    P = np.eye(3) - np.outer(n, n)

    def law(t: float, q: Array, qd: Array) -> Array:
        J = point_jacobian(model, q, body, r)
        along = K @ (goal - point(model, q, body, r)) - D @ (J @ qd)
        return gravity(model, q) + J.T @ (P @ along + force * n)
    return law


# -- adaptation --------------------------------------------------------------------------------------------

class SlotineLi:
    """Adaptive tracking of Slotine and Li: a law with memory, updated once per sample.

        q̇_r = q̇_d + Λ e      s = q̇_r − q̇
        τ = Y(q, q̇, q̇_r, q̈_r) π̂ + I_r q̈_r + K s       dπ̂/dt = Γ Yᵀ s

    The tracking error converges; the estimate π̂ need not, unless the motion excites it. The model's rotor inertias I_r
    are taken as known. `estimates` keeps the history of π̂.
    """

    def __init__(self, model: Model, reference: Callable, Lambda: Array, K: Array, Gamma: Array, pi: Array,
                 Y: Callable | None = None) -> None:
        self.model, self.reference, self.Lambda, self.K, self.Gamma = model, reference, Lambda, K, Gamma
        self.pi = checked("pi", pi, 10 * model.N, "a body has ten parameters").copy()
        self.Y = Y or (lambda q, qd, ref, acc: regressor(model, q, qd, acc, qd_ref=ref))
        self.rotors = np.concatenate([np.full(body.joint.n, body.joint.rotor) for body in model.bodies])
        self.time: float | None = None
        self.estimates: list[tuple[float, Array]] = []

    def __call__(self, t: float, q: Array, qd: Array) -> Array:
        """τ at a sample; the estimate moves by the time since the last one."""
        q_d, qd_d, qdd_d = self.reference(t)
        e, ed = angle_error(self.model, q_d, q), qd_d - qd
        ref, acc, s = qd_d + self.Lambda * e, qdd_d + self.Lambda * ed, ed + self.Lambda * e
        Y = self.Y(q, qd, ref, acc)
        if self.time is not None and t > self.time:
            self.pi = self.pi + (t - self.time) * self.Gamma * (Y.T @ s)
        self.time = t
        self.estimates.append((t, self.pi))
        return Y @ self.pi + self.rotors * acc + self.K * s


def slotine_li(model: Model, reference: Callable, Lambda: Array, K: Array, Gamma: Array, pi: Array,
               Y: Callable | None = None) -> SlotineLi:
    """The adaptive law; use it through `sampled`, which calls it once per sample in order of time.

    Lambda [1/s], K [N m s/rad | N s/m], Gamma (10 N,) gains of adaptation, zero for parameters that are known; pi (10 N,)
    first estimate; Y(q, q̇, q̇_r, q̈_r) -> (n, 10 N): the regressor, if there is a faster one, such as a recording's replay.
    """
    return SlotineLi(model, reference, Lambda, K, Gamma, pi, Y)


# -- what a real controller adds ---------------------------------------------------------------------------

def sampled(law: Law, dt: float) -> Law:
    """The law computed every dt [s] and held between: a zero-order hold. For integrators that move forward in time."""
    memory: dict[str, Any] = {"k": None, "tau": None}

    def held(t: float, q: Array, qd: Array) -> Array:
        k = int(np.floor(t / dt + 1e-9))
        if memory["k"] is None or k > memory["k"]:
            memory.update(k=k, tau=law(t, q, qd))
        return memory["tau"]
    return held


def saturated(law: Law, limit: Array) -> Law:
    """The law with every torque cut off at ±limit [N m | N]."""
    return lambda t, q, qd: np.clip(law(t, q, qd), -np.asarray(limit), np.asarray(limit))
