"""Joint friction F(q̇): laws of sliding, and a time step in which joints really stick.

F stands on the left, M q̈ + C q̇ + G + F = τ, and has the sign of the velocity: F·q̇ ≥ 0. A law is single-valued,
zero at rest. What friction does at rest, any force between two limits, is a reaction to the load and not a function
of q̇: `stick_step` solves for it. Forces are N m or N, velocities rad/s or m/s. Armstrong-Hélouvry, Dupont and Canudas
de Wit, Automatica 30 (1994), survey these laws.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Side:
    """Friction in one direction of motion, at the speed s ≥ 0:  Fv s + Fc + (Fs − Fc) exp(−(s/vs)^δ)."""

    Fv: Array           # viscous [N m s | N s/m]; each () for all joints alike, or (n,)
    Fc: Array           # Coulomb level [N m | N]
    Fs: Array           # static level, Fs ≥ Fc
    vs: Array           # Stribeck speed [rad/s | m/s]
    delta: Array        # δ, the Stribeck exponent

    def dry(self, speed: Array) -> Array:
        """The force without its viscous part: Fs at rest, falling to Fc over some vs."""
        if self._level:
            return self.Fc
        with np.errstate(over="ignore"):
            return self.Fc + (self.Fs - self.Fc) * _exp(-(speed / self.vs)**self.delta)

    @cached_property
    def _level(self) -> bool:
        return not np.any(self.Fs != self.Fc)

    def chosen(self, where: Array, other: "Side") -> "Side":
        """This side for the joints where `where` holds, the other side for the rest."""
        return Side(*(np.where(where, a, b) for a, b in zip(self.parameters, other.parameters)))

    @cached_property
    def parameters(self) -> tuple:
        """(Fv, Fc, Fs, vs, δ)."""
        return self.Fv, self.Fc, self.Fs, self.vs, self.delta


@dataclass(frozen=True, eq=False)
class Law:
    """A friction law: law(q̇) is F, elementwise, of q̇'s shape (n,) or (T, n). Make one by `coulomb`, `stribeck`, …

    Symbols, in q̇ or in the parameters, give symbols; the viscous law takes any scalar.
    """

    forward: Side               # for q̇ > 0
    backward: Side              # for q̇ < 0, its force counted against the motion
    width: Array | None = None  # of tanh(q̇/width) in place of sign(q̇) [rad/s | m/s]; None: the sign

    def __post_init__(self) -> None:
        self.shape      # refuses lengths that differ

    @cached_property
    def shape(self) -> tuple:
        """() for a law of every joint, (n,) for one of n joints."""
        shapes = {np.shape(p) for p in self._parameters} - {()}
        if len(shapes) > 1:
            raise ValueError(f"the parameters of a friction law have one length; got shapes {sorted(shapes)}")
        return shapes.pop() if shapes else ()

    def __call__(self, qd: Array) -> Array:
        """F(q̇) = Fv q̇ + (Fc + (Fs − Fc) exp(−|q̇/vs|^δ)) sign(q̇), with the numbers of the direction of motion."""
        qd = self._velocity(qd)
        if self._viscous:
            return self.forward.Fv * qd
        if self._symbolic or qd.dtype == object:
            return np.vectorize(_symbolic_force, otypes=[object])(qd, *self._parameters)
        direction = np.sign(qd) if self.width is None else np.tanh(qd / self.width)
        forward = self.forward.Fv * qd + direction * self.forward.dry(abs(qd))
        if self.forward is self.backward:
            return forward
        return np.where(qd > 0, forward, self.backward.Fv * qd + direction * self.backward.dry(abs(qd)))

    def limits(self, qd: Array | None = None) -> tuple[Array, Array]:
        """(lowest, highest) force that dry friction can take on at rest; at the speed |q̇|, where a Stribeck law has less."""
        if self.width is not None:
            raise ValueError("a smooth law has no limits at rest: it never holds, it creeps; give the law before smoothing")
        speed = 0.0 if qd is None else abs(self._velocity(qd))
        return -self.backward.dry(speed), self.forward.dry(speed)

    @cached_property
    def _parameters(self) -> tuple:
        return self.forward.parameters + self.backward.parameters + (() if self.width is None else (self.width,))

    @cached_property
    def _symbolic(self) -> bool:
        return any(np.asarray(p).dtype == object for p in self._parameters)

    @cached_property
    def _viscous(self) -> bool:
        return self.forward is self.backward and self.forward.Fs.dtype != object and not self.forward.Fs.any()

    def _velocity(self, qd: Any) -> Array:
        qd = np.asarray(list(qd) if getattr(qd, "is_Matrix", False) else qd)
        if qd.dtype != object and not (qd.dtype.kind in "iuf" and np.isfinite(qd).all()):
            raise ValueError(f"qd must hold finite numbers; got {qd.tolist()}")
        qd = qd if qd.dtype == object else qd.astype(float, copy=False)
        if self.shape not in ((), qd.shape[-1:]):
            raise ValueError(f"qd has shape {qd.shape}; this friction law is one of {self.shape[0]} joints")
        return qd


# -- laws --------------------------------------------------------------------------------------------------

def viscous(Fv: Any) -> Law:
    """F = Fv q̇. Fv : () or (n,) [N m s | N s/m], ≥ 0."""
    return coulomb(0, Fv)


def coulomb(Fc: Any, Fv: Any = 0) -> Law:
    """F = Fc sign(q̇) + Fv q̇, zero at rest. Fc : () or (n,) [N m | N], Fv [N m s | N s/m], both ≥ 0."""
    return _law(Fc=Fc, Fs=Fc, vs=1, Fv=Fv, delta=2)


def stribeck(Fc: Any, Fs: Any, vs: Any, Fv: Any = 0, delta: Any = 2) -> Law:
    """F = (Fc + (Fs − Fc) exp(−|q̇/vs|^δ)) sign(q̇) + Fv q̇, zero at rest.

    Fc, Fs : () or (n,) [N m | N], the levels of fast sliding and of breaking away, Fs ≥ Fc
    vs     : [rad/s | m/s], > 0, the speed at which 1/e of the surplus Fs − Fc is left, whatever δ
    Fv     : [N m s | N s/m]
    delta  : δ > 0; 2 gives a bell (the usual choice), 1 falls from the start
    """
    return _law(Fc=Fc, Fs=Fs, vs=vs, Fv=Fv, delta=delta)


def directional(forward: Law, backward: Law) -> Law:
    """The law `forward` for q̇ > 0 and `backward` for q̇ < 0: directional(coulomb(2.0), coulomb(1.5))."""
    if forward.width is not None or backward.width is not None:
        raise ValueError("smooth the directional law, not its two sides")
    return Law(forward.forward, backward.backward)


def smooth(law: Law, width: Any) -> Law:
    """The law with tanh(q̇/width) in place of sign(q̇): continuous, for integrators and feedback.

    It never holds a load. Where Coulomb friction Fc would stand still under a load |load| < Fc, the smooth law creeps at

        q̇ = width · artanh(load / Fc)

    (Fv = 0; a bit slower with viscous friction), and an explicit integrator needs steps below about 2 m width / Fc.
    width : () or (n,) [rad/s | m/s], > 0
    """
    return replace(law, width=_parameter("width", width, positive=True))


def through_gear(law: Law, ratio: Any) -> Law:
    """A motor's friction law as the joint feels it through a gear: F_joint(q̇) = N F_motor(N q̇).

    The motor turns at N q̇ and the joint gets N times its torque: Fc and Fs count |N|, Fv counts N², speeds shrink by |N|.
    A negative ratio turns the motor backward when the joint goes forward, which swaps the two sides.
    ratio : N, () or (n,), not zero
    """
    N = np.asarray(ratio)
    if N.dtype != object and not (np.isfinite(N).all() and (N != 0).all()):
        raise ValueError(f"ratio must be finite and not zero; got {N.tolist()}")
    if N.ndim and law.shape not in ((), N.shape):
        raise ValueError(f"ratio has shape {N.shape}; this friction law is one of {law.shape[0]} joints")
    n = abs(N)
    forward, backward = (Side(*map(np.asarray, (n**2 * s.Fv, n * s.Fc, n * s.Fs, s.vs / n, s.delta)))
                         for s in (law.forward, law.backward))
    width = None if law.width is None else law.width / n
    if law.forward is law.backward:
        return Law(forward, forward, width)
    return Law(forward.chosen(N > 0, backward), backward.chosen(N > 0, forward), width)


# -- sticking ----------------------------------------------------------------------------------------------

@dataclass(frozen=True, eq=False)
class StickStep:
    """The end of a time step with dry friction: M (qd − q̇₀) = dt (τ − h − F), F within the law."""

    qd: Array           # (n,) velocity at the end; exactly 0 where the joint sticks
    F: Array            # (n,) friction force during the step
    sticking: Array     # (n,) bool
    status: str         # "solved", or "limit": the velocities are the last ones, F is not yet within the law
    solves: int         # linear systems solved


def stick_step(form: Any, tau: Array, law: Law, dt: float, max_solves: int = 1000) -> StickStep:
    """One implicit time step of M q̈ + C q̇ + G + rest + F = τ in which joints stick, slide, stop and break away.

    The velocity v at the end of the step is where the strictly convex function

        ½ (v − v*)ᵀ M (v − v*) + dt Σᵢ (½ Fvᵢ vᵢ² + levelᵢ |vᵢ|),     M (v* − q̇₀) = dt (τ − C q̇₀ − G − rest)

    is least: vᵢ > 0 with Fᵢ at its upper limit, vᵢ < 0 with Fᵢ at its lower one, or vᵢ = 0 exactly with Fᵢ between them.
    So a load below the limit is held for ever. The descent ends after finitely many solves: solve on the joints that
    slide; a joint that would turn round stops; with none left, the stuck joint most overloaded breaks away.

    form : a StandardForm at the start of the step; its own F is not used, so that friction is not counted twice
    tau  : (n,) drive; law : not smooth; dt : [s]. M, h and a Stribeck law's falling level are those of the start.
    `numpy.linalg.LinAlgError` where M is not positive definite.
    """
    if not isinstance(law, Law):
        raise TypeError(f"law must be a friction law of this module; got {law!r}")
    M, start = np.asarray(form.M, dtype=float), np.asarray(form.qd, dtype=float)
    n = len(start)
    load = _vector("tau", tau, n) - form.C @ start - form.G - form.rest
    if not (np.isfinite(dt) and dt > 0):
        raise ValueError(f"dt must be a positive time step; got {dt}")
    if not (np.isfinite(M).all() and np.isfinite(load).all() and np.isfinite(start).all()):
        raise ValueError("form must be finite; it holds NaN or infinity")
    np.linalg.cholesky(M)
    low, high = (np.broadcast_to(np.asarray(limit, dtype=float), n) for limit in law.limits(start))
    b = M @ start + dt * load
    v, side = start.copy(), np.sign(start)

    for solves in range(1, max_solves + 1):
        target = _sliding(M, b, side, law, (low, high), dt)
        turning = np.flatnonzero((side != 0) & (target * side <= 0))
        if len(turning):
            fraction = np.array([v[i] / (v[i] - target[i]) if v[i] != 0 else 0.0 for i in turning])
            first = turning[np.argmin(fraction)]
            v = v + fraction.min() * (target - v)
            v[first] = side[first] = 0
            continue
        v = target
        F = (b - M @ v) / dt
        rounding = 1e-12 * (abs(M) @ (abs(v) + abs(start)) / dt + abs(load) + high - low)
        overload = np.where(side == 0, np.maximum(F - high, low - F) - rounding, 0)
        worst = np.argmax(overload)
        if overload[worst] <= 0:
            return StickStep(v, F, side == 0, "solved", solves)
        side[worst] = 1 if F[worst] > high[worst] else -1
    return StickStep(v, (b - M @ v) / dt, side == 0, "limit", max_solves)


def _sliding(M: Array, b: Array, side: Array, law: Law, limits: tuple, dt: float) -> Array:
    """The velocities (n,) with joints of side 0 at rest and the others sliding to their side."""
    Fv = np.broadcast_to(np.where(side > 0, law.forward.Fv, law.backward.Fv), side.shape)
    level, free, v = np.where(side > 0, limits[1], limits[0]), np.flatnonzero(side), np.zeros(len(side))
    v[free] = np.linalg.solve(M[np.ix_(free, free)] + dt * np.diag(Fv[free]), (b - dt * level)[free])
    return v


# -- checks, symbols ---------------------------------------------------------------------------------------

def _law(**parameters: Any) -> Law:
    values = {name: _parameter(name, value, positive=name in ("vs", "delta")) for name, value in parameters.items()}
    try:
        values = dict(zip(values, np.broadcast_arrays(*values.values())))
    except ValueError:
        raise ValueError(f"friction parameters do not fit together: {({k: v.shape for k, v in values.items()})}") from None
    if all(values[name].dtype != object for name in ("Fc", "Fs")) and np.any(values["Fs"] < values["Fc"]):
        raise ValueError(f"Fs must be at least Fc; got Fs = {values['Fs'].tolist()}, Fc = {values['Fc'].tolist()}")
    side = Side(**values)
    return Law(side, side)


def _parameter(name: str, value: Any, positive: bool = False) -> Array:
    """A parameter () or (n,): finite and ≥ 0 (or > 0); symbols as they are."""
    value = np.asarray(value)
    if value.ndim > 1:
        raise ValueError(f"{name} has shape {value.shape}; wanted one number, or one for each joint (n,)")
    if value.dtype == object:
        return value
    if value.dtype.kind not in "iuf" or not np.isfinite(value).all() or np.any(value <= 0 if positive else value < 0):
        raise ValueError(f"{name} must be finite and {'positive' if positive else 'not negative'}; got {value.tolist()}")
    return value


def _vector(name: str, x: Any, n: int) -> Array:
    x = np.asarray(x, dtype=float)
    if x.shape != (n,):
        raise ValueError(f"{name} has shape {x.shape}; the form has n = {n}, so wanted ({n},)")
    if not np.isfinite(x).all():
        raise ValueError(f"{name} must be finite; got {x.tolist()}")
    return x


def _exp(x: Any) -> Any:
    if getattr(x, "dtype", None) != object and not hasattr(x, "free_symbols"):
        return np.exp(x)
    import sympy
    return sympy.exp(x) if hasattr(x, "free_symbols") else np.vectorize(sympy.exp, otypes=[object])(x)


def _symbolic_force(qd: Any, *parameters: Any) -> Any:
    """One joint's force in symbols, in pieces where the directions differ."""
    import sympy
    forward, backward, width = Side(*parameters[:5]), Side(*parameters[5:10]), parameters[10:]
    tanh = [sympy.tanh(qd / w) for w in width]
    if parameters[:5] == parameters[5:10]:
        return forward.Fv * qd + (tanh[0] if tanh else sympy.sign(qd)) * forward.dry(abs(qd))
    return sympy.Piecewise((forward.Fv * qd + (tanh[0] if tanh else 1) * forward.dry(qd), qd > 0),
                           (backward.Fv * qd + (tanh[0] if tanh else -1) * backward.dry(-qd), qd < 0), (0, True))
