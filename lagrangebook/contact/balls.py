"""Many loose balls, or discs in the plane: contacts of all with planes and with each other, over arrays at
once."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..model import GROUND, Model
from ..spatial import Array, quaternion_matrix

EZ = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True, eq=False)
class Balls:
    """Every body of a model is a ball about its origin, hung on the ground by a planar or by a free joint.

    Contacts: ball after ball with each plane n·x = offset, then the pairs (0, 1), (0, 2), ..., (1, 2), ...;
    gaps, rows are those of `sphere_plane` and `sphere_sphere`; in space the tangents of pairs follow world
    axes.
    """

    model: Model
    radii: Array            # (k,) [m]
    normals: Array          # (s, 3) unit, towards the free side
    offsets: Array          # (s,) [m]
    friction: float         # μ of all
    restitution: float      # e of all

    def __post_init__(self) -> None:
        kinds = {body.joint.kind for body in self.model.bodies}
        if kinds not in ({"planar"}, {"free"}) or any(b.parent != GROUND
                                                      or not np.array_equal(b.placement.R, np.eye(3))
                                                     for b in self.model.bodies):
            raise ValueError(f"{self.model.name} has joints {sorted(kinds)}; wanted balls on the ground by "
                             "planar joints, or all by free ones, none turned")

    @cached_property
    def d(self) -> int:
        """Tangents: 1 in the plane, 2 in space."""
        return 1 if self.model.bodies[0].joint.kind == "planar" else 2

    @cached_property
    def sides(self) -> tuple[Array, Array]:
        """(a, b) (m,): the ball of each contact, and the other ball or −1 − (which plane)."""
        k, s = len(self.radii), len(self.offsets)
        i, j = np.triu_indices(k, 1)
        return (np.concatenate([np.repeat(np.arange(k), s), i]),
                np.concatenate([np.tile(-1 - np.arange(s), k), j]))

    @cached_property
    def mu(self) -> Array:
        """(m,)"""
        return np.full(len(self.sides[0]), self.friction)

    @cached_property
    def e(self) -> Array:
        """(m,)"""
        return np.full(len(self.sides[0]), self.restitution)

    def centers(self, q: Array) -> Array:
        """(k, 3) [m], world."""
        home = np.array([body.placement.p for body in self.model.bodies], dtype=float)
        q = np.asarray(q, dtype=float).reshape(len(home), -1)
        return home + (q[:, :3] * [1, 1, 0] if self.d == 1 else q[:, :3])

    def _apart(self, q: Array) -> tuple[Array, Array]:
        """gap (m,) and normals (m, 3) from b to a."""
        x, (a, b), s = self.centers(q), self.sides, len(self.offsets)
        walls = len(self.radii) * s
        between = x[a[walls:]] - x[b[walls:]]
        distance = np.linalg.norm(between, axis=1)
        n = np.vstack([np.tile(self.normals, (len(x), 1)),
                       between / np.where(distance > 0, distance, 1)[:, None]])
        return np.concatenate([(x @ self.normals.T - self.offsets - self.radii[:, None]).ravel(),
                               distance - self.radii[a[walls:]] - self.radii[b[walls:]]]), n

    def gap(self, q: Array) -> Array:
        """(m,) [m]"""
        return self._apart(q)[0]

    def near(self, q: Array, velocities: list[Array], dt: float) -> Array:
        """Indices of the contacts that could close within dt [s], no ball faster than twice the fastest in
        q̇s (n,)."""
        linear = np.array(velocities).reshape(len(velocities), len(self.radii), -1)
        linear = linear[..., :2] if self.d == 1 else linear[..., 3:]
        return np.flatnonzero(self.gap(q) <= 4 * dt * np.max(np.linalg.norm(linear, axis=-1)))

    def rows(self, q: Array, index: Array) -> Array:
        """(len(index), 1 + d, n), normal first:  t·v_a − r_a ω_a·(n × t) − t·v_b − r_b ω_b·(n × t)."""
        n, (a, b) = self._apart(q)[1][index], (side[index] for side in self.sides)
        if self.d == 1:
            frame = np.stack([n, np.cross(n, EZ)], axis=1)
        else:
            lead = np.eye(3)[np.argmin(np.round(abs(n), 6), axis=1)]
            t = lead - np.sum(lead * n, axis=1)[:, None] * n
            t /= np.linalg.norm(t, axis=1)[:, None]
            frame = np.stack([n, t, np.cross(n, t)], axis=1)
        arm, J = np.cross(n[:, None, :], frame), np.zeros((len(index), 1 + self.d, self.model.n))
        place, each = np.arange(len(index)), 3 * self.d
        for ball, sign in ((a, 1), (b, -1)):
            mine = ball >= 0
            turn, push = -self.radii[ball[mine]][:, None, None] * arm[mine], sign * frame[mine]
            if self.d == 1:
                block = np.concatenate([push[..., :2], turn[..., 2:]], axis=2)
            else:
                turns = np.asarray(q, dtype=float).reshape(len(self.radii), 7)[ball[mine], 3:]
                R = quaternion_matrix(turns.T)
                block = np.concatenate([np.einsum("kij,jlk->kil", x, R) for x in (turn, push)], axis=2)
            columns = each * ball[mine][:, None, None] + np.arange(each)
            J[place[mine][:, None, None], np.arange(1 + self.d)[None, :, None], columns] += block
        return J

    def look(self, q: Array) -> tuple[Array, Array, Array]:
        """gap (m,), J_N (m, n), J_T (m d, n)."""
        R = self.rows(q, np.arange(len(self.mu)))
        return self.gap(q), R[:, 0], R[:, 1:].reshape(-1, self.model.n)

    def J_N(self, q: Array) -> Array:
        """(m, n)"""
        return self.look(q)[1]

    def J_T(self, q: Array) -> Array:
        """(m d, n)"""
        return self.look(q)[2]
