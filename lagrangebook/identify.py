"""Inverse dynamics is linear in the inertial parameters: τ = Y π."""

import numpy as np

from .model import GROUND, Model
from .spatial import Array, crf, crm, skew


def regressor(model: Model, q: Array, qd: Array, qdd: Array, qd_ref: Array | None = None, friction: bool = False,
              rotor: bool = False) -> Array:
    """Y (n, 10 N) with Y π = M q̈ + C(q, q̇) q̇ + G, π the bodies' ten parameters in their order (`Inertia.parameters`).

    Body i's wrench is linear in its parameters, fᵢ = A(vᵢ, aᵢ) πᵢ; carried inward by Xᵀ it meets every ancestor's axis:

        Y_ji = S_jᵀ ʲXᵢᵀ Aᵢ

    qd_ref   : with it, Y π = M q̈ + C(q, q̇) q̇_ref + G, for adaptive control; C is that of `coriolis`
    rotor    : adds n columns diag(q̈) for reflected rotor inertias
    friction : adds 2 n columns diag(q̇), diag(sign q̇) for viscous and Coulomb coefficients
    """
    parts = model.coordinates(q=q, qd=qd, qdd=qdd, qd_ref=qd if qd_ref is None else qd_ref)
    q_, qd_, qdd_, ref = parts
    X, S, v, w, a = ([0] * (model.N + 1) for _ in range(5))
    v[GROUND] = w[GROUND] = np.zeros(6, dtype=int)
    a[GROUND] = np.concatenate([np.zeros(3, dtype=int), -model.gravity])
    blocks = [[np.zeros((body.joint.n, 10)) for _ in model.bodies] for body in model.bodies]
    for i, body in model.outward:
        X[i], S[i], _ = body.motion(q_[i], qd_[i])
        v[i] = X[i] @ v[body.parent] + S[i] @ qd_[i]
        w[i] = X[i] @ w[body.parent] + S[i] @ ref[i]
        S_ring = body.joint.axes(q_[i], qd_[i])[1]
        a[i] = X[i] @ a[body.parent] + S[i] @ qdd_[i] + S_ring @ ref[i] + crm(v[i]) @ (S[i] @ ref[i])
        A = np.stack([_wrench(E, v[i], w[i], a[i], qd_ref is not None) for E in UNIT_INERTIAS], axis=1)
        for j in model.ancestors(i):
            blocks[j][i] = S[j].T @ A
            A = X[j].T @ A
    Y = np.block([[block for block in row] for row in blocks if len(row[0])]) if model.n else np.zeros((0, 10 * model.N))
    columns = [Y]
    if rotor:
        columns.append(np.diag(model.stack(qdd_)))
    if friction:
        columns += [np.diag(model.stack(qd_)), np.diag(np.sign(model.stack(qd_)))]
    return np.hstack(columns)


def _wrench(I: Array, v: Array, w: Array, a: Array, reference: bool) -> Array:
    """I a + v ×* I v; for a reference velocity w, I a + B w with B = ½ [v ×* I − I v× + (I v) ×̄*]."""
    if not reference:
        return I @ a + crf(v) @ (I @ v)
    return I @ a + (crf(v) @ (I @ w) - I @ (crm(v) @ w) + crf(w) @ (I @ v)) / 2


def _unit_inertia(k: int) -> Array:
    """The spatial inertia (6, 6) whose k-th parameter is one and whose others are zero."""
    if k == 0:
        return np.diag([0, 0, 0, 1, 1, 1])
    if k < 4:
        c = skew(np.eye(3, dtype=int)[k - 1])
        return np.block([[np.zeros((3, 3), dtype=int), c], [c.T, np.zeros((3, 3), dtype=int)]])
    row, column = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))[k - 4]
    I = np.zeros((6, 6), dtype=int)
    I[row, column] = I[column, row] = 1
    return I


UNIT_INERTIAS = tuple(_unit_inertia(k) for k in range(10))
