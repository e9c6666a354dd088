"""Surfaces that a point or a ball may touch: how far, along which normal, and how curved.

Each offers .foot(y) -> (δ, n, H) in the frame of its body: the signed distance δ of the point y [m], positive
outside; its gradient n, the unit normal at the nearest point z; its Hessian H = S (1 + δ S)⁻¹ [1/m], where
S = ∂n/∂z is the shape of the surface, positive where it bulges.
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
        """δ = |y − c| − r, n = (y − c)/|y − c|, H = (1 − n nᵀ)/|y − c|. ValueError at the centre."""
        away = y - self.center
        distance = np.linalg.norm(away)
        if distance == 0:
            raise ValueError(f"the point {y.tolist()} is the centre of the ball that it should touch")
        n = away / distance
        return distance - self.radius, n, (np.eye(3) - np.outer(n, n)) / distance


@dataclass(frozen=True, eq=False)
class Curve:
    """A curve x(s) in x–y, straight beyond its ends; the free side lies to the left of its direction."""

    x: Callable             # s -> (2,) [m]
    dx: Callable            # s -> x'(s) (2,)
    ddx: Callable           # s -> x''(s) (2,)
    s: Array                # (k,) where it was sampled to look for the nearest point
    samples: Array          # (k, 2)

    def foot(self, y: Array) -> tuple[float, Array, Array]:
        """δ = n·(y − x), n left of the tangent t, H = −κ/(1 − κ δ) t tᵀ, where (y − x)·x' = 0."""
        s = self.nearest(y[:2])
        dx, ddx = np.asarray(self.dx(s), dtype=float), np.asarray(self.ddx(s), dtype=float)
        t = dx / np.linalg.norm(dx)
        n = TURN @ t
        delta = n @ (y[:2] - self.x(s))
        kappa = n @ ddx / (dx @ dx) if self.s[0] < s < self.s[-1] else 0.0
        H = np.zeros((3, 3))
        H[:2, :2] = -kappa / (1 - kappa * delta) * np.outer(t, t)
        return delta, np.append(n, 0.0), H

    def nearest(self, y: Array) -> float:
        """s of the nearest point: the nearest sample, then Newton on (y − x)·x' = 0 beside it."""
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

    span : the interval of s; beyond its ends the curve goes on straight
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
        """The nearest z by Newton on y = z + δ ∇f/|∇f|, f(z) = 0;  S = P ∇²f P/|∇f| with P = 1 − n nᵀ.

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
        S = P @ np.asarray(self.hessian(z), dtype=float) @ P / np.linalg.norm(g)
        H, normal = np.zeros((3, 3)), np.zeros(3)
        H[:self.k, :self.k] = np.linalg.solve(np.eye(self.k) + delta * S, S)
        normal[:self.k] = n
        return delta, normal, H


def level(f: Callable, gradient: Callable, hessian: Callable, k: int = 2) -> Level:
    """The curve (k = 2, in x–y) or surface (k = 3) f(y) = 0 with gradient and Hessian; free where f > 0."""
    if k not in (2, 3):
        raise ValueError(f"k is {k}; wanted 2 for a curve or 3 for a surface")
    return Level(f, gradient, hessian, k)
