"""Inverse dynamics: the recursive Newton–Euler algorithm."""

from collections.abc import Mapping

import numpy as np

from .model import GROUND, Model, checked
from .spatial import Array, crf, crm


def rnea(model: Model, q: Array, qd: Array, qdd: Array, external: Mapping[int | str, Array] | None = None) -> Array:
    """Joint forces τ that produce the accelerations q̈: recursive Newton–Euler.

    Outward, from the ground to the tips, with p the parent of body i,

        vᵢ = Xᵢ v_p + Sᵢ q̇ᵢ
        aᵢ = Xᵢ a_p + Sᵢ q̈ᵢ + cᵢ + vᵢ × Sᵢ q̇ᵢ          a_ground = −g
        fᵢ = Iᵢ aᵢ + vᵢ ×* Iᵢ vᵢ − fᵢ(external)

    and inward, from the tips to the ground,

        τᵢ = Sᵢᵀ fᵢ + rotorᵢ q̈ᵢ,        f_p ← f_p + Xᵢᵀ fᵢ .

    q : (nq,) [rad | m]    qd, qdd : (n,), per s and per s²
    external : body (index or name) -> (moment; force) (6,) on that body, in its frame about its origin
    returns  : (n,) [N m | N]
    Body i's vectors are in its own frame, angular part first. Cost O(n). Rotor inertia counts as N² I_r on its own
    axis alone, an approximation. Featherstone (2008), table 5.1.
    """
    q, qd, qdd = model.coordinates(q=q, qd=qd, qdd=qdd)
    external = external_forces(model, external)
    X, S, v, a, f, tau = ([0] * (model.N + 1) for _ in range(6))
    v[GROUND] = f[GROUND] = np.zeros(6, dtype=int)
    a[GROUND] = np.concatenate([np.zeros(3, dtype=int), -model.gravity])

    for i, body in model.outward:
        X[i], S[i], c = body.motion(q[i], qd[i])
        v[i] = X[i] @ v[body.parent] + S[i] @ qd[i]
        a[i] = X[i] @ a[body.parent] + S[i] @ qdd[i] + c + crm(v[i]) @ S[i] @ qd[i]
        f[i] = body.I @ a[i] + crf(v[i]) @ (body.I @ v[i]) - external.get(i, 0)

    for i, body in model.inward:
        tau[i] = S[i].T @ f[i] + body.joint.rotor * qdd[i]
        f[body.parent] = f[body.parent] + X[i].T @ f[i]

    return model.stack(tau[:-1])


def external_forces(model: Model, external: Mapping[int | str, Array] | None) -> dict[int, Array]:
    """External wrenches by body index, checked to be (6,) and finite, added where index and name mean one body."""
    forces: dict[int, Array] = {}
    for body, f in (external or {}).items():
        i, f = model.index(body), checked(f"external[{body!r}]", f, 6, "a wrench is (moment; force)")
        forces[i] = forces[i] + f if i in forces else f
    return forces
