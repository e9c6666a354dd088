"""Constraints as objects: loops of a tree, rolling, and conditions written in symbols.

    φ(q, t) = 0      J q̇ + b = 0      J q̈ + γ = 0          b = ∂φ/∂t,  γ = J̇ q̇ + ḃ

Each offers .phi(q, t) (m,), .J(q, t) (m, n), .rate(q, t) = b (m,), .bias(q, qd, t) = γ (m,), .integrate(q,
step), and .holonomic (m,), false for rows that bind velocities alone (their φ reads zero). t may be left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from .model import GROUND, Model, checked
from .spatial import Array, crm, skew, vee


class _Carried(NamedTuple):
    """How a body stands and moves, body axes but for R and p."""

    R: Array        # (3, 3) body to world
    p: Array        # (3,) its origin in the world
    v: Array        # (6,) spatial velocity
    a: Array        # (6,) spatial acceleration at q̈ = 0, without gravity
    J: Array        # (6, n) v = J q̇

    def point(self, r: Array) -> Array:
        """World position of the point r (3,)."""
        return self.R @ r + self.p

    def moved(self, v: Array, r: Array) -> Array:
        """World velocity of the point r under the spatial velocity (or Jacobian) v."""
        return self.R @ (v[3:] - skew(r) @ v[:3])

    def acceleration(self, r: Array) -> Array:
        """Classical acceleration of the point r at q̈ = 0, world axes."""
        spin = skew(self.v[:3])
        return self.R @ (self.a[3:] - skew(r) @ self.a[:3] + spin @ (self.v[3:] - skew(r) @ self.v[:3]))


def _carried(model: Model, q: Array, qd: Array | None, body: int) -> _Carried:
    """Outward to one body: X ← Xᵢ X, v ← Xᵢ v + Sᵢ q̇ᵢ, a ← Xᵢ a + cᵢ + v × Sᵢ q̇ᵢ, J ← [Xᵢ J, Sᵢ]."""
    q, qd = model.coordinates(q=q, qd=np.zeros(model.n, dtype=int) if qd is None else qd)
    X, v, a, J, columns = np.eye(6, dtype=int), *np.zeros((2, 6), dtype=int), np.zeros((6, 0), dtype=int), []
    for i in reversed(model.ancestors(body)):
        Xi, S, c = model.bodies[i].motion(q[i], qd[i])
        X, J, columns = Xi @ X, np.hstack([Xi @ J, S]), columns + list(range(model.n))[model.slice_v(i)]
        v = Xi @ v + S @ qd[i]
        a = Xi @ a + c + crm(v) @ S @ qd[i]
    full = np.zeros((6, model.n), dtype=J.dtype)
    full[:, columns] = J
    R = X[:3, :3].T
    return _Carried(R, -vee(R @ X[3:, :3]), v, a, full)


# -- constraints on a tree of bodies -----------------------------------------------------------------------

@dataclass(frozen=True, eq=False)
class Loop:
    """Point a of one body held to point b of another along `axes`, and pairs of directions held
    perpendicular.

        φ = axes (x_a − x_b),    u·n for each pair, u fixed in body a and n in body b

    λ is the force on body a at its point along the axes [N], and the moment on it about u × n [N m].
    """

    model: Model
    a: int                      # body, GROUND = −1 for the world
    point_a: Array              # (3,) in body a [m]
    b: int
    point_b: Array              # (3,) in body b [m]
    axes: Array                 # (k, 3) world directions
    pairs: tuple = ()           # ((u (3,) in body a, n (3,) in body b), ...)

    @property
    def holonomic(self) -> Array:
        """(m,) Every row is a condition on position."""
        return np.ones(len(self.axes) + len(self.pairs), dtype=bool)

    def _ends(self, q: Array, qd: Array | None = None) -> tuple[_Carried, _Carried, list]:
        """Both bodies, and the pairs (u, n) in world axes."""
        a, b = (_carried(self.model, q, qd, i) for i in (self.a, self.b))
        return a, b, [(a.R @ u, b.R @ n) for u, n in self.pairs]

    def phi(self, q: Array, t: float = 0.0) -> Array:
        """φ (m,): how far the loop is open [m; 1]."""
        a, b, pairs = self._ends(q)
        gap = a.point(self.point_a) - b.point(self.point_b)
        return np.array([*(self.axes @ gap), *(u @ n for u, n in pairs)])

    def J(self, q: Array, t: float = 0.0) -> Array:
        """J (m, n): axes (J_a − J_b) for the points, (u × n)·(J_ωa − J_ωb) for the pairs."""
        a, b, pairs = self._ends(q)
        turn, move = a.R @ a.J[:3] - b.R @ b.J[:3], a.moved(a.J, self.point_a) - b.moved(b.J, self.point_b)
        return np.vstack([self.axes @ move, *(skew(u) @ n @ turn for u, n in pairs)])

    def rate(self, q: Array, t: float = 0.0) -> Array:
        """b = ∂φ/∂t (m,), zero: nothing here moves by itself."""
        return np.zeros(len(self.holonomic))

    def bias(self, q: Array, qd: Array, t: float = 0.0) -> Array:
        """γ = J̇ q̇ (m,): φ̈ at q̈ = 0, from the classical accelerations of the points."""
        a, b, pairs = self._ends(q, qd)
        wa, wb, alpha = a.R @ a.v[:3], b.R @ b.v[:3], a.R @ a.a[:3] - b.R @ b.a[:3]
        apart = a.acceleration(self.point_a) - b.acceleration(self.point_b)
        turning = (skew(u) @ n @ alpha + (skew(skew(wa) @ u) @ n + skew(u) @ skew(wb) @ n) @ (wa - wb)
                   for u, n in pairs)
        return np.array([*(self.axes @ apart), *turning])

    def velocity(self, q: Array, qd: Array) -> Array:
        """J q̇ (m,) from the bodies' velocities, without J."""
        a, b, pairs = self._ends(q, qd)
        turn, move = a.R @ a.v[:3] - b.R @ b.v[:3], a.moved(a.v, self.point_a) - b.moved(b.v, self.point_b)
        return np.array([*(self.axes @ move), *(skew(u) @ n @ turn for u, n in pairs)])

    def wrenches(self, q: Array, lam: Array) -> dict[int, Array]:
        """(moment; force) (6,) of λ on each body, in its frame about its origin: Jᵀλ without J."""
        a, b, pairs = self._ends(q)
        force, moments = self.axes.T @ lam[:len(self.axes)], lam[len(self.axes):]
        moment = sum((x * (skew(u) @ n) for x, (u, n) in zip(moments, pairs)), np.zeros(3, dtype=int))
        ends = ((1, self.a, a, self.point_a), (-1, self.b, b, self.point_b))
        return {i: sign * np.concatenate([skew(r) @ end.R.T @ force + end.R.T @ moment, end.R.T @ force])
                for sign, i, end, r in ends if i != GROUND}

    def integrate(self, q: Array, step: Array) -> Array:
        """q (nq,) after the motion step (n,)."""
        return self.model.integrate(q, step, 1.0)


def point_loop(model: Model, a: int | str, point_a: Array, b: int | str, point_b: Array,
               axes: Array = np.eye(3)) -> Loop:
    """Points of two bodies (−1: the ground) held together along the rows of `axes`: φ = axes (x_a − x_b).

    point_a, point_b : (3,) in their bodies [m]
    axes             : (k, 3) world directions; a planar loop needs x and y alone
    """
    return frame_loop(model, a, point_a, b, point_b, axes)


def frame_loop(model: Model, a: int | str, point_a: Array, b: int | str, point_b: Array,
               axes: Array = np.eye(3), pairs: Sequence[tuple[Array, Array]] = ()) -> Loop:
    """A point loop with directions held perpendicular: u·n = 0 for each pair (u in body a, n in body b).

    A hinge about u: three axes and the pairs (u, n₁), (u, n₂); a weld: three axes and three pairs; in the
    plane two axes and one pair. ValueError where a loop would close a body on itself, or a direction is zero.
    """
    a, b = model.index(a), model.index(b)
    if a == b:
        raise ValueError(f"a and b are both body {a}; a loop joins two different bodies")
    axes = np.atleast_2d(np.asarray(axes))
    if axes.ndim != 2 or axes.shape[1] != 3:
        raise ValueError(f"axes has shape {axes.shape}; wanted rows of world directions (k, 3)")
    pairs = tuple((checked("u", u, 3, "a direction has three"), checked("n", n, 3, "a direction has three"))
                  for u, n in pairs)
    for direction in (*axes, *(each for pair in pairs for each in pair)):
        if not np.any(checked("axes", direction, 3, "a direction has three") != 0):
            raise ValueError("axes and pairs must hold directions; one of them is zero")
    return Loop(model, a, checked("point_a", point_a, 3, "a point has three coordinates"),
                b, checked("point_b", point_b, 3, "a point has three coordinates"), axes, pairs)


@dataclass(frozen=True, eq=False)
class Rolling:
    """A ball, or a wheel that stays upright, rolling on a plane: its lowest point does not move along `axes`.

        J q̇ = axes (v_c − r ω × n) = 0,    γ = axes (v̇_c − r ω̇ × n) at q̈ = 0

    λ is the force of the plane on the body, along the axes [N].
    """

    model: Model
    body: int
    center: Array               # (3,) in the body [m]
    radius: float               # r [m]
    normal: Array               # n (3,), unit, world, away from the plane
    axes: Array                 # (k, 3) world directions in the plane

    @property
    def holonomic(self) -> Array:
        """(m,) No row is a condition on position."""
        return np.zeros(len(self.axes), dtype=bool)

    def phi(self, q: Array, t: float = 0.0) -> Array:
        """Zero (m,): rolling binds velocities alone."""
        return np.zeros(len(self.axes))

    def J(self, q: Array, t: float = 0.0) -> Array:
        """A(q) (m, n)."""
        ball = _carried(self.model, q, None, self.body)
        turn = self.radius * skew(self.normal) @ ball.R
        return self.axes @ (ball.moved(ball.J, self.center) + turn @ ball.J[:3])

    def rate(self, q: Array, t: float = 0.0) -> Array:
        """b (m,), zero: the plane does not move."""
        return np.zeros(len(self.axes))

    def bias(self, q: Array, qd: Array, t: float = 0.0) -> Array:
        """γ = Ȧ q̇ (m,)."""
        ball = _carried(self.model, q, qd, self.body)
        turn = self.radius * skew(self.normal) @ ball.R
        return self.axes @ (ball.acceleration(self.center) + turn @ ball.a[:3])

    def integrate(self, q: Array, step: Array) -> Array:
        """q (nq,) after the motion step (n,)."""
        return self.model.integrate(q, step, 1.0)


def rolling(model: Model, body: int | str, center: Array, radius: float, normal: Array,
            axes: Array) -> Rolling:
    """A ball or upright wheel of `radius` about `center` (in the body) rolling along the rows of `axes`.

    normal : (3,) of the plane, away from it, of length one    axes : (k, 3) world directions in the plane
    """
    normal = checked("normal", normal, 3, "a direction has three")
    if not np.isclose(np.linalg.norm(normal.astype(float)), 1):
        raise ValueError(f"normal must be of length one; got {normal.tolist()}")
    axes = np.atleast_2d(np.asarray(axes))
    if axes.shape[1] != 3 or np.any(abs(axes @ normal) > 1e-12):
        raise ValueError(f"axes must be directions in the plane, across the normal; got {axes.tolist()}")
    center = checked("center", center, 3, "a point has three coordinates")
    return Rolling(model, model.index(body), center, radius, normal, axes)


# -- constraints in symbols, and several at once -----------------------------------------------------------

@dataclass(frozen=True, eq=False)
class Symbolic:
    """A constraint from sympy expressions; φ, J, b, γ became functions of numbers once."""

    terms: dict = field(repr=False)         # name -> sympy column or matrix
    arguments: tuple = field(repr=False)    # q symbols, q̇ symbols, t
    n: int = 0                              # coordinates; here q̇ are their rates
    holonomic: Array = ()                   # (m,)

    @cached_property
    def _functions(self) -> dict[str, Any]:
        import sympy
        return {name: sympy.lambdify(self.arguments, term, "numpy", cse=True)
                for name, term in self.terms.items()}

    def _at(self, name: str, q: Array, t: float, qd: Array | None = None) -> Array:
        q = checked("q", q, self.n, "the constraint has n")
        qd = np.zeros(self.n) if qd is None else checked("qd", qd, self.n, "the constraint has n")
        value = np.asarray(self._functions[name](*q, *qd, t), dtype=float)
        return value if name == "J" else value.ravel()

    def phi(self, q: Array, t: float = 0.0) -> Array:
        """φ(q, t) (m,)."""
        return self._at("phi", q, t)

    def J(self, q: Array, t: float = 0.0) -> Array:
        """∂φ/∂q, or A(q, t) (m, n)."""
        return self._at("J", q, t)

    def rate(self, q: Array, t: float = 0.0) -> Array:
        """b = ∂φ/∂t (m,)."""
        return self._at("rate", q, t)

    def bias(self, q: Array, qd: Array, t: float = 0.0) -> Array:
        """γ (m,): J̇ q̇ and the time terms."""
        return self._at("bias", q, t, qd)

    def integrate(self, q: Array, step: Array) -> Array:
        """q + step."""
        return np.asarray(q, dtype=float) + step


def holonomic(phi: Any, q: Any, t: Any = None, parameters: dict | None = None) -> Symbolic:
    """φ(q, t) = 0 from sympy: one expression or several, of symbols q or functions q(t), and of time where t
    is given.

        J = ∂φ/∂q,   b = ∂φ/∂t,   γ = Σ (∂²φ/∂qᵢ∂qⱼ) q̇ᵢ q̇ⱼ + 2 (∂²φ/∂t∂q) q̇ + ∂²φ/∂t²

    parameters : numbers for the other symbols; ValueError where one has none.
    """
    import sympy
    x, xd, time, plain = _stand_ins(q, [sympy.Symbol(f"rate of {s}") for s in q], t, parameters)
    phi = _column(phi, plain)
    return _symbolic(phi, phi.jacobian(x), phi.diff(time), x, xd, time, True)


def nonholonomic(psi: Any, q: Any, qd: Any, t: Any = None, parameters: dict | None = None) -> Symbolic:
    """ψ = A(q, t) q̇ + b(q, t) = 0 from sympy expressions linear in q̇: rolling, skates, prescribed speeds.

        J = A = ∂ψ/∂q̇,   γ = (∂ψ/∂q) q̇ + ∂ψ/∂t .     ValueError where ψ is not linear in q̇.
    """
    import sympy
    x, xd, time, plain = _stand_ins(q, qd, t, parameters)
    psi = _column(psi, plain)
    A = psi.jacobian(xd)
    if A.has(*xd):
        raise ValueError("psi is not linear in the velocities; wanted A(q, t) q̇ + b(q, t)")
    return _symbolic(0 * psi, A, psi.subs({v: 0 for v in xd}), x, xd, time, False)


def _stand_ins(q: Any, qd: Any, t: Any, parameters: dict | None) -> tuple:
    """Plain symbols for q, q̇ and t, and the function that puts them and the numbers into an expression."""
    import sympy
    x, xd = (sympy.Matrix([sympy.Dummy(f"{name}{i}", real=True) for i in range(len(q))])
             for name in ("q", "qd"))
    time = sympy.Symbol("t") if t is None else t
    known = set(x) | set(xd) | ({time} if t is not None else set())

    def plain(expression: Any) -> Any:
        expression = sympy.sympify(expression).xreplace(dict(zip(qd, xd))).xreplace(dict(zip(q, x)))
        expression = expression.xreplace(parameters or {})
        if expression.free_symbols - known:
            raise ValueError(f"the constraint holds {sorted(map(str, expression.free_symbols - known))}; "
                             f"give each a number in parameters (or t=, if it is time)")
        return expression
    return x, xd, time, plain


def _column(rows: Any, plain: Any) -> Any:
    """One expression or several as a sympy column of plain symbols."""
    import sympy
    several = isinstance(rows, (list, tuple, sympy.MatrixBase))
    return sympy.Matrix([plain(row) for row in (rows if several else [rows])])


def _symbolic(phi: Any, J: Any, rate: Any, x: Any, xd: Any, time: Any, position: bool) -> Symbolic:
    psi = J * xd + rate
    terms = {"phi": phi, "J": J, "rate": rate, "bias": psi.jacobian(x) * xd + psi.diff(time)}
    return Symbolic(terms, (*x, *xd, time), len(x), np.full(len(phi), position))


@dataclass(frozen=True, eq=False)
class Together:
    """Several constraints as one: their rows below each other, in the order given."""

    parts: tuple

    @property
    def holonomic(self) -> Array:
        """(m,) Which rows are conditions on position."""
        return np.concatenate([part.holonomic for part in self.parts])

    def phi(self, q: Array, t: float = 0.0) -> Array:
        """φ (m,)."""
        return np.concatenate([part.phi(q, t) for part in self.parts])

    def J(self, q: Array, t: float = 0.0) -> Array:
        """J (m, n)."""
        return np.vstack([part.J(q, t) for part in self.parts])

    def rate(self, q: Array, t: float = 0.0) -> Array:
        """b (m,)."""
        return np.concatenate([part.rate(q, t) for part in self.parts])

    def bias(self, q: Array, qd: Array, t: float = 0.0) -> Array:
        """γ (m,)."""
        return np.concatenate([part.bias(q, qd, t) for part in self.parts])

    def integrate(self, q: Array, step: Array) -> Array:
        """q (nq,) after the motion step (n,)."""
        return self.parts[0].integrate(q, step)
