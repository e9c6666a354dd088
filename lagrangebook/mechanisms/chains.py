"""Mechanisms of one and two degrees of freedom, and pendulums: planar, in x–y, falling along −y."""

from typing import Any

import numpy as np

from ..inertia import Inertia, point_mass
from ..model import GROUND, Body, Joint, Model
from ..spatial import Pose
from .mechanism import down, flat


def vertical_mass(m: Any = 2.0, g: Any = 9.81) -> Model:
    """A mass on a vertical slide; q [m] upward."""
    return Model((Body("mass", GROUND, Joint("prismatic", (0, 1, 0)), Pose(), point_mass(m)),), down(g), "vertical mass")


def rp_arm(m1: Any = 2.0, m2: Any = 1.5, l1: Any = 0.3, J1: Any = 0.05, J2: Any = 0.02, g: Any = 9.81) -> Model:
    """The arm that turns and extends: q = (θ from the horizontal, d outward).

    Both centres of mass lie on the sliding axis, at l1 (fixed in link 1) and at d; J1, J2 about them, normal to
    the plane.
    """
    return Model((Body("turret", GROUND, Joint("revolute"), Pose(), Inertia(m1, np.array([l1, 0, 0]), flat(J1))),
                  Body("slider", 0, Joint("prismatic", (1, 0, 0)), Pose(), Inertia(m2, np.zeros(3, dtype=int), flat(J2)))),
                 down(g), "RP arm")


def two_link(l1: Any = 0.5, l2: Any = 0.4, m1: Any = 3.0, m2: Any = 2.0, lc1: Any = None, lc2: Any = None, I1: Any = None,
             I2: Any = None, g: Any = 9.81) -> Model:
    """Planar 2R arm: q1 from the horizontal, q2 relative. Uniform rods unless lc (to the com) and I (about it) say otherwise."""
    lc1, lc2 = l1 / 2 if lc1 is None else lc1, l2 / 2 if lc2 is None else lc2
    I1, I2 = m1 * l1**2 / 12 if I1 is None else I1, m2 * l2**2 / 12 if I2 is None else I2
    return Model((Body("upper arm", GROUND, Joint("revolute"), Pose(), Inertia(m1, np.array([lc1, 0, 0]), flat(I1))),
                  Body("forearm", 0, Joint("revolute"), Pose(p=np.array([l1, 0, 0])),
                       Inertia(m2, np.array([lc2, 0, 0]), flat(I2)))), down(g), "two-link arm")


def pendulum(n: int = 1, m: Any = 1.0, l: Any = 1.0, g: Any = 9.81) -> Model:
    """n point masses m on massless rods of length l in the plane; relative angles, q = 0 hangs down."""
    return Model(tuple(Body(f"rod {i + 1}", i - 1, Joint("revolute"), Pose(p=np.array([0, -l if i else 0, 0])),
                            point_mass(m, (0, -l, 0))) for i in range(n)), down(g), f"pendulum of {n}")


def cart_pole(m_cart: Any = 1.0, m_pole: Any = 0.2, l: Any = 0.5, g: Any = 9.81) -> Model:
    """A cart on a rail along x with a point mass on a massless pole: q = (x, angle), the pole hangs down at angle 0."""
    return Model((Body("cart", GROUND, Joint("prismatic", (1, 0, 0)), Pose(), point_mass(m_cart)),
                  Body("pole", 0, Joint("revolute"), Pose(), point_mass(m_pole, (0, -l, 0)))), down(g), "cart-pole")
