"""Where a robot's points are, how fast they move, and with which energy."""

from typing import Any

import numpy as np

from .model import GROUND, Model, checked
from .spatial import Array, Pose, crm, skew


def poses(model: Model, q: Array) -> list[Pose]:
    """The pose of every body in the world: x_world = R x_body + p. q: (nq,)."""
    q = model.coordinates(q=q)
    world: list[Pose] = [Pose()] * (model.N + 1)
    for i, body in model.outward:
        world[i] = world[body.parent] @ body.pose(q[i])
    return world[:-1]


def velocities(model: Model, q: Array, qd: Array) -> list[Array]:
    """Spatial velocity (ω; v_O) (6,) of every body, in its own frame about its own origin: vᵢ = Xᵢ v_p + Sᵢ q̇ᵢ."""
    q, qd = model.coordinates(q=q, qd=qd)
    v: list[Any] = [np.zeros(6, dtype=int)] * (model.N + 1)
    for i, body in model.outward:
        X, S, _ = body.motion(q[i], qd[i])
        v[i] = X @ v[body.parent] + S @ qd[i]
    return v[:-1]


def point(model: Model, q: Array, body: int | str, r: Array) -> Array:
    """World position (3,) [m] of the point r (3,) of a body; body −1 is the ground."""
    i, r = model.index(body), checked("r", r, 3, "a point has three coordinates")
    pose = poses(model, q)[i] if i != GROUND else Pose()
    return pose.R @ r + pose.p


def body_jacobian(model: Model, q: Array, body: int | str) -> Array:
    """J (6, n) with J q̇ the body's spatial velocity (ω; v_O), in body axes about the body's origin."""
    i, parts = model.index(body), model.coordinates(q=q)
    J = [np.zeros((6, other.joint.n), dtype=int) for other in model.bodies]
    X_to_body = np.eye(6, dtype=int)
    for j in model.ancestors(i):
        X, S, _ = model.bodies[j].motion(parts[j], np.zeros(model.bodies[j].joint.n, dtype=int))
        J[j] = X_to_body @ S
        X_to_body = X_to_body @ X
    return np.hstack([np.zeros((6, 0), dtype=int), *J])


def point_jacobian(model: Model, q: Array, body: int | str, r: Array) -> Array:
    """J (3, n) with J q̇ the velocity of the point r of a body, world axes: R (v_O + ω × r) = R [−r×, 1] J_body."""
    i, r = model.index(body), checked("r", r, 3, "a point has three coordinates")
    if i == GROUND:
        return np.zeros((3, model.n))
    J = body_jacobian(model, q, i)
    return poses(model, q)[i].R @ (J[3:] - skew(r) @ J[:3])


def point_bias(model: Model, q: Array, qd: Array, body: int | str, r: Array) -> Array:
    """J̇ q̇ (3,) [m/s²]: the acceleration of the point r at q̈ = 0, world axes.

    The classical acceleration, what an accelerometer in free fall would add to gravity: with the spatial
    acceleration a at q̈ = 0 and u = v_O + ω × r,  R (a_O + α × r + ω × u).
    """
    i, r = model.index(body), checked("r", r, 3, "a point has three coordinates")
    if i == GROUND:
        return np.zeros(3)
    v, a = velocities(model, q, qd), bias_accelerations(model, q, qd)
    u = v[i][3:] + skew(v[i][:3]) @ r
    return poses(model, q)[i].R @ (a[i][3:] + skew(a[i][:3]) @ r + skew(v[i][:3]) @ u)


def bias_accelerations(model: Model, q: Array, qd: Array) -> list[Array]:
    """Spatial accelerations (6,) of all bodies at q̈ = 0, without gravity: aᵢ = Xᵢ a_p + cᵢ + vᵢ × Sᵢ q̇ᵢ."""
    q_, qd_ = model.coordinates(q=q, qd=qd)
    v = velocities(model, q, qd)
    a: list[Any] = [np.zeros(6, dtype=int)] * (model.N + 1)
    for i, body in model.outward:
        X, S, c = body.motion(q_[i], qd_[i])
        a[i] = X @ a[body.parent] + c + crm(v[i]) @ S @ qd_[i]
    return a[:-1]


def mass(model: Model) -> Any:
    """Total mass [kg]."""
    return sum(body.carried.mass for body in model.bodies)


def center_of_mass(model: Model, q: Array) -> Array:
    """World position (3,) [m] of the whole robot's centre of mass: Σ mᵢ cᵢ / Σ mᵢ. ValueError without mass."""
    total = mass(model)
    if total == 0:
        raise ValueError(f"{model.name} has no mass, so no centre of mass")
    return sum(body.carried.mass * (pose.R @ body.carried.com + pose.p)
               for body, pose in zip(model.bodies, poses(model, q))) / total


def centroidal_momentum(model: Model, q: Array, qd: Array) -> Array:
    """(angular momentum about the centre of mass; linear momentum) (6,), world axes [kg m²/s; kg m/s].

    Each body's momentum I v is about its own origin; Xᵀ carries it to the frame at the centre of mass.
    """
    at_com = Pose(p=center_of_mass(model, q)).inverse
    return sum((at_com @ pose).X.T @ body.I @ v
               for body, pose, v in zip(model.bodies, poses(model, q), velocities(model, q, qd)))


def kinetic_energy(model: Model, q: Array, qd: Array) -> Any:
    """K = ½ Σ vᵢᵀ Iᵢ vᵢ + ½ Σ rotorᵢ q̇ᵢ² [J]."""
    split = model.coordinates(qd=qd)
    bodies = sum(v @ body.I @ v for body, v in zip(model.bodies, velocities(model, q, qd)))
    rotors = sum(body.joint.rotor * (split[i] @ split[i]) for i, body in model.outward)
    return (bodies + rotors) / 2


def potential_energy(model: Model, q: Array) -> Any:
    """U = −Σ mᵢ g·cᵢ [J], zero for a mass at the world's origin."""
    return -sum(body.carried.mass * (model.gravity @ (pose.R @ body.carried.com + pose.p))
                for body, pose in zip(model.bodies, poses(model, q)))
