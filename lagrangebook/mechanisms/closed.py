"""Closed mechanisms: trees with loops."""

from dataclasses import replace
from typing import Any

import numpy as np

from ..constraints import frame_loop, point_loop
from ..inertia import Inertia, box, point_mass, rod
from ..model import GROUND, Body, Joint, Model
from ..spatial import Array, Pose
from .mechanism import Mechanism, down, flat

XY = np.eye(3, dtype=int)[:2]


def _bar(name: str, parent: int, at: tuple, length: Any, mass: Any) -> Body:
    """A uniform rod along x on a hinge."""
    return Body(name, parent, Joint("revolute"), Pose(p=np.array([*at, 0])), rod(mass, length))


def five_bar(L: tuple = (0.25, 0.3, 0.25, 0.3), B: Any = 0.2, m: tuple = (0.8, 0.6, 0.8, 0.6), g: Any = 9.81) -> Mechanism:
    """Two arms of two uniform rods each, from A = (0, 0) and (B, 0), pinned at their tips; motors at A and B.

    q = (q1, q2, q3, q4): left arm, right arm, the distal angles relative. λ is the force on the left tip.
    """
    model = Model((_bar("left proximal", GROUND, (0, 0), L[0], m[0]), _bar("left distal", 0, (L[0], 0), L[1], m[1]),
                   _bar("right proximal", GROUND, (B, 0), L[2], m[2]), _bar("right distal", 2, (L[2], 0), L[3], m[3])),
                  down(g), "five-bar")
    return Mechanism(model, (point_loop(model, 1, (L[1], 0, 0), 3, (L[3], 0, 0), XY),), actuated=(0, 2))


def four_bar(crank: Any = 0.2, coupler: Any = 0.5, rocker: Any = 0.4, ground: Any = 0.55, m: tuple = (0.6, 1.3, 1.0),
             g: Any = 9.81) -> Mechanism:
    """Crank and coupler from the origin, rocker from (ground, 0), uniform rods; q = crank, coupler relative, rocker."""
    model = Model((_bar("crank", GROUND, (0, 0), crank, m[0]), _bar("coupler", 0, (crank, 0), coupler, m[1]),
                   _bar("rocker", GROUND, (ground, 0), rocker, m[2])), down(g), "four-bar")
    return Mechanism(model, (point_loop(model, 1, (coupler, 0, 0), 2, (rocker, 0, 0), XY),), actuated=(0,))


def parallelogram(l: Any = 0.3, base: Any = 0.5, m: tuple = (0.7, 1.2, 0.7), g: Any = 9.81) -> Mechanism:
    """A four-bar with equal opposite sides: flat, at q = 0 and q = (π, −π, π), its branch crosses the antiparallelogram's."""
    four = four_bar(l, base, l, base, m, g)
    return replace(four, model=replace(four.model, name="parallelogram"))


def slider_crank(crank: Any = 0.1, connecting: Any = 0.3, offset: Any = 0, m: tuple = (0.5, 0.4, 0.7), g: Any = 9.81) -> Mechanism:
    """Crank from the origin, connecting rod, and a slider on y = offset; q = crank, rod relative, slider's x."""
    slider = Body("slider", GROUND, Joint("prismatic", (1, 0, 0)), Pose(p=np.array([0, offset, 0])), point_mass(m[2]))
    model = Model((_bar("crank", GROUND, (0, 0), crank, m[0]), _bar("rod", 0, (crank, 0), connecting, m[1]), slider),
                  down(g), "slider-crank")
    return Mechanism(model, (point_loop(model, 1, (connecting, 0, 0), 2, (0, 0, 0), XY),), actuated=(0,))


def andrews() -> Mechanism:
    """Andrews' squeezing mechanism (Schiehlen, Multibody Systems Handbook, 1990), without gravity; forces: `andrews_forces`.

    Seven bodies K1 ... K7 and three loops that meet in one point. q = (β, Θ, γ, δ, Φ, ε, Ω), in the order
    K1, K2, K3, K5, K4, K7, K6.
    """
    def body(name: str, parent: int, at: tuple, m: float, com: tuple, I: float) -> Body:
        return Body(name, parent, Joint("revolute"), Pose(p=np.array([*at, 0])), Inertia(m, np.array([*com, 0]), flat(I)))
    A, B = (-0.06934, -0.00227), (-0.03635, 0.03273)
    model = Model((body("K1", GROUND, (0, 0), 0.04325, (0.00092, 0), 2.194e-6),
                   body("K2", 0, (0.007, 0), 0.00365, (-0.0115, 0), 4.41e-7),
                   body("K3", GROUND, B, 0.02373, (0.01043, -0.01874), 5.255e-6),
                   body("K5", GROUND, A, 0.0705, (0.02308, 0.00916), 1.169e-5),
                   body("K4", 3, (0.04, 0), 0.00706, (0, -0.00579), 5.667e-7),
                   body("K7", GROUND, A, 0.05498, (-0.00449, -0.01228), 1.912e-5),
                   body("K6", 5, (0, -0.04), 0.00706, (0.00579, 0), 5.667e-7)), np.zeros(3), "Andrews' mechanism")
    tip = (-0.028, 0, 0)
    return Mechanism(model, tuple(point_loop(model, 1, tip, other, end, XY) for other, end in
                                  ((2, (0, -0.035, 0)), (4, (0, -0.02, 0)), (6, (0.02, 0, 0)))), actuated=(0,))


def andrews_forces(q: Array, torque: float = 0.033, stiffness: float = 4530.0, rest: float = 0.07785) -> Array:
    """τ (7,) of Andrews' mechanism: the motor on K1, and the spring between K3's point D and the fixed point C."""
    c, s = np.cos(q[2]), np.sin(q[2])
    arm = np.array([c * 0.02 + s * 0.018, s * 0.02 - c * 0.018])           # from B to D
    reach = np.array([-0.03635, 0.03273]) + arm - np.array([0.014, 0.072])
    force = -stiffness * (1 - rest / np.linalg.norm(reach)) * reach
    return np.array([torque, 0, arm[0] * force[1] - arm[1] * force[0], 0, 0, 0, 0])


def bricard(l: Any = 1, m: Any = 1, section: Any = 0.1, g: Any = 9.81) -> Mechanism:
    """Bricard's mechanism (IFToMM benchmark A04): five square rods and six hinges, movable against the count of rows.

    At q = 0 the rods follow the edges of a cube. The closing hinge gives five rows, of which four are independent.
    """
    slender, thick = m * (l**2 + section**2) / 12, m * section**2 / 6
    bodies, at = [], np.zeros(3, dtype=int)
    for i, (axis, along) in enumerate((((0, 1, 0), (1, 0, 0)), ((0, 0, 1), (0, -1, 0)), ((1, 0, 0), (0, 0, 1)),
                                       ((0, 1, 0), (-1, 0, 0)), ((0, 0, 1), (0, 1, 0)))):
        edge = np.array(along)
        about_com = slender * np.eye(3, dtype=int) - (slender - thick) * np.diag(abs(edge))
        bodies.append(Body(f"rod {i + 1}", i - 1, Joint("revolute", axis), Pose(p=at), Inertia(m, edge * l / 2, about_com)))
        at = edge * l
    model = Model(tuple(bodies), down(g), "Bricard's mechanism")
    hinge = frame_loop(model, 4, (0, l, 0), GROUND, (0, 0, l), pairs=[((1, 0, 0), (0, 1, 0)), ((1, 0, 0), (0, 0, 1))])
    return Mechanism(model, (hinge,), actuated=())


def table(a: Any = 0.6, b: Any = 0.4, height: Any = 0.7, m: Any = 20.0, load: Any = 10.0, load_at: tuple = (0.3, -0.1),
          g: Any = 9.81) -> Mechanism:
    """A table on four legs at (±a, ±b), counted from the first quadrant, with a load on its top.

    The body's origin is on the floor between the feet. Each foot is one vertical row: four rows of rank three, λ the
    forces of the floor on the legs.
    """
    plate = replace(box(m, 2 * a, 2 * b, 0), com=np.array([0, 0, height]))
    top = Body("table", GROUND, Joint("free"), Pose(), plate, payload=point_mass(load, (*load_at, height)))
    model = Model((top,), np.array([0, 0, -g]), "table")
    feet = ((a, b), (-a, b), (-a, -b), (a, -b))
    return Mechanism(model, tuple(point_loop(model, 0, (*foot, 0), GROUND, (*foot, 0), [[0, 0, 1]]) for foot in feet))
