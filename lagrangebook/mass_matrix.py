"""The matrices of the standard form by recursion: M (composite bodies), C (Coriolis), and the gravity vector G."""

import numpy as np

from .model import GROUND, Model
from .spatial import Array, crf, crm, skew, symmetric


def crba(model: Model, q: Array) -> Array:
    """Mass matrix M(q) (n, n) [kg m² | kg m | kg]: the composite-rigid-body algorithm.

    Inward, with Iᶜ the inertia of body i and all that it carries,

        Iᶜ_p ← Iᶜ_p + Xᵢᵀ Iᶜᵢ Xᵢ
        M_ii = Sᵢᵀ F + rotorᵢ 1,    F = Iᶜᵢ Sᵢ
        M_ij = Fᵀ S_j for every ancestor j, with F carried inward by F ← Xᵀ F .

    The whole symmetric matrix is filled. Cost O(n d), d the depth of the tree. Featherstone (2008), table 6.2.
    """
    q = model.coordinates(q=q)
    X, S = [0] * model.N, [0] * model.N
    Ic = [body.I for body in model.bodies] + [0]
    M = np.zeros((model.n, model.n), dtype=object if _symbolic(model, q) else float)
    for i, body in model.outward:
        X[i], S[i], _ = body.motion(q[i], np.zeros(body.joint.n, dtype=int))
    for i, body in model.inward:
        Ic[body.parent] = Ic[body.parent] + symmetric(X[i].T @ Ic[i] @ X[i])
        F, rows = Ic[i] @ S[i], model.slice_v(i)
        M[rows, rows] = S[i].T @ F + body.joint.rotor * np.eye(body.joint.n, dtype=int)
        for child, j in zip(model.ancestors(i), model.ancestors(body.parent)):
            F = X[child].T @ F
            M[rows, model.slice_v(j)] = F.T @ S[j]
            M[model.slice_v(j), rows] = S[j].T @ F
    return M


def coriolis(model: Model, q: Array, qd: Array) -> Array:
    """Coriolis matrix C(q, q̇) (n, n) with C q̇ the velocity terms and Ṁ = C + Cᵀ, by recursion.

    With Ψᵢ = S̊ᵢ + vᵢ × Sᵢ and, for each body, B = ½ [v ×* I − I v× + (I v) ×̄*],

        Iᶜ_p ← Iᶜ_p + Xᵢᵀ Iᶜᵢ Xᵢ,   Bᶜ_p ← Bᶜ_p + Xᵢᵀ Bᶜᵢ Xᵢ
        C_ij = Sᵢᵀ (Iᶜ Ψ_j + Bᶜ S_j),  C_ji = (Ψ_jᵀ Iᶜ + S_jᵀ Bᶜ) Sᵢ  for j an ancestor of i (Ψᵢ ↔ Ψ_j alike).

    These are the Christoffel symbols' C where q̇ are rates of coordinates (revolute, prismatic, planar joints).
    Cost O(n d). Echeandia and Wensing, Numerical methods to compute the Coriolis matrix (2021).
    """
    q, qd = model.coordinates(q=q, qd=qd)
    X, S, Psi, v = ([0] * (model.N + 1) for _ in range(4))
    v[GROUND] = np.zeros(6, dtype=int)
    Ic, Bc = [body.I for body in model.bodies] + [0], [0] * (model.N + 1)
    C = np.zeros((model.n, model.n), dtype=object if _symbolic(model, [*q, *qd]) else float)
    for i, body in model.outward:
        X[i], S[i], _ = body.motion(q[i], qd[i])
        v[i] = X[i] @ v[body.parent] + S[i] @ qd[i]
        Psi[i] = body.joint.axes(q[i], qd[i])[1] + crm(v[i]) @ S[i]
        Bc[i] = (crf(v[i]) @ body.I - body.I @ crm(v[i]) + _crf_bar(body.I @ v[i])) / 2
    for i, body in model.inward:
        Ic[body.parent] = Ic[body.parent] + symmetric(X[i].T @ Ic[i] @ X[i])
        Bc[body.parent] = Bc[body.parent] + X[i].T @ Bc[i] @ X[i]
        F, Fm, Fb, rows = Ic[i] @ Psi[i] + Bc[i] @ S[i], Ic[i] @ S[i], Bc[i].T @ S[i], model.slice_v(i)
        C[rows, rows] = S[i].T @ F
        for child, j in zip(model.ancestors(i), model.ancestors(body.parent)):
            F, Fm, Fb = X[child].T @ F, X[child].T @ Fm, X[child].T @ Fb
            C[model.slice_v(j), rows] = S[j].T @ F
            C[rows, model.slice_v(j)] = Fm.T @ Psi[j] + Fb.T @ S[j]
    return C


def gravity(model: Model, q: Array) -> Array:
    """G(q) = ∂U/∂q (n,) [N m | N]: what holds the robot at rest; gravity itself acts with −G.

    At rest under gravity is what a robot feels whose ground accelerates upward: outward, then inward,

        aᵢ = Xᵢ a_p,   fᵢ = Iᵢ aᵢ          a_ground = −g
        Gᵢ = Sᵢᵀ fᵢ,   f_p ← f_p + Xᵢᵀ fᵢ .
    """
    q = model.coordinates(q=q)
    X, S, a, f, G = ([0] * (model.N + 1) for _ in range(5))
    a[GROUND] = np.concatenate([np.zeros(3, dtype=int), -model.gravity])
    for i, body in model.outward:
        X[i], S[i], _ = body.motion(q[i], np.zeros(body.joint.n, dtype=int))
        a[i] = X[i] @ a[body.parent]
        f[i] = body.I @ a[i]
    for i, body in model.inward:
        G[i] = S[i].T @ f[i]
        f[body.parent] = f[body.parent] + X[i].T @ f[i]
    return model.stack(G[:-1])


def _crf_bar(f: Array) -> Array:
    """f ×̄* (6, 6), defined by (f ×̄*) v = v ×* f for every motion v: [[−n×, −f×], [−f×, 0]]."""
    n, f = skew(f[:3]), skew(f[3:])
    return np.block([[-n, -f], [-f, np.zeros((3, 3), dtype=int)]])


def _symbolic(model: Model, parts: list[Array]) -> bool:
    """Do objects (symbols, recorded scalars) enter, by the state or by the model?"""
    return (any(part.dtype == object for part in parts)
            or any(array.dtype == object for body in model.bodies
                   for array in (body.I, body.placement.R, body.placement.p, body.joint.axis))
            or any(not isinstance(body.joint.rotor, (int, float)) for body in model.bodies))
