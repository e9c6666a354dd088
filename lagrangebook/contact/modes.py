"""Contact modes tried one by one: the definition of Coulomb's law in the plane, and of complementarity."""

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np

from ..spatial import Array

ZERO = 1e-9         # a force or an acceleration this small beside the largest one is none


def every_mode(W: Array, b: Array, mu: Array, sizes: tuple, scale: float) -> Iterator[Array]:
    """Every p (k,) that a choice of modes gives for a = W p + b; sizes are 1 (the normal row) or 2 (a
    tangent).

    Open: p = 0, a_N ≥ 0.  Pushed: a_N = 0, p_N ≥ 0.  Stick: a = 0, |p_T| ≤ μ p_N.  Slip by s = ±1: a_N = 0,
    p_T = −s μ p_N, s a_T ≥ 0.

    scale : how large accelerations are here; what is small beside it is rounding
    """
    for choice in product(*(modes(size, mu_i) for size, mu_i in zip(sizes, mu))):
        G, E, A, P = (diagonal([mode[part] for mode in choice]) for part in range(4))
        z = feasible(E @ W @ G, E @ b, np.vstack([A @ W @ G, P]), np.append(A @ b, np.zeros(len(P))), scale)
        if z is not None:
            yield G @ z


class Mode(NamedTuple):
    """One contact's rows: p = G z, E a = 0, A a ≥ 0, P z ≥ 0."""

    G: Array
    E: Array
    A: Array
    P: Array


def modes(size: int, mu: float) -> Iterator[Mode]:
    """The modes of a contact with its normal row alone (2), or with one tangent (4)."""
    one, normal = np.eye(size), np.eye(size)[:1]
    yield Mode(np.zeros((size, 0)), np.zeros((0, size)), normal, np.zeros((0, 0)))
    if size == 1:
        yield Mode(one, one, np.zeros((0, 1)), one)
        return
    yield Mode(one, one, np.zeros((0, 2)), np.array([[mu, 1.0], [mu, -1.0]]))
    for s in (1.0, -1.0):
        yield Mode(np.array([[1.0], [-s * mu]]), normal, np.array([[0.0, s]]), np.ones((1, 1)))


def diagonal(blocks: tuple | list) -> Array:
    """The block-diagonal matrix."""
    out = np.zeros(np.sum([block.shape for block in blocks], axis=0, dtype=int) if blocks else (0, 0))
    i = j = 0
    for block in blocks:
        out[i:i + block.shape[0], j:j + block.shape[1]] = block
        i, j = i + block.shape[0], j + block.shape[1]
    return out


def feasible(A: Array, c: Array, D: Array, e: Array, scale: float) -> Array | None:
    """A z with A z + c = 0 and D z + e ≥ 0, to rounding; None where there is none."""
    z, rank = np.zeros(A.shape[1]), A.shape[1]
    if A.size:
        z, _, rank, _ = np.linalg.lstsq(A, -c, rcond=1e-11)
    size = ZERO * (abs(D) @ abs(z) + abs(e) + (scale if len(e) else 0))
    if np.any(abs(A @ z + c) > ZERO * (abs(A) @ abs(z) + scale)):
        return None
    if np.all(D @ z + e >= -size):
        return z
    if rank == A.shape[1]:
        return None
    from scipy.optimize import linprog
    unit = np.max(abs(z), initial=0.0) or 1.0
    found = linprog(np.zeros(len(z)), A_ub=-D * unit, b_ub=e + ZERO * scale, A_eq=A * unit, b_eq=-c,
                    bounds=(None, None))
    return found.x * unit if found.status == 0 else None
