"""Inverse and forward dynamics as loops over arrays, for trees so long that straight-line code stops paying.

One-axis and fixed joints. The recursion is that of `rnea` and `aba`, written out in three-vectors: ω, α and n about the
body's origin, v and a of the origin (spatial), f. Needs numba (the `fast` extra).
"""

import numpy as np
from numba import njit

from ..model import Model
from ..spatial import Array


def suits(model: Model) -> bool:
    """Are the tree's joints such that the loops can run it?"""
    return all(body.joint.kind in ("revolute", "prismatic", "fixed") for body in model.bodies)


def arrays_of(model: Model) -> tuple:
    """What the loops need of a model: parents, kinds (0 revolute, 1 prismatic, 2 fixed), geometry, inertias, rotors."""
    kinds = np.array([("revolute", "prismatic", "fixed").index(body.joint.kind) for body in model.bodies])
    stack = lambda get: np.array([np.asarray(get(body), dtype=float) for body in model.bodies])
    return (np.array([body.parent for body in model.bodies]), kinds, stack(lambda b: b.placement.R), stack(lambda b: b.placement.p),
            stack(lambda b: b.joint.axis), stack(lambda b: b.carried.mass), stack(lambda b: b.carried.mass * b.carried.com),
            stack(lambda b: b.carried.about_origin), stack(lambda b: b.joint.rotor), -np.asarray(model.gravity, dtype=float))


@njit(inline="always")
def _cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@njit(inline="always")
def _add(a, b):
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@njit(inline="always")
def _times(a, s):
    return a[0] * s, a[1] * s, a[2] * s


@njit(inline="always")
def _dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@njit(inline="always")
def _mul(R, x):
    return (R[0, 0] * x[0] + R[0, 1] * x[1] + R[0, 2] * x[2], R[1, 0] * x[0] + R[1, 1] * x[1] + R[1, 2] * x[2],
            R[2, 0] * x[0] + R[2, 1] * x[1] + R[2, 2] * x[2])


@njit(inline="always")
def _mul_t(R, x):
    return (R[0, 0] * x[0] + R[1, 0] * x[1] + R[2, 0] * x[2], R[0, 1] * x[0] + R[1, 1] * x[1] + R[2, 1] * x[2],
            R[0, 2] * x[0] + R[1, 2] * x[1] + R[2, 2] * x[2])


@njit(inline="always")
def _get(A, i):
    return A[i, 0], A[i, 1], A[i, 2]


@njit(inline="always")
def _set(A, i, x):
    A[i, 0], A[i, 1], A[i, 2] = x[0], x[1], x[2]


@njit
def _place(i, kind, R0, p0, axis, q, R, p):
    """The body in its parent: Rodrigues' turn about the axis, or a shift along it, after the placement."""
    for j in range(3):
        p[i, j] = p0[i, j]
    if kind == 0:
        c, s = np.cos(q), np.sin(q)
        x, y, z = axis[i, 0], axis[i, 1], axis[i, 2]
        turn = ((c + x * x * (1 - c), x * y * (1 - c) - z * s, x * z * (1 - c) + y * s),
                (x * y * (1 - c) + z * s, c + y * y * (1 - c), y * z * (1 - c) - x * s),
                (x * z * (1 - c) - y * s, y * z * (1 - c) + x * s, c + z * z * (1 - c)))
        for j in range(3):
            for k in range(3):
                R[i, j, k] = R0[i, j, 0] * turn[0][k] + R0[i, j, 1] * turn[1][k] + R0[i, j, 2] * turn[2][k]
    else:
        for j in range(3):
            for k in range(3):
                R[i, j, k] = R0[i, j, k]
        if kind == 1:
            _set(p, i, _add(_get(p0, i), _times(_mul(R0[i], _get(axis, i)), q)))


@njit
def _velocity(i, kind, parent, axis, R, p, qd, w, v):
    """ω and v of a body from its parent's."""
    if parent >= 0:
        wp, vp = _get(w, parent), _get(v, parent)
        wi, vi = _mul_t(R[i], wp), _mul_t(R[i], _add(vp, _cross(wp, _get(p, i))))
    else:
        wi, vi = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    if kind == 0:
        wi = _add(wi, _times(_get(axis, i), qd))
    elif kind == 1:
        vi = _add(vi, _times(_get(axis, i), qd))
    _set(w, i, wi)
    _set(v, i, vi)


@njit
def _bias(kind, a, qd, w, v):
    """v × S q̇, angular and linear."""
    if kind == 0:
        return _times(_cross(w, a), qd), _times(_cross(v, a), qd)
    if kind == 1:
        return (0.0, 0.0, 0.0), _times(_cross(w, a), qd)
    return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)


@njit
def _gyroscopic(i, m, mc, I, w, v):
    """v ×* I v: moment and force."""
    c = _get(mc, i)
    hn = _add(_mul(I[i], w), _cross(c, v))
    hf = _add(_times(v, m[i]), _cross(w, c))
    return _add(_cross(w, hn), _cross(v, hf)), _cross(w, hf)


@njit(nogil=True, cache=True)
def rnea_rows(parents, kinds, R0, p0, axis, m, mc, I, rotor, base, q, qd, qdd, out):
    """τ of every row of states (count, n): recursive Newton–Euler."""
    N = len(parents)
    R, p = np.empty((N, 3, 3)), np.empty((N, 3))
    room = np.empty((6, N, 3))
    w, v, al, a, n, f = room[0], room[1], room[2], room[3], room[4], room[5]
    for row in range(q.shape[0]):
        k = 0
        for i in range(N):
            kind, parent, s = kinds[i], parents[i], _get(axis, i)
            qi = qdi = qddi = 0.0
            if kind != 2:
                qi, qdi, qddi = q[row, k], qd[row, k], qdd[row, k]
                k += 1
            _place(i, kind, R0, p0, axis, qi, R, p)
            _velocity(i, kind, parent, axis, R, p, qdi, w, v)
            wi, vi = _get(w, i), _get(v, i)
            if parent >= 0:
                ap = _get(al, parent)
                ali, ai = _mul_t(R[i], ap), _mul_t(R[i], _add(_get(a, parent), _cross(ap, _get(p, i))))
            else:
                ali, ai = (0.0, 0.0, 0.0), _mul_t(R[i], (base[0], base[1], base[2]))
            turn, shift = _bias(kind, s, qdi, wi, vi)
            ali, ai = _add(ali, turn), _add(ai, shift)
            if kind == 0:
                ali = _add(ali, _times(s, qddi))
            elif kind == 1:
                ai = _add(ai, _times(s, qddi))
            _set(al, i, ali)
            _set(a, i, ai)
            c = _get(mc, i)
            gn, gf = _gyroscopic(i, m, mc, I, wi, vi)
            _set(n, i, _add(_add(_mul(I[i], ali), _cross(c, ai)), gn))
            _set(f, i, _add(_add(_times(ai, m[i]), _cross(ali, c)), gf))
        k = q.shape[1]
        for i in range(N - 1, -1, -1):
            kind, parent, s = kinds[i], parents[i], _get(axis, i)
            if kind != 2:
                k -= 1
                out[row, k] = (_dot(s, _get(n, i)) if kind == 0 else _dot(s, _get(f, i))) + rotor[i] * qdd[row, k]
            if parent >= 0:
                fi = _mul(R[i], _get(f, i))
                _set(f, parent, _add(_get(f, parent), fi))
                _set(n, parent, _add(_get(n, parent), _add(_mul(R[i], _get(n, i)), _cross(_get(p, i), fi))))


@njit
def _rotate(R, A, B):
    """B = R A Rᵀ."""
    for j in range(3):
        t = (R[j, 0] * A[0, 0] + R[j, 1] * A[1, 0] + R[j, 2] * A[2, 0], R[j, 0] * A[0, 1] + R[j, 1] * A[1, 1] + R[j, 2] * A[2, 1],
             R[j, 0] * A[0, 2] + R[j, 1] * A[1, 2] + R[j, 2] * A[2, 2])
        for k in range(3):
            B[j, k] = t[0] * R[k, 0] + t[1] * R[k, 1] + t[2] * R[k, 2]


@njit
def _carry(R, p, A, H, C, A_p, H_p, C_p, a, h, c, t):
    """Adds the inertia [[A, H], [Hᵀ, C]] of a child, seen from its parent, to the parent's (a, h, c, t are scratch)."""
    _rotate(R, A, a)
    _rotate(R, H, h)
    _rotate(R, C, c)
    for k in range(3):                              # t = p× C, column by column
        x = _cross((p[0], p[1], p[2]), (c[0, k], c[1, k], c[2, k]))
        t[0, k], t[1, k], t[2, k] = x
    for j in range(3):
        for k in range(3):
            C_p[j, k] += c[j, k]
            H_p[j, k] += h[j, k] + t[j, k]
    for k in range(3):                              # A + p× Hᵀ + (p× Hᵀ)ᵀ + (p× C) (p×)ᵀ
        x = _cross((p[0], p[1], p[2]), (h[k, 0], h[k, 1], h[k, 2]))         # p× applied to row k of H: column k of p× Hᵀ
        y = _cross((p[0], p[1], p[2]), (t[k, 0], t[k, 1], t[k, 2]))         # row k of (p× C)(p×)ᵀ
        for j in range(3):
            A_p[j, k] += a[j, k] + x[j] + y[j]
            A_p[k, j] += x[j]


@njit(nogil=True, cache=True)
def aba_rows(parents, kinds, R0, p0, axis, m, mc, I, rotor, base, limits, q, qd, tau, out):
    """q̈ of every row of states: articulated bodies. Returns the first row with a pivot below its limit, or −1."""
    N, n = len(parents), q.shape[1]
    R, p = np.empty((N, 3, 3)), np.empty((N, 3))
    room, blocks, scratch = np.empty((10, N, 3)), np.empty((3, N, 3, 3)), np.empty((4, 3, 3))
    w, v, al, a, pn = room[0], room[1], room[2], room[3], room[4]
    pf, zn, zf, Un, Uf = room[5], room[6], room[7], room[8], room[9]
    A, H, C, ta, th, tc, tt = blocks[0], blocks[1], blocks[2], scratch[0], scratch[1], scratch[2], scratch[3]
    u, D = np.empty(n), np.empty(n)
    for row in range(q.shape[0]):
        k = 0
        for i in range(N):
            kind = kinds[i]
            qi = qdi = 0.0
            if kind != 2:
                qi, qdi = q[row, k], qd[row, k]
                k += 1
            _place(i, kind, R0, p0, axis, qi, R, p)
            _velocity(i, kind, parents[i], axis, R, p, qdi, w, v)
            wi, vi, c = _get(w, i), _get(v, i), _get(mc, i)
            turn, shift = _bias(kind, _get(axis, i), qdi, wi, vi)
            _set(zn, i, turn)
            _set(zf, i, shift)
            gn, gf = _gyroscopic(i, m, mc, I, wi, vi)
            _set(pn, i, gn)
            _set(pf, i, gf)
            for j in range(3):
                for l in range(3):
                    A[i, j, l] = I[i, j, l]
                    C[i, j, l] = m[i] if j == l else 0.0
            H[i, 0, 0] = H[i, 1, 1] = H[i, 2, 2] = 0.0
            H[i, 0, 1], H[i, 0, 2], H[i, 1, 2] = -c[2], c[1], -c[0]
            H[i, 1, 0], H[i, 2, 0], H[i, 2, 1] = c[2], -c[1], c[0]
        for i in range(N - 1, -1, -1):
            kind, parent, s = kinds[i], parents[i], _get(axis, i)
            z, y = _get(zn, i), _get(zf, i)
            pni, pfi = _get(pn, i), _get(pf, i)
            if kind != 2:
                k -= 1
                if kind == 0:
                    un, uf = _mul(A[i], s), _mul_t(H[i], s)
                    D[k], u[k] = _dot(s, un) + rotor[i], tau[row, k] - _dot(s, pni)
                else:
                    un, uf = _mul(H[i], s), _mul(C[i], s)
                    D[k], u[k] = _dot(s, uf) + rotor[i], tau[row, k] - _dot(s, pfi)
                if not D[k] > limits[k]:
                    return row
                _set(Un, i, un)
                _set(Uf, i, uf)
                for j in range(3):
                    for l in range(3):
                        A[i, j, l] -= un[j] * un[l] / D[k]
                        H[i, j, l] -= un[j] * uf[l] / D[k]
                        C[i, j, l] -= uf[j] * uf[l] / D[k]
                pni, pfi = _add(pni, _times(un, u[k] / D[k])), _add(pfi, _times(uf, u[k] / D[k]))
            if parent >= 0:
                pni = _add(pni, _add(_mul(A[i], z), _mul(H[i], y)))
                pfi = _add(pfi, _add(_mul_t(H[i], z), _mul(C[i], y)))
                fi = _mul(R[i], pfi)
                _set(pf, parent, _add(_get(pf, parent), fi))
                _set(pn, parent, _add(_get(pn, parent), _add(_mul(R[i], pni), _cross(_get(p, i), fi))))
                _carry(R[i], p[i], A[i], H[i], C[i], A[parent], H[parent], C[parent], ta, th, tc, tt)
        for i in range(N):
            kind, parent, s = kinds[i], parents[i], _get(axis, i)
            if parent >= 0:
                ap = _get(al, parent)
                ali, ai = _mul_t(R[i], ap), _mul_t(R[i], _add(_get(a, parent), _cross(ap, _get(p, i))))
            else:
                ali, ai = (0.0, 0.0, 0.0), _mul_t(R[i], (base[0], base[1], base[2]))
            ali, ai = _add(ali, _get(zn, i)), _add(ai, _get(zf, i))
            if kind != 2:
                x = (u[k] - _dot(_get(Un, i), ali) - _dot(_get(Uf, i), ai)) / D[k]
                out[row, k] = x
                k += 1
                if kind == 0:
                    ali = _add(ali, _times(s, x))
                else:
                    ai = _add(ai, _times(s, x))
            _set(al, i, ali)
            _set(a, i, ai)
    return -1


def rnea(arrays: tuple, q: Array, qd: Array, qdd: Array, out: Array) -> float:
    """Fill `out` (count, n); the flag is NaN where something is not finite, else 0."""
    rnea_rows(*arrays, q, qd, qdd, out)
    return 0.0 if np.isfinite(out).all() else float("nan")


def aba(arrays: tuple, limits: Array, q: Array, qd: Array, tau: Array, out: Array) -> float:
    """Fill `out` (count, n); the flag is −1 where a pivot fails, NaN where something is not finite, else 0."""
    if aba_rows(*arrays, limits, q, qd, tau, out) >= 0:
        return -1.0
    return 0.0 if np.isfinite(out).all() else float("nan")
