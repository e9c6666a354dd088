"""Chains and trees of rigid bodies as data, with the checks that keep the algorithms free of them.

A body's frame is its joint frame after the joint has moved. `placement` is the pose of the joint frame in
the parent body: at q = 0 body frame and joint frame coincide.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from .inertia import Inertia
from .spatial import (Array, Pose, cos_sin, quaternion_exp, quaternion_log, quaternion_matrix,
                      quaternion_product, rotation)

GROUND = -1

# kind: (coordinates nq, velocities n)
KINDS = {"revolute": (1, 1), "prismatic": (1, 1), "fixed": (0, 0), "planar": (3, 3), "spherical": (4, 3),
         "free": (7, 6)}
QUATERNION = {"spherical": slice(0, 4), "free": slice(3, 7)}


@dataclass(frozen=True, eq=False)
class Joint:
    """What motion a joint allows; everything is said in the joint frame.

    revolute   q angle about `axis`                           qd its rate
    prismatic  q displacement along `axis`                    qd its rate
    fixed      no coordinate
    planar     q = (x, y, θ), the axis is z                   qd = (ẋ, ẏ, θ̇) along the joint frame's axes
    spherical  q = quaternion (x, y, z, w)                    qd = angular velocity in body axes
    free       q = (x, y, z, quaternion x, y, z, w)           qd = (angular; linear) velocity in body axes
    """

    kind: str
    axis: Array = (0, 0, 1)                         # (3,), in the joint frame; a unit vector is made of it
    rotor: Any = 0.0                                # reflected rotor inertia N² I_r of a one-axis joint [kg m² | kg]
    limits: tuple[float, float] | None = None       # lowest and highest q [rad | m]; None: no limits (continuous)

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"kind {self.kind!r} is not a joint; wanted one of {', '.join(KINDS)}")
        axis = np.asarray(self.axis)
        if axis.shape != (3,):
            raise ValueError(f"axis must have shape (3,); got {axis.shape}")
        if axis.dtype != object:
            length = np.linalg.norm(axis)
            if not np.isfinite(length) or length == 0:
                raise ValueError(f"axis of a {self.kind} joint must be finite and not zero; got {axis.tolist()}")
            if length != 1:
                axis = axis / length
        if self.kind == "planar" and list(axis) != [0, 0, 1]:
            raise ValueError(f"a planar joint turns about z; got axis {axis.tolist()}: turn the placement instead")
        if isinstance(self.rotor, np.number):
            object.__setattr__(self, "rotor", float(self.rotor))
        if isinstance(self.rotor, (int, float)):
            if not np.isfinite(self.rotor) or self.rotor < 0:
                raise ValueError(f"rotor must be finite and not negative; got {self.rotor}")
        if KINDS[self.kind] != (1, 1) and self.rotor != 0:
            raise ValueError(f"rotor belongs to revolute and prismatic joints; got {self.rotor} on a {self.kind} joint")
        if self.limits is not None and not self.limits[0] <= self.limits[1]:
            raise ValueError(f"limits must be (lowest, highest); got {self.limits}")
        object.__setattr__(self, "axis", axis)

    @property
    def nq(self) -> int:
        """Number of coordinates q."""
        return KINDS[self.kind][0]

    @property
    def n(self) -> int:
        """Number of velocities q̇, the degrees of freedom."""
        return KINDS[self.kind][1]

    def pose(self, q: Array) -> Pose:
        """The body frame in the joint frame at the coordinates q (nq,)."""
        match self.kind:
            case "revolute":
                return Pose(rotation(self.axis, q[0]))
            case "prismatic":
                return Pose(p=self.axis * q[0])
            case "planar":
                return Pose(rotation((0, 0, 1), q[2]), np.array([q[0], q[1], 0]))
            case "spherical":
                return Pose(quaternion_matrix(q))
            case "free":
                return Pose(quaternion_matrix(q[3:]), q[:3])
        return Pose()

    def axes(self, q: Array, qd: Array) -> tuple[Array, Array]:
        """(S, S̊), each (6, n): the joint's velocity is S q̇ in body axes, and S̊ = dS/dt in those axes."""
        zero = np.zeros((3, 3), dtype=int)
        S = np.zeros((6, self.n), dtype=int)
        match self.kind:
            case "revolute":
                S = np.concatenate([self.axis, zero[0]])[:, None]
            case "prismatic":
                S = np.concatenate([zero[0], self.axis])[:, None]
            case "spherical":
                S = np.vstack([np.eye(3, dtype=int), zero])
            case "free":
                S = np.eye(6, dtype=int)
            case "planar":
                c, s = cos_sin(q[2])
                S = np.array([[0, 0, 0], [0, 0, 0], [0, 0, 1], [c, s, 0], [-s, c, 0], [0, 0, 0]])
                S_ring = np.array([[0, 0, 0], [0, 0, 0], [0, 0, 0], [-s, c, 0], [-c, -s, 0], [0, 0, 0]]) * qd[2]
                return S, S_ring
        return S, 0 * S

    def motion(self, q: Array, qd: Array) -> tuple[Array, Array, Array]:
        """(X, S, c): transform joint frame to body frame (6, 6), axes (6, n), and c = S̊ q̇ (6,)."""
        S, S_ring = self.axes(q, qd)
        return self.pose(q).X, S, S_ring @ qd

    def rates(self, q: Array, qd: Array) -> Array:
        """dq/dt (nq,): q̇ itself, but ½ q ∘ (ω, 0) for a quaternion and R v for a free body's position."""
        if self.kind == "spherical":
            return quaternion_product(q, np.append(qd, 0)) / 2
        if self.kind == "free":
            return np.concatenate([quaternion_matrix(q[3:]) @ qd[3:], quaternion_product(q[3:], np.append(qd[:3], 0)) / 2])
        return qd

    def integrate(self, q: Array, step: Array) -> Array:
        """q after the motion q̇ dt = step (n,), body axes kept through the step; quaternions stay of norm one."""
        if self.kind not in QUATERNION:
            return q + step
        quat, turn = (q, step) if self.kind == "spherical" else (q[3:], step[:3])
        quat = quaternion_product(quat, quaternion_exp(turn))
        quat = quat / np.linalg.norm(quat)
        return quat if self.kind == "spherical" else np.concatenate([q[:3] + quaternion_matrix(q[3:]) @ step[3:], quat])

    def difference(self, q0: Array, q1: Array) -> Array:
        """The step (n,) with integrate(q0, step) = q1, the shorter turn for a quaternion."""
        if self.kind not in QUATERNION:
            return q1 - q0
        quat0, quat1 = (q0, q1) if self.kind == "spherical" else (q0[3:], q1[3:])
        turn = quaternion_log(quaternion_product(np.append(-quat0[:3], quat0[3]), quat1))
        return turn if self.kind == "spherical" else np.concatenate([turn, quaternion_matrix(quat0).T @ (q1[:3] - q0[:3])])

    @property
    def zero(self) -> Array:
        """The coordinates (nq,) at which body frame and joint frame coincide."""
        q = np.zeros(self.nq)
        if self.kind in QUATERNION:
            q[-1] = 1
        return q


@dataclass(frozen=True, eq=False)
class Body:
    """A rigid body and the joint that carries it."""

    name: str
    parent: int                 # index of the parent body, GROUND = -1 for the world
    joint: Joint
    placement: Pose             # of the joint frame in the parent body's frame
    inertia: Inertia            # in the body frame
    payload: Inertia | None = None      # what it carries besides, in the body frame

    @property
    def carried(self) -> Inertia:
        """The body with its payload."""
        return self.inertia if self.payload is None else self.inertia + self.payload

    @cached_property
    def I(self) -> Array:
        """Spatial inertia (6, 6) of body and payload, in the body frame about its origin."""
        return self.carried.matrix

    @cached_property
    def _X_placement(self) -> Array:
        return self.placement.X

    def pose(self, q: Array) -> Pose:
        """The body frame in the parent body's frame."""
        return self.placement @ self.joint.pose(q)

    def motion(self, q: Array, qd: Array) -> tuple[Array, Array, Array]:
        """(X, S, c) with X (6, 6) from the parent body's frame; S, c as in `Joint.motion`."""
        X, S, c = self.joint.motion(q, qd)
        return X @ self._X_placement, S, c


@dataclass(frozen=True, eq=False)
class Model:
    """A tree of rigid bodies on the ground, each parent before its children.

    Raises ValueError where the structure is wrong (by body and name), and where a movable joint has no
    inertia to move about its axis in any pose: such a joint has no forward dynamics.
    """

    bodies: tuple[Body, ...]
    gravity: Array = (0, 0, -9.81)      # free-fall acceleration in world axes [m/s²]
    name: str = "robot"
    _slices: tuple = field(init=False, repr=False)

    def __post_init__(self) -> None:
        bodies, gravity = tuple(self.bodies), np.asarray(self.gravity)
        if gravity.shape != (3,):
            raise ValueError(f"gravity must have shape (3,); got {gravity.shape}")
        if gravity.dtype != object and not np.all(np.isfinite(gravity)):
            raise ValueError(f"gravity must be finite; got {gravity.tolist()}")
        seen: set[str] = set()
        for i, body in enumerate(bodies):
            if not isinstance(body, Body):
                raise ValueError(f"bodies[{i}] is {type(body).__name__}; wanted a Body")
            if body.name in seen:
                raise ValueError(f"two bodies are named {body.name!r}; a name stands once")
            if not isinstance(body.parent, (int, np.integer)):
                raise ValueError(f"body {i} {body.name!r} has parent {body.parent!r}; wanted the index of a body before it")
            if not GROUND <= body.parent < i:
                raise ValueError(f"body {i} {body.name!r} has parent {body.parent}; a parent comes before its children "
                                 f"({GROUND} is the ground)")
            seen.add(body.name)
        object.__setattr__(self, "bodies", bodies)
        object.__setattr__(self, "gravity", gravity)
        nq, n, slices = 0, 0, []
        for body in bodies:
            slices.append((slice(nq, nq + body.joint.nq), slice(n, n + body.joint.n)))
            nq, n = nq + body.joint.nq, n + body.joint.n
        object.__setattr__(self, "_slices", tuple(slices))
        self._require_inertia()

    # -- sizes and order -----------------------------------------------------------------------------------

    @property
    def N(self) -> int:
        """Number of bodies."""
        return len(self.bodies)

    @cached_property
    def n(self) -> int:
        """Number of velocities, the degrees of freedom of the tree."""
        return sum(body.joint.n for body in self.bodies)

    @cached_property
    def nq(self) -> int:
        """Number of coordinates; more than n where a joint has a quaternion."""
        return sum(body.joint.nq for body in self.bodies)

    @cached_property
    def outward(self) -> tuple[tuple[int, Body], ...]:
        """(index, body) from the ground to the tips."""
        return tuple(enumerate(self.bodies))

    @cached_property
    def inward(self) -> tuple[tuple[int, Body], ...]:
        """(index, body) from the tips to the ground."""
        return self.outward[::-1]

    def slice_q(self, i: int) -> slice:
        """Where body i's coordinates stand in q."""
        return self._slices[i][0]

    def slice_v(self, i: int) -> slice:
        """Where body i's velocities stand in qd."""
        return self._slices[i][1]

    def index(self, body: int | str) -> int:
        """A body's index from its index or name; KeyError names what there is."""
        if isinstance(body, str):
            for i, other in self.outward:
                if other.name == body:
                    return i
            raise KeyError(f"no body is named {body!r} in {self.name}; there are {[b.name for b in self.bodies]}")
        if not isinstance(body, (int, np.integer)):
            raise KeyError(f"body {body!r} is neither an index nor a name; {self.name} has {[b.name for b in self.bodies]}")
        if not GROUND <= body < self.N:
            raise KeyError(f"body {body} is not in {self.name}; there are {self.N} bodies and the ground, {GROUND}")
        return int(body)

    def ancestors(self, i: int) -> list[int]:
        """Body i and every body between it and the ground, from i inward."""
        path = []
        while i != GROUND:
            path.append(i)
            i = self.bodies[i].parent
        return path

    @cached_property
    def digest(self) -> str:
        """A name of the content: equal for models with equal numbers."""
        def text(value: Any) -> str:
            return repr([x.hex() if isinstance(x, float) else str(x) for x in np.ravel(np.asarray(value, dtype=object))])
        parts = [text(self.gravity)]
        for body in self.bodies:
            joint, placement = body.joint, body.placement
            parts += [body.name, str(body.parent), joint.kind, text(joint.axis), text(joint.rotor), text(joint.limits),
                      text(placement.R), text(placement.p), text(body.I)]
        return hashlib.sha256("|".join(parts).encode()).hexdigest()[:16]

    # -- states --------------------------------------------------------------------------------------------

    def coordinates(self, **vectors: Array) -> Any:
        """Check vectors by name (q has nq entries, all others n) and split them per body.

        Returns a list of per-body arrays for each vector, in the order given. ValueError where a shape is
        wrong, a number is not finite, or a quaternion in q is not of norm one within 1e-6.
        """
        result = []
        for name, vector in vectors.items():
            size, which = (self.nq, 0) if name.startswith("q") and not name.startswith("qd") else (self.n, 1)
            vector = checked(name, vector, size, f"{self.name} has {'nq' if which == 0 else 'n'} = {size}")
            parts = [vector[slices[which]] for slices in self._slices]
            if which == 0 and vector.dtype != object:
                parts = [self._unit(name, body, part) for body, part in zip(self.bodies, parts)]
            result.append(parts)
        return result[0] if len(result) == 1 else result

    def _unit(self, name: str, body: Body, part: Array) -> Array:
        """A body's coordinates with a quaternion of norm one, from one that has it within 1e-6."""
        if body.joint.kind not in QUATERNION:
            return part
        part, slot = part.copy(), QUATERNION[body.joint.kind]
        norm = float(np.linalg.norm(part[slot]))
        if abs(norm - 1) > 1e-6:
            raise ValueError(f"{name} of body {body.name!r} holds a quaternion of norm {norm:.9g}; wanted 1")
        part[slot] /= norm
        return part

    def stack(self, parts: Sequence[Array]) -> Array:
        """Per-body arrays back into one vector."""
        return np.concatenate([np.atleast_1d(part) for part in parts]) if len(parts) else np.zeros(0)

    @property
    def zero(self) -> Array:
        """The coordinates (nq,) with every joint at its zero."""
        return self.stack([body.joint.zero for body in self.bodies])

    def rates(self, q: Array, qd: Array) -> Array:
        """dq/dt (nq,) of the coordinates at velocity qd (n,)."""
        q, qd = self.coordinates(q=q, qd=qd)
        return self.stack([body.joint.rates(q[i], qd[i]) for i, body in self.outward])

    def integrate(self, q: Array, qd: Array, dt: float) -> Array:
        """q (nq,) after moving with qd (n,) for dt; quaternions stay of norm one."""
        q, qd = self.coordinates(q=q, qd=qd)
        return self.stack([body.joint.integrate(q[i], qd[i] * dt) for i, body in self.outward])

    def difference(self, q0: Array, q1: Array) -> Array:
        """The velocity (n,) that leads from q0 to q1 in unit time: integrate(q0, difference, 1) = q1."""
        q0, q1 = self.coordinates(q0=q0, q1=q1)
        return self.stack([body.joint.difference(q0[i], q1[i]) for i, body in self.outward])

    def normalized(self, q: Array) -> Array:
        """q (nq,) with its quaternions brought to norm one."""
        q = np.array(q, dtype=float)
        for i, body in self.outward:
            if body.joint.kind in QUATERNION:
                part = q[self.slice_q(i)][QUATERNION[body.joint.kind]]
                part /= np.linalg.norm(part)
        return q

    # -- the same robot otherwise --------------------------------------------------------------------------

    def payload(self, body: int | str, inertia: Inertia | None) -> "Model":
        """The robot with `body` carrying `inertia` (in its frame), or with nothing in its hand again (None)."""
        i = self.index(body)
        if i == GROUND:
            raise ValueError(f"body {body!r} is the ground; it carries no payload")
        return replace(self, bodies=self.bodies[:i] + (replace(self.bodies[i], payload=inertia),) + self.bodies[i + 1:])

    def merged(self) -> "Model":
        """The robot with every body on a fixed joint welded to its parent; what is fixed to the ground goes.

        The same q, M, C, G: a fixed body moves as its parent does.
        """
        where: dict[int, tuple[int, Pose]] = {GROUND: (GROUND, Pose())}     # old index -> (new index, pose in it)
        bodies: list[Body] = []
        for i, body in self.outward:
            parent, pose = where[body.parent]
            pose = pose @ body.placement
            if body.joint.kind != "fixed":
                where[i] = (len(bodies), Pose())
                bodies.append(replace(body, parent=parent, placement=pose))
                continue
            where[i] = (parent, pose)
            if parent != GROUND:
                host = bodies[parent]
                bodies[parent] = replace(host, inertia=host.carried + body.carried.moved(pose), payload=None)
        return replace(self, bodies=tuple(bodies))

    # -- what forward dynamics needs -----------------------------------------------------------------------

    def _require_inertia(self) -> None:
        """Refuse a movable joint whose subtree and rotor have no inertia about its axis in every pose.

        Three generic poses stand for "every": what vanishes in all of them vanishes identically. The diagonal
        block Sᵀ Iᶜ S + rotor, Iᶜ the subtree's composite inertia, is held against the largest that Iᶜ could give.
        """
        if any(body.I.dtype == object or body.placement.R.dtype == object or body.placement.p.dtype == object
               or body.joint.axis.dtype == object or not isinstance(body.joint.rotor, (int, float))
               for body in self.bodies):
            return
        missing = {i for i, body in self.outward if body.joint.n}
        for pose in range(3):
            rng = np.random.default_rng(pose)
            Ic, missing_here = [np.array(body.I, dtype=float) for body in self.bodies], set()
            for i, body in self.inward:
                q = body.joint.integrate(body.joint.zero, rng.uniform(0.5, 2.5, body.joint.n))
                X, S, _ = body.motion(q, np.zeros(body.joint.n))
                scale = np.sqrt(inertia_bound(Ic[i], S, body.joint.rotor))
                block = S.T @ Ic[i] @ S + body.joint.rotor * np.eye(body.joint.n)
                if body.joint.n and (np.min(scale) == 0 or np.linalg.eigvalsh(block / np.outer(scale, scale))[0] < 1e-12):
                    missing_here.add(i)
                if body.parent != GROUND:
                    Ic[body.parent] += X.T @ Ic[i] @ X
            missing &= missing_here
            if not missing:
                return
        i = min(missing)
        raise ValueError(f"joint of body {i} {self.bodies[i].name!r} ({self.bodies[i].joint.kind}) has no inertia to move: "
                         f"its subtree and rotor have none about its axis in any pose; give it mass, a rotor, or fix it")


def inertia_bound(Ic: Array, S: Array, rotor: float) -> Array:
    """What inertia Iᶜ (6, 6) could show along each axis of S if they lay at their worst (n,): the measure of rounding."""
    return np.max(Ic.diagonal()[:3]) * np.sum(S[:3]**2, axis=0) + Ic[5, 5] * np.sum(S[3:]**2, axis=0) + rotor


def checked(name: str, vector: Array, size: int, owner: str) -> Array:
    """A vector (size,) of finite floats, or of objects (symbols, recorded scalars) as they are."""
    if getattr(vector, "is_Matrix", False):         # a sympy column
        vector = list(vector)
    try:
        vector = np.asarray(vector)
    except ValueError:
        raise ValueError(f"{name} is not a vector of numbers; {owner}, so wanted ({size},)") from None
    if vector.dtype != object:
        if vector.dtype.kind not in "iuf":
            raise ValueError(f"{name} holds {vector.dtype}; wanted real numbers")
        vector = vector.astype(float, copy=False)
        if not np.all(np.isfinite(vector)):
            raise ValueError(f"{name} must be finite; got {vector.tolist()}")
    if vector.shape != (size,):
        raise ValueError(f"{name} has shape {vector.shape}; {owner}, so wanted ({size},)")
    return vector


# -- other ways to write a chain ---------------------------------------------------------------------------

@dataclass(frozen=True, eq=False)
class DHRow:
    """One link in Denavit–Hartenberg parameters; its inertia is given in that link's DH frame i."""

    a: Any                      # link length [m]: aᵢ (standard), aᵢ₋₁ (modified)
    alpha: Any                  # link twist [rad]: αᵢ (standard), αᵢ₋₁ (modified)
    d: Any = 0                  # offset along the joint axis [m]; a prismatic joint adds q
    theta: Any = 0              # angle about the joint axis [rad]; a revolute joint adds q
    inertia: Inertia = Inertia(0, np.zeros(3), np.zeros((3, 3)))
    kind: str = "revolute"
    rotor: Any = 0.0
    name: str | None = None


def from_dh(rows: Iterable[DHRow], convention: str, gravity: Array = (0, 0, -9.81), name: str = "arm",
            base: Pose = Pose()) -> Model:
    """A serial arm from its Denavit–Hartenberg table.

    standard  frame i stands at the far end of link i:   A_i = R_z(θ) T_z(d) T_x(a) R_x(α)
    modified  frame i stands on joint i's axis (Craig):  A_i = R_x(αᵢ₋₁) T_x(aᵢ₋₁) R_z(θ) T_z(d)

    Each row's inertia is in the DH frame i of its own convention. The model's body frame lies on joint i's axis
    in both: for "modified" it is frame i, for "standard" the inertia is moved there by T_z(d) T_x(a) R_x(α).
    ValueError for another convention.
    """
    if convention not in ("standard", "modified"):
        raise ValueError(f"convention {convention!r} is not known; wanted 'standard' or 'modified'")
    bodies, before = [], base
    for i, row in enumerate(rows):
        across = Pose(rotation((1, 0, 0), row.alpha), np.array([row.a, 0, 0]))
        along = Pose(rotation((0, 0, 1), row.theta), np.array([0, 0, row.d]))
        joint = Joint(row.kind, (0, 0, 1), rotor=row.rotor)
        label = row.name or f"link {i + 1}"
        if convention == "modified":
            bodies.append(Body(label, i - 1, joint, before @ across @ along, row.inertia))
            before = Pose()
        else:
            bodies.append(Body(label, i - 1, joint, before @ along, row.inertia.moved(across)))
            before = across
    return Model(tuple(bodies), gravity=gravity, name=name)


def from_poe(screws: Array, inertias: Sequence[Inertia], homes: Sequence[Pose], gravity: Array = (0, 0, -9.81),
             name: str = "arm") -> Model:
    """A serial arm from its product of exponentials, in the base frame at q = 0.

    screws   : (n, 6) axis i as (ω; v), angular first: revolute |ω| = 1, v = −ω × point on the axis;
               prismatic ω = 0, |v| = 1
    inertias : body i's inertia in its home frame; homes: pose of that frame in the base frame at q = 0
    Body frame i has the base's axes at q = 0 and its origin on axis i (the point nearest the base's origin).
    ValueError for a screw with pitch, or lists of unequal length. Lynch and Park, Modern Robotics (2017).
    """
    screws = np.asarray(screws, dtype=float)
    if screws.ndim != 2 or screws.shape[1] != 6 or not len(screws) == len(inertias) == len(homes):
        raise ValueError(f"screws has shape {screws.shape}, with {len(inertias)} inertias and {len(homes)} homes; "
                         f"wanted (n, 6), n and n")
    bodies, origin = [], np.zeros(3)
    for i, screw in enumerate(screws):
        w, v = screw[:3], screw[3:]
        turns = np.linalg.norm(w) > 1e-12
        if turns and abs(w @ v) > 1e-9 * np.linalg.norm(w) * max(np.linalg.norm(v), 1e-300):
            raise ValueError(f"screw {i} has pitch ω·v = {w @ v:.4g}; a joint turns or slides, not both")
        point = np.cross(w, v) / (w @ w) if turns else origin
        joint = Joint("revolute", w) if turns else Joint("prismatic", v)
        inertia = inertias[i].moved(Pose(p=-point) @ homes[i])
        bodies.append(Body(f"link {i + 1}", i - 1, joint, Pose(p=point - origin), inertia))
        origin = point
    return Model(tuple(bodies), gravity=gravity, name=name)
