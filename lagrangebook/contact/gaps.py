"""Contacts of a tree of bodies: gaps, the rows that give their rates, and what is left at q̈ = 0.

    gap ≥ 0      ġap = J_N q̇      u_T = J_T q̇      d/dt (J q̇) = J q̈ + bias

A point or a ball of body a meets a surface that body b carries (the ground: −1). The normal n points from b
to a; p_N ≥ 0 along it pushes them apart. u_T is the velocity of a's material point relative to b's.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from ..kinematics import poses
from ..loops import _carried
from ..model import GROUND, Model, checked
from ..spatial import Array, Pose, skew
from .surfaces import Ball, Curve, Level, Plane

EZ = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True, eq=False)
class Contact:
    """A ball (radius 0: a point) of body a above a surface of body b."""

    model: Model
    a: int                      # body that carries the ball
    center: Array               # (3,) in body a [m]
    radius: float               # [m]
    b: int                      # body that carries the surface, GROUND = −1 for the world
    surface: Any                # .foot(y) -> (δ, n, H) in body b
    mu: float                   # Coulomb's coefficient
    e: float                    # restitution
    axis: Array | None = None   # in the plane: t = n × axis, axis (3,) in body b
    lead: Array | None = None   # in space: t₁ is this direction (3,) of body b made normal to n, t₂ = n × t₁

    @property
    def d(self) -> int:
        """Tangents: 1 in the plane, 2 in space."""
        return 2 if self.axis is None else 1

    def gap(self, q: Array) -> float:
        """gap = δ − radius [m], below zero where they overlap."""
        return self._look({}, q)[0]

    def N(self, q: Array) -> Array:
        """J_N (n,): ġap = J_N q̇."""
        return self._look({}, q)[1][0]

    def T(self, q: Array) -> Array:
        """J_T (d, n): sliding velocity u_T = J_T q̇ [m/s]."""
        return self._look({}, q)[1][1:]

    def bias(self, q: Array, qd: Array) -> Array:
        """J̇ q̇ (1 + d,), normal first: the rates of ġap and u_T at q̈ = 0 [m/s²]."""
        return self._look({}, q, qd)[2]

    def frame(self, q: Array) -> tuple[Array, Array]:
        """Where they touch (3,), and the rows n, t₁, … (1 + d, 3), world axes."""
        a, b = (_carried(self.model, q, None, i) for i in (self.a, self.b))
        x = a.point(self.center)
        delta, n, _ = self.surface.foot(b.R.T @ (x - b.p))
        return x - delta * b.R @ n, np.vstack([n, self._tangents(n, np.zeros(3))[0]]) @ b.R.T

    def _tangents(self, n: Array, nd: Array) -> tuple[Array, Array]:
        """t (d, 3) and ṫ in body b, where n turns with rate ṅ."""
        if self.axis is not None:
            return np.array([skew(n) @ self.axis]), np.array([skew(nd) @ self.axis])
        lead = np.eye(3)[np.argmin(np.round(abs(n), 6))] if self.lead is None else self.lead
        w, wd = lead - lead @ n * n, -(lead @ nd) * n - lead @ n * nd
        size = np.linalg.norm(w)
        t = w / size
        td = (wd - t @ wd * t) / size
        return np.array([t, skew(n) @ t]), np.array([td, skew(nd) @ t + skew(n) @ td])

    def _look(self, seen: dict, q: Array, qd: Array | None = None) -> tuple[float, Array, Array | None]:
        """gap, rows (1 + d, n) and, where q̇ is given, their bias; `seen` keeps how the bodies stand.

        Relative velocity u = v_a(c_a) − v_b(c_b) at the points c that wander over both bodies, so
        u̇ = a_a − a_b of the material points there + ω × (ċ − v) of each;  d/dt (n·u) = n·u̇ + ṅ·u.
        """
        a, b = (seen[i] if i in seen else seen.setdefault(i, _carried(self.model, q, qd, i))
                for i in (self.a, self.b))
        x = a.point(self.center)
        y = b.R.T @ (x - b.p)
        delta, n, H = self.surface.foot(y)
        yd = b.R.T @ a.moved(a.v, self.center) - b.v[3:] - skew(b.v[:3]) @ y
        nd = H @ yd                                                 # in body b's frame
        t, td = self._tangents(n, nd)
        frame = np.vstack([n, t]) @ b.R.T
        on_b = y - delta * n
        on_a = self.center - self.radius * a.R.T @ frame[0]
        rows = frame @ (a.moved(a.J, on_a) - b.moved(b.J, on_b))
        if qd is None:
            return float(delta - self.radius), rows, None
        wa, wb = a.R @ a.v[:3], b.R @ b.v[:3]
        frame_rate = np.vstack([nd, td]) @ b.R.T + frame @ skew(wb).T
        wander_a = -self.radius * (frame_rate[0] - skew(wa) @ frame[0])
        wander_b = b.R @ (yd - n @ yd * n - delta * nd)
        u = a.moved(a.v, on_a) - b.moved(b.v, on_b)
        ud = a.acceleration(on_a) + skew(wa) @ wander_a - b.acceleration(on_b) - skew(wb) @ wander_b
        return float(delta - self.radius), rows, frame @ ud + frame_rate @ u


# -- constructors ------------------------------------------------------------------------------------------

def point_plane(model: Model, body: int | str, r: Array, normal: Array | None = None, offset: float = 0.0,
                mu: float = 0.0, e: float = 0.0, tangents: Array | None = None,
                body_b: int | str = GROUND) -> Contact:
    """The point r (3,) of a body above the plane n·x = offset, which body_b carries.

    normal   : (3,) in body_b, of any length; (0, 1, 0) for a model that moves in x–y, else (0, 0, 1)
    tangents : rows (d, 3) normal to it; one in the plane, two in space with t₁ × t₂ = n. If not given: one
               for a normal in x–y of a model that moves in x–y, two otherwise.
    """
    return sphere_plane(model, body, r, 0.0, normal, offset, mu, e, tangents, body_b)


def sphere_plane(model: Model, body: int | str, center: Array, radius: float, normal: Array | None = None,
                 offset: float = 0.0, mu: float = 0.0, e: float = 0.0, tangents: Array | None = None,
                 body_b: int | str = GROUND) -> Contact:
    """A ball, center (3,) in its body and radius [m], above a plane; arguments as for `point_plane`."""
    planar = moves_in_plane(model)
    normal = ((0.0, 1.0, 0.0) if planar else (0.0, 0.0, 1.0)) if normal is None else normal
    n = _unit("normal", normal)
    axis, lead = EZ if planar and abs(n[2]) < 1e-12 else None, None
    if tangents is not None:
        t = np.atleast_2d(np.asarray(tangents, dtype=float))
        if t.shape not in ((1, 3), (2, 3)) or np.max(abs(np.vstack([n, t]) @ np.vstack([n, t]).T
                                                         - np.eye(1 + len(t)))) > 1e-9:
            raise ValueError(f"tangents {t.tolist()} must be one or two unit rows normal to the normal "
                             "and to each other")
        if len(t) == 2 and np.cross(t[0], t[1]) @ n < 0:
            raise ValueError("tangents must turn with the normal: t₁ × t₂ = n; they have t₁ × t₂ = −n")
        axis, lead = (np.cross(t[0], n), None) if len(t) == 1 else (None, t[0])
    return _contact(model, body, center, radius, body_b, Plane(n, float(offset)), mu, e, axis, lead)


def point_curve(model: Model, body: int | str, r: Array, surface: Curve | Level, mu: float = 0.0,
                e: float = 0.0, radius: float = 0.0, body_b: int | str = GROUND) -> Contact:
    """The point r (or a disc about it) of a body on the free side of a curve: `surfaces.curve` or `.level`.

    A curve in x–y gives one tangent, n × z of body_b; a level with k = 3 two.
    """
    axis = None if getattr(surface, "k", 2) == 3 else EZ
    return _contact(model, body, r, radius, body_b, surface, mu, e, axis)


def sphere_sphere(model: Model, a: int | str, center_a: Array, radius_a: float, b: int | str, center_b: Array,
                  radius_b: float, mu: float = 0.0, e: float = 0.0) -> Contact:
    """Two balls, or two discs where the model moves in x–y; the normal points from b to a."""
    center_b = checked("center_b", center_b, 3, "a point has three coordinates")
    ball = Ball(center_b, _length("radius_b", radius_b))
    return _contact(model, a, center_a, radius_a, b, ball, mu, e, EZ if moves_in_plane(model) else None)


def _contact(model: Model, a: int | str, center: Array, radius: float, b: int | str, surface: Any, mu: float,
             e: float, axis: Array | None, lead: Array | None = None) -> Contact:
    a, b = model.index(a), model.index(b)
    if a == b:
        raise ValueError(f"both sides are body {a}; a contact needs two different bodies")
    if not (np.isfinite(mu) and mu >= 0):
        raise ValueError(f"mu is {mu}; wanted a number ≥ 0")
    if not 0 <= e <= 1:
        raise ValueError(f"e is {e}; wanted a number from 0 to 1")
    center = checked("r", center, 3, "a point has three coordinates")
    if not np.all(np.isfinite(center)):
        raise ValueError(f"r must be finite; got {center.tolist()}")
    return Contact(model, a, center, _length("radius", radius), b, surface, float(mu), float(e), axis, lead)


def _length(name: str, value: float) -> float:
    if not (np.isfinite(value) and value >= 0):
        raise ValueError(f"{name} is {value}; wanted a length ≥ 0")
    return float(value)


def _unit(name: str, direction: Array) -> Array:
    direction = checked(name, direction, 3, "a direction has three")
    size = np.linalg.norm(direction)
    if not (np.isfinite(size) and size > 0):
        raise ValueError(f"{name} is {direction.tolist()}; wanted a direction")
    return direction / size


@lru_cache(maxsize=128)
def moves_in_plane(model: Model) -> bool:
    """Do all bodies move in x–y and turn about z, at whatever q?"""
    rng = np.random.default_rng(0)
    for q in (model.zero, model.integrate(model.zero, rng.normal(size=model.n), 1.0)):
        for i in range(model.N):
            body = _carried(model, q, None, i)
            out = np.vstack([(body.R @ body.J[:3])[:2], (body.R @ body.J[3:])[2:]])
            if np.max(abs(out), initial=0.0) > 1e-9:
                return False
    return True


# -- many as one -------------------------------------------------------------------------------------------

@dataclass(frozen=True, eq=False)
class Contacts:
    """Several contacts of one model as one. Rows of J_T and bias_T stand contact after contact."""

    items: tuple[Contact, ...]

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self):
        return iter(self.items)

    def __getitem__(self, chosen: Any) -> "Contact | Contacts":
        """One contact by its index; several by a slice, indices or booleans (m,)."""
        if isinstance(chosen, (int, np.integer)):
            return self.items[chosen]
        return Contacts(tuple(self.items[i] for i in np.arange(len(self))[chosen]))

    @cached_property
    def mu(self) -> Array:
        """(m,)"""
        return np.array([contact.mu for contact in self.items])

    @cached_property
    def e(self) -> Array:
        """(m,)"""
        return np.array([contact.e for contact in self.items])

    @cached_property
    def blocks(self) -> tuple[slice, ...]:
        """Which rows of J_T belong to which contact."""
        ends = np.cumsum([0, *(contact.d for contact in self.items)])
        return tuple(slice(int(i), int(j)) for i, j in zip(ends, ends[1:]))

    def look(self, q: Array, qd: Array | None = None) -> tuple:
        """gap (m,), J_N (m, n), J_T (Σd, n), bias_N (m,), bias_T (Σd,) in one pass; no q̇, no bias."""
        seen: dict = {}
        looks = [contact._look(seen, q, qd) for contact in self.items]
        n = self.items[0].model.n if self.items else 0
        gap = np.array([look[0] for look in looks])
        J_N = np.array([look[1][0] for look in looks]).reshape(-1, n)
        J_T = np.vstack([np.zeros((0, n)), *(look[1][1:] for look in looks)])
        if qd is None:
            return gap, J_N, J_T, None, None
        bias_N, bias_T = np.array([look[2][0] for look in looks]), [look[2][1:] for look in looks]
        return gap, J_N, J_T, bias_N, np.concatenate([np.zeros(0), *bias_T])

    def gap(self, q: Array) -> Array:
        """(m,) [m]; where the bodies are is worked out once for all."""
        if not self.items:
            return np.zeros(0)
        at = [*poses(self.items[0].model, q), Pose()]
        x = [at[each.a].R @ each.center + at[each.a].p for each in self.items]
        return np.array([each.surface.foot(at[each.b].R.T @ (xi - at[each.b].p))[0] - each.radius
                         for each, xi in zip(self.items, x)])

    def J_N(self, q: Array) -> Array:
        """(m, n)"""
        return self.look(q)[1]

    def J_T(self, q: Array) -> Array:
        """(Σd, n)"""
        return self.look(q)[2]

    def bias_N(self, q: Array, qd: Array) -> Array:
        """(m,) [m/s²]"""
        return self.look(q, qd)[3]

    def bias_T(self, q: Array, qd: Array) -> Array:
        """(Σd,) [m/s²]"""
        return self.look(q, qd)[4]


def contacts(*items: Contact | Iterable[Contact]) -> Contacts:
    """Contacts of one model together; single ones and lists of them."""
    flat = tuple(each for item in items for each in ([item] if isinstance(item, Contact) else item))
    for each in flat:
        if not isinstance(each, Contact) or each.model is not flat[0].model:
            raise ValueError("contacts wants contacts of one and the same model")
    return Contacts(flat)
