"""The ten inertial parameters of a rigid body, and bodies of simple shape."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .spatial import Array, Pose, skew


@dataclass(frozen=True, eq=False)
class Inertia:
    """Mass, centre of mass and inertia about the centre of mass, in the axes of the body frame.

    Numbers must be finite, the mass not negative and the tensor symmetric (ValueError otherwise); whether
    such a body can exist is another question: `is_physical`. Symbols pass unchecked.
    """

    mass: Any           # m ≥ 0 [kg]
    com: Array          # c (3,) [m], in the body frame
    about_com: Array    # I_C (3, 3) [kg m²], body axes, about the centre of mass

    def __post_init__(self) -> None:
        com, about_com = np.asarray(self.com), np.asarray(self.about_com)
        if com.shape != (3,) or about_com.shape != (3, 3):
            raise ValueError(f"Inertia wants com of shape (3,) and about_com of shape (3, 3); "
                             f"got {com.shape} and {about_com.shape}")
        if np.ndim(self.mass):
            raise ValueError(f"mass must be one number; got shape {np.shape(self.mass)}")
        for name, value in (("mass", np.asarray(self.mass)), ("com", com), ("about_com", about_com)):
            if value.dtype != object and not np.all(np.isfinite(value)):
                raise ValueError(f"{name} must be finite; got {value.tolist()}")
        if np.asarray(self.mass).dtype != object and self.mass < 0:
            raise ValueError(f"mass must not be negative; got {self.mass}")
        if about_com.dtype != object and not np.allclose(about_com, about_com.T, rtol=0,
                                                         atol=1e-9 * np.max(np.abs(about_com))):
            raise ValueError(f"about_com must be symmetric; got {about_com.tolist()}")
        object.__setattr__(self, "com", com)
        object.__setattr__(self, "about_com", about_com)

    @property
    def about_origin(self) -> Array:
        """I_O = I_C + m c× (c×)ᵀ (3, 3): the parallel-axis theorem, about the body frame's origin."""
        return self.about_com + self.mass * skew(self.com) @ skew(self.com).T

    @property
    def matrix(self) -> Array:
        """Spatial inertia (6, 6) about the body frame's origin: [[I_O, m c×], [m (c×)ᵀ, m 1]]."""
        mc = self.mass * skew(self.com)
        return np.block([[self.about_origin, mc], [mc.T, self.mass * np.eye(3, dtype=int)]])

    @property
    def parameters(self) -> Array:
        """π (10,) = m, m c, I_xx, I_xy, I_yy, I_xz, I_yz, I_zz, the tensor about the body frame's origin."""
        I = self.about_origin
        return np.array([self.mass, *(self.mass * self.com), I[0, 0], I[0, 1], I[1, 1], I[0, 2], I[1, 2], I[2, 2]])

    @classmethod
    def from_parameters(cls, pi: Array) -> "Inertia":
        """The body of ten parameters π; without mass there must be no first moment either (ValueError)."""
        m, mx, my, mz, xx, xy, yy, xz, yz, zz = np.asarray(pi)
        about_origin = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        if m == 0:
            if any(mc != 0 for mc in (mx, my, mz)):
                raise ValueError(f"pi has no mass but the first moment ({mx}, {my}, {mz}): no body has that")
            return cls(m, np.zeros(3, dtype=int), about_origin)
        com = np.array([mx, my, mz]) / m
        return cls(m, com, about_origin - m * skew(com) @ skew(com).T)

    def __add__(self, other: "Inertia") -> "Inertia":
        """The two bodies welded together, both given in this frame."""
        return Inertia.from_parameters(self.parameters + other.parameters)

    def moved(self, pose: Pose) -> "Inertia":
        """The same body seen from the parent of `pose`: c' = R c + p, I_C' = R I_C Rᵀ."""
        return Inertia(self.mass, pose.R @ self.com + pose.p, pose.R @ self.about_com @ pose.R.T)

    @property
    def is_physical(self) -> bool:
        """Can a body have these parameters? m ≥ 0 and principal moments that keep the triangle inequality."""
        return self._fault() is None

    def require_physical(self, name: str = "inertia") -> None:
        """Raise ValueError, naming the body and the broken inequality, where no body has these parameters."""
        fault = self._fault()
        if fault is not None:
            raise ValueError(f"{name} is impossible: {fault}")

    def _fault(self) -> str | None:
        """With Σ = ½ tr(I) 1 − I = ∫ r rᵀ dm, a body exists if and only if m ≥ 0 and Σ ⪰ 0 (m = 0: I = 0)."""
        I = np.asarray(self.about_com, dtype=float)
        size = np.trace(np.abs(I))
        if self.mass == 0 and size > 0:
            return "a tensor without mass"
        moments = np.linalg.eigvalsh(I)
        slack = moments[0] + moments[1] - moments[2]
        if moments[0] < -1e-9 * size:
            return f"a principal moment is negative ({moments[0]:.4g})"
        if slack < -1e-9 * size:
            return (f"principal moments {moments[0]:.4g}, {moments[1]:.4g}, {moments[2]:.4g} break the triangle "
                    f"inequality A + B ≥ C")
        return None


# -- bodies of simple shape, centred on their own frame unless said ----------------------------------------

def point_mass(m: Any, at: Array = (0, 0, 0)) -> Inertia:
    """All the mass in one point `at` (3,)."""
    return Inertia(m, np.asarray(at), np.zeros((3, 3), dtype=int))


def rod(m: Any, length: Any, axis: Array = (1, 0, 0)) -> Inertia:
    """Thin uniform rod from the origin along the unit vector `axis`: com at l/2, I_C = m l²/12 (1 − a aᵀ)."""
    a = np.asarray(axis)
    return Inertia(m, a * length / 2, m * length**2 * (np.eye(3, dtype=int) - np.outer(a, a)) / 12)


def box(m: Any, x: Any, y: Any, z: Any) -> Inertia:
    """Uniform box with sides x, y, z: I = m/12 diag(y² + z², x² + z², x² + y²)."""
    return Inertia(m, np.zeros(3, dtype=int), np.diag([y**2 + z**2, x**2 + z**2, x**2 + y**2]) * m / 12)


def cylinder(m: Any, radius: Any, height: Any) -> Inertia:
    """Uniform cylinder about z: I_zz = m r²/2, I_xx = I_yy = m (3 r² + h²)/12."""
    across = m * (3 * radius**2 + height**2) / 12
    return Inertia(m, np.zeros(3, dtype=int), np.diag([across, across, m * radius**2 / 2]))


def sphere(m: Any, radius: Any) -> Inertia:
    """Uniform ball: I = 2/5 m r² 1."""
    return Inertia(m, np.zeros(3, dtype=int), np.diag([2 * m * radius**2 / 5] * 3))
