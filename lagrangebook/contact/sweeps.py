"""Projected Gauss–Seidel for contacts: one text, run by numba where it is installed and by plain Python
elsewhere."""

from collections.abc import Callable
from functools import cache
from importlib.util import find_spec

import numpy as np

from ..spatial import Array


def swept(p: Array, W: Array, b: Array, mu: Array, first: Array, end: Array, weight: Array,
          count: int) -> Array:
    """p (k,) after so many sweeps over the contacts, changed in place; it stops early where nothing changes
    any more.

        p_N ← max(0, p_N − v_N / W_NN)
        p_T ← the point of the disc of radius μ p_N nearest to p_T − v_T / w

    first, end : (m,) rows of each contact, normal first
    weight     : (m, 2) what stands for W_NN, and w ≥ ‖W_TT‖
    """
    for _ in range(count):
        change = 0.0
        for i in range(len(first)):
            n, last = first[i], end[i]
            push = max(0.0, p[n] - (np.dot(W[n], p) + b[n]) / weight[i, 0])
            change = max(change, abs(push - p[n]))
            p[n] = push
            if last == n + 1:
                continue
            x = p[n + 1:last] - (np.dot(W[n + 1:last], p) + b[n + 1:last]) / weight[i, 1]
            size, radius = np.sqrt(np.dot(x, x)), mu[i] * push
            if size > radius:
                x *= radius / size
            change = max(change, np.max(np.abs(x - p[n + 1:last])))
            p[n + 1:last] = x
        if change <= 1e-13:
            break
    return p


@cache
def fastest() -> Callable:
    """`swept`, compiled where numba is there."""
    if not find_spec("numba"):
        return swept
    from numba import njit
    return njit(cache=True)(swept)
