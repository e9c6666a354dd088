"""Surfaces that a point or a ball may touch: how far, along which normal, and how curved.

Each offers .foot(y) -> (δ, n, S) in the frame of its body: the signed distance δ of the point y [m], positive
outside; the unit normal n at the nearest point, towards the outside; the shape S = ∂n/∂z along the surface
[1/m], positive where it bulges. The distance then has gradient n and Hessian S (1 + δ S)⁻¹.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..model import checked
from ..spatial import Array

TURN = np.array([[0.0, -1.0], [1.0, 0.0]])      # a quarter turn to the left


@dataclass(frozen=True, eq=False)
class Plane:
    """n·y = offset."""

    normal: Array           # (3,) unit, towards the free side
    offset: float           # [m] along the normal from the frame's origin

    def foot(self, y: Array) -> tuple[float, Array, Array]:
        """δ = n·y − offset, n, 0."""
        return self.normal @ y - self.offset, self.normal, np.zeros((3, 3))


@dataclass(frozen=True, eq=False)
class Ball:
    """|y − center| = radius, from outside."""

    center: Array           # (3,) [m]
    radius: float           # [m]

    def foot(self, y: Array) -> tuple[float, Array, Array]:
        """δ = |y − c| − r, n = (y − c)/|y − c|, S = (1 − n nᵀ)/r. ValueError at the centre, which has no normal."""
        away = y - self.center
        distance = np.linalg.norm(away)
        if distance == 0:
            raise ValueError(f"the point {y.tolist()} is the centre of the ball that it should touch")
        n = away / distance
        shape = (np.eye(3) - np.outer(n, n)) / self.radius if self.radius > 0 else np.zeros((3, 3))
        return distance - self.radius, n, shape


@dataclass(frozen=True, eq=False)
class Curve:
    """A planar curve x(s) in x–y, s from span[0] to span[1]; the free side lies to the left of its direction."""

    x: Callable             # s -> (2,) [m]
    dx: Callable            # s -> x'(s) (2,)
    ddx: Callable           # s -> x''(s) (2,)
    s: Array                # (k,) where it was sampled to look for the nearest point
    samples: Array          # (k, 2)

    def foot(self, y: Array) -> tuple[float, Array, Array]:
        """δ = n·(y − x), n to the left of the tangent t, S = −κ t tᵀ, at the nearest point (y − x)·x' = 0."""
        s = self.nearest(y[:2])
        dx, ddx = np.asarray(self.dx(s), dtype=float), np.asarray(self.ddx(s), dtype=float)
        t = dx / np.linalg.norm(dx)
        n = TURN @ t
        kappa = n @ ddx / (dx @ dx)
        S = np.zeros((3, 3))
        S[:2, :2] = -kappa * np.outer(t, t)
        return n @ (y[:2] - self.x(s)), np.append(n, 0.0), S

    def nearest(self, y: Array) -> float:
        """s of the nearest point: the nearest sample, then Newton on (y − x)·x' = 0 between its neighbours."""
        k = int(np.argmin(np.sum((self.samples - y)**2, axis=1)))
        low, high = self.s[max(k - 1, 0)], self.s[min(k + 1, len(self.s) - 1)]
        s = self.s[k]
        for _ in range(60):
            away, dx = y - self.x(s), np.asarray(self.dx(s), dtype=float)
            slope = away @ dx
            low, high = (s, high) if slope > 0 else (low, s)
            curve = dx @ dx - away @ self.ddx(s)
            step = s + slope / curve if curve > 0 else np.inf
            step = step if low <= step <= high else (low + high) / 2
            if abs(step - s) <= 1e-15 * max(1.0, abs(s)):
                break
            s = step
        return s


def curve(x: Callable, dx: Callable, ddx: Callable, span: tuple[float, float], samples: int = 400) -> Curve:
    """The planar curve x(s) with its first two derivatives, s -> (2,) each; the free side lies to its left.

    span : the interval of s; its ends end the curve
    """
    s = np.linspace(*span, samples)
    points = np.array([checked("x", x(each), 2, "a planar curve has two coordinates") for each in s])
    return Curve(x, dx, ddx, s, points)


@dataclass(frozen=True, eq=False)
class Level:
    """f(y) = 0, free where f > 0."""

    f: Callable             # (k,) -> number; k = 2 for a curve in x–y, 3 for a surface
    gradient: Callable      # (k,) -> (k,)
    hessian: Callable       # (k,) -> (k, k)
    k: int

    def foot(self, y: Array) -> tuple[float, Array, Array]:
        """The nearest point z by Newton on y = z + δ ∇f/|∇f|, f(z) = 0;  S = P ∇²f P/|∇f| with P = 1 − n nᵀ.

        ValueError where it does not converge: no nearest point that this start finds.
        """
        z = np.array(y[:self.k], dtype=float)
        multiplier, size = 0.0, 1.0 + np.linalg.norm(z)
        for _ in range(60):
            g, H = np.asarray(self.gradient(z), dtype=float), np.asarray(self.hessian(z), dtype=float)
            r = np.append(z + multiplier * g - y[:self.k], self.f(z))
            K = np.block([[np.eye(self.k) + multiplier * H, g[:, None]], [g, 0.0]])
            step = np.linalg.lstsq(K, -r, rcond=None)[0]
            z, multiplier = z + step[:-1], multiplier + step[-1]
            if np.linalg.norm(step[:-1]) <= 1e-15 * size:
                break
        g = np.asarray(self.gradient(z), dtype=float)
        n = g / np.linalg.norm(g)
        delta = n @ (y[:self.k] - z)
        if not np.linalg.norm(y[:self.k] - z - delta * n) <= 1e-9 * size:
            raise ValueError(f"no point of f = 0 nearest to {np.asarray(y).tolist()} was found")
        P = np.eye(self.k) - np.outer(n, n)
        S, normal = np.zeros((3, 3)), np.zeros(3)
        S[:self.k, :self.k] = P @ np.asarray(self.hessian(z), dtype=float) @ P / np.linalg.norm(g)
        normal[:self.k] = n
        return delta, normal, S


def level(f: Callable, gradient: Callable, hessian: Callable, k: int = 2) -> Level:
    """The curve (k = 2, in x–y) or surface (k = 3) f(y) = 0, with gradient and Hessian; free where f > 0."""
    if k not in (2, 3):
        raise ValueError(f"k is {k}; wanted 2 for a curve or 3 for a surface")
    return Level(f, gradient, hessian, k)
