"""Forward dynamics: from joint forces to accelerations."""

from collections.abc import Mapping

import numpy as np

from .mass_matrix import crba
from .model import GROUND, Model, inertia_bound
from .newton_euler import external_forces, rnea
from .spatial import Array, crf, crm, solve, symmetric


def aba(model: Model, q: Array, qd: Array, tau: Array, external: Mapping[int | str, Array] | None = None) -> Array:
    """Accelerations q̈ (n,) under the joint forces τ: the articulated-body algorithm.

    Outward   vᵢ = Xᵢ v_p + Sᵢ q̇ᵢ,   ζᵢ = cᵢ + vᵢ × Sᵢ q̇ᵢ,   Iᴬᵢ = Iᵢ,   pᴬᵢ = vᵢ ×* Iᵢ vᵢ − fᵢ(external)
    Inward    U = Iᴬ S,   D = Sᵀ U + rotor 1,   K = D⁻¹ Uᵀ,   k = D⁻¹ (τ − Sᵀ pᴬ),   Iᵃ = Iᴬ − U K
              Iᴬ_p ← Iᴬ_p + Xᵀ Iᵃ X,   pᴬ_p ← pᴬ_p + Xᵀ (pᴬ + Iᵃ ζ + U k)
    Outward   a' = X a_p + ζ,   q̈ = k − K a',   a = a' + S q̈,       a_ground = −g

    external as in `rnea`. Cost O(n). Raises `numpy.linalg.LinAlgError`, naming joint and pose, where a pivot D
    vanishes beside Sᵀ Iᶜ S + rotor: that joint has nothing to move there. Featherstone (2008), table 7.1.
    """
    q_, qd_, tau_ = model.coordinates(q=q, qd=qd, tau=tau)
    external = external_forces(model, external)
    X, S, v, a, zeta, K, k, pA = ([0] * (model.N + 1) for _ in range(8))
    v[GROUND] = pA[GROUND] = np.zeros(6, dtype=int)
    a[GROUND] = np.concatenate([np.zeros(3, dtype=int), -model.gravity])
    IA, Ic, qdd = [body.I for body in model.bodies] + [0], [body.I for body in model.bodies] + [0], [0] * model.N

    for i, body in model.outward:
        X[i], S[i], c = body.motion(q_[i], qd_[i])
        v[i] = X[i] @ v[body.parent] + S[i] @ qd_[i]
        zeta[i] = c + crm(v[i]) @ S[i] @ qd_[i]
        pA[i] = crf(v[i]) @ (body.I @ v[i]) - external.get(i, 0)

    for i, body in model.inward:
        rotor = body.joint.rotor * np.eye(body.joint.n, dtype=int)
        U = IA[i] @ S[i]
        D = S[i].T @ U + rotor
        _require_pivot(D, Ic[i], S[i], model, i, q)
        K[i], k[i] = solve(D, U.T), solve(D, tau_[i] - S[i].T @ pA[i])
        Ia = symmetric(IA[i] - U @ K[i])
        pa = pA[i] + Ia @ zeta[i] + U @ k[i]
        IA[body.parent] = IA[body.parent] + symmetric(X[i].T @ Ia @ X[i])
        pA[body.parent] = pA[body.parent] + X[i].T @ pa
        Ic[body.parent] = Ic[body.parent] + symmetric(X[i].T @ Ic[i] @ X[i])

    for i, body in model.outward:
        ahead = X[i] @ a[body.parent] + zeta[i]
        qdd[i] = k[i] - K[i] @ ahead
        a[i] = ahead + S[i] @ qdd[i]
    return model.stack(qdd)


def forward_dynamics(model: Model, q: Array, qd: Array, tau: Array,
                     external: Mapping[int | str, Array] | None = None) -> Array:
    """Accelerations q̈ (n,) from M q̈ = τ − h: CRBA, RNEA at q̈ = 0 and one solve, O(n³). The check on `aba`."""
    tau = model.stack(model.coordinates(tau=tau))
    h = rnea(model, q, qd, np.zeros(model.n, dtype=int), external)
    return solve(crba(model, q), tau - h)


def _require_pivot(D: Array, Ic: Array, S: Array, model: Model, i: int, q: Array) -> None:
    """A pivot D that vanishes beside SᵀIᶜS + rotor, or within the rounding of Iᶜ, has nothing to move in some direction."""
    if D.dtype == object or Ic.dtype == object or not len(D):
        for dof, pivot in zip(range(model.n)[model.slice_v(i)], D.diagonal()):
            getattr(pivot, "guard", lambda _: None)(dof)        # a recorded pivot is watched when it is replayed
        return
    body, composite = model.bodies[i], (S.T @ Ic @ S).diagonal() + model.bodies[i].joint.rotor
    scale = np.sqrt(np.maximum(composite, 1e-3 * inertia_bound(Ic, S, body.joint.rotor)))
    if np.min(scale) > 0 and np.linalg.eigvalsh(D / (scale * scale[:, None]))[0] > 1e-11:
        return
    raise np.linalg.LinAlgError(
        f"joint of body {i} {body.name!r} has no inertia to move at q = "
        f"{np.array2string(np.asarray(q, dtype=float), precision=4, separator=', ')}: its pivot SᵀIᴬS vanishes beside "
        f"SᵀIᶜS = {np.array2string(composite, precision=4)}")
