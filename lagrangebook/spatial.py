"""Rotations, poses and six-dimensional (spatial) vectors.

Spatial vectors put the angular part first: motion v = (ω; v_O), force f = (n_O; f), both about the frame's
own origin O and in its own axes. Quaternions are (x, y, z, w). Everything but the logarithms works on
floats, on sympy symbols and on any scalar with `.cos()` and `.sin()`: `cos_sin` and `solve` are the only two
places that ask which. Featherstone, Rigid Body Dynamics Algorithms (2008), chapter 2.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray


# -- the two seams between floats, symbols and recorded scalars --------------------------------------------

def cos_sin(x: Any) -> tuple[Any, Any]:
    """(cos x, sin x) of a float, a sympy expression or a scalar with methods `.cos()`, `.sin()`; x in rad."""
    if isinstance(x, (float, int, np.number)):
        return math.cos(x), math.sin(x)
    if hasattr(x, "free_symbols"):
        import sympy
        return sympy.cos(x), sympy.sin(x)
    return x.cos(), x.sin()


def solve(A: Array, b: Array) -> Array:
    """Solve A x = b for a symmetric positive definite A (n, n) and b (n,) or (n, m).

    Floats go to LAPACK's Cholesky, after scaling A to a unit diagonal; objects (symbols, recorded scalars) go
    through A = L D Lᵀ without pivoting. Raises `numpy.linalg.LinAlgError` where A is not positive definite
    within rounding, so that no singular system is solved in silence.
    """
    A, b = np.asarray(A), np.asarray(b)
    if A.dtype == object or b.dtype == object:
        return _solve_ldl(A, b)
    if not (np.min(A.diagonal(), initial=1) > 0 and np.isfinite(A).all()):
        raise np.linalg.LinAlgError("matrix is not positive definite: a diagonal element is not positive and finite")
    scale = np.sqrt(A.diagonal())
    A, b = A / (scale * scale[:, None]), (b.T / scale).T
    L = np.linalg.cholesky(A)
    if np.min(L.diagonal(), initial=1.0) ** 2 < 1e-11:
        raise np.linalg.LinAlgError("matrix is singular to working precision")
    return (np.linalg.solve(A, b).T / scale).T


def _solve_ldl(A: Array, b: Array) -> Array:
    """A = L D Lᵀ, forward, diagonal and backward substitution; one line per equation."""
    n, x = len(A), [b[i] for i in range(len(A))]
    L, D = np.zeros((n, n), dtype=object), [0] * n
    for j in range(n):
        D[j] = A[j, j] - sum(L[j, k] * L[j, k] * D[k] for k in range(j))
        for i in range(j + 1, n):
            L[i, j] = (A[i, j] - sum(L[i, k] * L[j, k] * D[k] for k in range(j))) / D[j]
    for i in range(n):
        x[i] = x[i] - sum(L[i, k] * x[k] for k in range(i))
    for i in reversed(range(n)):
        x[i] = x[i] / D[i] - sum(L[k, i] * x[k] for k in range(i + 1, n))
    return np.array(x, dtype=object).reshape(b.shape)


def symmetric(A: Array) -> Array:
    """A symmetric matrix from its upper triangle, so that nothing depends on the rounding of the lower one."""
    return np.triu(A) + np.triu(A, 1).T


# -- three-dimensional rotations ---------------------------------------------------------------------------

def skew(v: Array) -> Array:
    """The matrix v× (3, 3) with (v×) u = v × u."""
    x, y, z = v
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def vee(A: Array) -> Array:
    """The vector v (3,) of the skew-symmetric part of A: v× = (A − Aᵀ)/2."""
    return np.array([A[2, 1] - A[1, 2], A[0, 2] - A[2, 0], A[1, 0] - A[0, 1]]) / 2


def rotation(axis: Array, angle: Any) -> Array:
    """R = 1 + sin θ a× + (1 − cos θ) a×a× (3, 3): turn by θ [rad] about the unit vector a (Rodrigues)."""
    c, s = cos_sin(angle)
    if isinstance(angle, (float, int)):         # a right angle comes out exact: cos(π/2) is 6e-17 in floats
        c, s = (round(x) if abs(x - round(x)) < 2e-16 else x for x in (c, s))
    a = skew(axis)
    return np.eye(3, dtype=int) + a * s + (a @ a) * (1 - c)


def rpy(r: float, p: float, y: float) -> Array:
    """R = R_z(y) R_y(p) R_x(r) (3, 3): roll, pitch, yaw [rad] about fixed axes, the order of URDF."""
    return rotation((0, 0, 1), y) @ rotation((0, 1, 0), p) @ rotation((1, 0, 0), r)


def exp_so3(w: Array) -> Array:
    """R = exp(w×) (3, 3): turn by |w| [rad] about w. Floats only."""
    return quaternion_matrix(quaternion_exp(w))


def log_so3(R: Array) -> Array:
    """The rotation vector w (3,) [rad] with exp(w×) = R and |w| ≤ π. Floats only."""
    return quaternion_log(quaternion_of(R))


def quaternion_matrix(quat: Array) -> Array:
    """R (3, 3), body to parent axes, of the unit quaternion (x, y, z, w)."""
    x, y, z, w = quat
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                     [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                     [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]])


def quaternion_of(R: Array) -> Array:
    """The unit quaternion (x, y, z, w), w ≥ 0, of a rotation matrix (Shepperd: the largest pivot). Floats only."""
    R = np.asarray(R, dtype=float)
    xyz_w = np.array([R[0, 0], R[1, 1], R[2, 2], np.trace(R)])
    k = int(np.argmax(xyz_w))
    if k == 3:
        quat = np.append([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]], 1 + xyz_w[3])
    else:
        i, j = (k + 1) % 3, (k + 2) % 3
        quat = np.empty(4)
        quat[[k, i, j, 3]] = (1 + 2 * R[k, k] - xyz_w[3], R[i, k] + R[k, i], R[j, k] + R[k, j], R[j, i] - R[i, j])
    quat = quat / np.linalg.norm(quat)
    return quat if quat[3] >= 0 else -quat


def quaternion_product(a: Array, b: Array) -> Array:
    """a ∘ b (4,): the turn b, then the turn a; the matrix of the product is R(a) R(b)."""
    (ax, ay, az, aw), (bx, by, bz, bw) = a, b
    return np.array([aw * bx + ax * bw + ay * bz - az * by, aw * by - ax * bz + ay * bw + az * bx,
                     aw * bz + ax * by - ay * bx + az * bw, aw * bw - ax * bx - ay * by - az * bz])


def quaternion_exp(w: Array) -> Array:
    """The unit quaternion of a turn by |w| [rad] about w (3,). Floats only."""
    w = np.asarray(w, dtype=float)
    angle = np.linalg.norm(w)
    return np.append(w * np.sinc(angle / (2 * np.pi)) / 2, np.cos(angle / 2))


def quaternion_log(quat: Array) -> Array:
    """The rotation vector (3,) [rad], |w| ≤ π, of a unit quaternion; q and −q give the same. Floats only."""
    quat = np.asarray(quat, dtype=float)
    vector, w = (quat[:3], quat[3]) if quat[3] >= 0 else (-quat[:3], -quat[3])
    sine = np.linalg.norm(vector)
    return vector * (2 * np.arctan2(sine, w) / sine if sine > 1e-8 else 2 / w)


# -- poses and spatial vectors -----------------------------------------------------------------------------

@dataclass(frozen=True, eq=False)
class Pose:
    """Where a frame is, seen from its parent: x_parent = R x_body + p."""

    R: Array = 1            # (3, 3), body axes to parent axes; 1 is the identity
    p: Array = (0, 0, 0)    # (3,) [m], the body's origin in the parent frame

    def __post_init__(self) -> None:
        R = np.eye(3, dtype=int) if np.ndim(self.R) == 0 and self.R == 1 else np.asarray(self.R)
        p = np.asarray(self.p)
        if R.shape != (3, 3) or p.shape != (3,):
            raise ValueError(f"Pose wants R of shape (3, 3) and p of shape (3,); got {R.shape} and {p.shape}")
        if R.dtype != object and not (np.abs(R @ R.T - np.eye(3)).max() < 1e-5 and R[0] @ skew(R[1]) @ R[2] > 0):
            raise ValueError(f"R is not a rotation: R Rᵀ should be 1 and det R = +1; got R = {R.tolist()}")
        if p.dtype != object and not np.all(np.isfinite(p)):
            raise ValueError(f"p must be finite; got {p.tolist()}")
        object.__setattr__(self, "R", R)
        object.__setattr__(self, "p", p)

    def __matmul__(self, other: "Pose") -> "Pose":
        """The pose of the other's body in this one's parent: (R₁R₂, R₁p₂ + p₁)."""
        return Pose(self.R @ other.R, self.R @ other.p + self.p)

    @property
    def inverse(self) -> "Pose":
        """The pose of the parent in the body: (Rᵀ, −Rᵀp)."""
        return Pose(self.R.T, -self.R.T @ self.p)

    @property
    def X(self) -> Array:
        """Motion transform (6, 6), parent to body: [[Rᵀ, 0], [−Rᵀ p×, Rᵀ]]. Xᵀ carries forces back to the parent."""
        return blocks(self.R.T, 0, -self.R.T @ skew(self.p), self.R.T)


def blocks(A: Array, B: Array, C: Array, D: Array) -> Array:
    """The matrix [[A, B], [C, D]] (6, 6) of four blocks (3, 3), or 0."""
    X = np.zeros((6, 6), dtype=np.result_type(A, B, C, D))
    X[:3, :3], X[:3, 3:], X[3:, :3], X[3:, 3:] = A, B, C, D
    return X


def crm(v: Array) -> Array:
    """v× (6, 6), the cross product of motion vectors: [[ω×, 0], [v_O×, ω×]]."""
    w, vo = skew(v[:3]), skew(v[3:])
    return blocks(w, 0, vo, w)


def crf(v: Array) -> Array:
    """v×* (6, 6), a motion vector on forces: [[ω×, v_O×], [0, ω×]] = −(v×)ᵀ."""
    return -crm(v).T
