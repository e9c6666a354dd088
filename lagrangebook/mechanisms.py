"""The book's cast: mechanisms with published or stated parameters as keyword defaults; symbols are accepted.

Planar mechanisms lie in x–y, turn about +z and fall along −y; the others fall along −z.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .constraints import Together, constrained, frame_loop, point_loop
from .inertia import Inertia, box, cylinder, point_mass, rod
from .model import GROUND, Body, DHRow, Joint, Model, from_dh
from .spatial import Array, Pose
from .standard_form import Dynamics, Friction, of_model


@dataclass(frozen=True, eq=False)
class Mechanism:
    """A tree of bodies closed by loops, touching by contacts, with motors at some of its velocities."""

    model: Model
    loops: tuple = ()
    contacts: tuple = ()
    actuated: tuple[int, ...] | None = None     # indices into q̇; None: all

    @property
    def B(self) -> Array:
        """τ = B u (n, number of motors)."""
        columns = range(self.model.n) if self.actuated is None else self.actuated
        return np.eye(self.model.n)[:, list(columns)]

    @property
    def constraint(self) -> Together:
        """All loops as one constraint: φ, J, γ."""
        return Together(self.loops)

    def dynamics(self, friction: Friction | None = None) -> Dynamics:
        """The tree with its loops closed, for `simulate`; contacts are left to `contact`."""
        tree = of_model(self.model, friction)
        return constrained(tree, *self.loops) if self.loops else tree


def _flat(J: Any) -> Array:
    """Inertia of a thin body along x whose moment about z is J: diag(0, J, J)."""
    return np.diag([0, J, J])


def _down(g: Any) -> Array:
    return np.array([0, -g, 0])


# -- one and two degrees of freedom ------------------------------------------------------------------------

def vertical_mass(m: Any = 2.0, g: Any = 9.81) -> Model:
    """A mass on a vertical slide; q [m] upward."""
    return Model((Body("mass", GROUND, Joint("prismatic", (0, 1, 0)), Pose(), point_mass(m)),), _down(g), "vertical mass")


def rp_arm(m1: Any = 2.0, m2: Any = 1.5, l1: Any = 0.3, J1: Any = 0.05, J2: Any = 0.02, g: Any = 9.81) -> Model:
    """The arm that turns and extends: q = (θ from the horizontal, d outward).

    Both centres of mass lie on the sliding axis, at l1 (fixed in link 1) and at d; J1, J2 about them, normal to
    the plane.
    """
    return Model((Body("turret", GROUND, Joint("revolute"), Pose(), Inertia(m1, np.array([l1, 0, 0]), _flat(J1))),
                  Body("slider", 0, Joint("prismatic", (1, 0, 0)), Pose(), Inertia(m2, np.zeros(3, dtype=int), _flat(J2)))),
                 _down(g), "RP arm")


def two_link(l1: Any = 0.5, l2: Any = 0.4, m1: Any = 3.0, m2: Any = 2.0, lc1: Any = None, lc2: Any = None, I1: Any = None,
             I2: Any = None, g: Any = 9.81) -> Model:
    """Planar 2R arm: q1 from the horizontal, q2 relative. Uniform rods unless lc (to the com) and I (about it) say otherwise."""
    lc1, lc2 = l1 / 2 if lc1 is None else lc1, l2 / 2 if lc2 is None else lc2
    I1, I2 = m1 * l1**2 / 12 if I1 is None else I1, m2 * l2**2 / 12 if I2 is None else I2
    return Model((Body("upper arm", GROUND, Joint("revolute"), Pose(), Inertia(m1, np.array([lc1, 0, 0]), _flat(I1))),
                  Body("forearm", 0, Joint("revolute"), Pose(p=np.array([l1, 0, 0])),
                       Inertia(m2, np.array([lc2, 0, 0]), _flat(I2)))), _down(g), "two-link arm")


def pendulum(n: int = 1, m: Any = 1.0, l: Any = 1.0, g: Any = 9.81) -> Model:
    """n point masses m on massless rods of length l in the plane; relative angles, q = 0 hangs down."""
    return Model(tuple(Body(f"rod {i + 1}", i - 1, Joint("revolute"), Pose(p=np.array([0, -l if i else 0, 0])),
                            point_mass(m, (0, -l, 0))) for i in range(n)), _down(g), f"pendulum of {n}")


def cart_pole(m_cart: Any = 1.0, m_pole: Any = 0.2, l: Any = 0.5, g: Any = 9.81) -> Model:
    """A cart on a rail along x with a point mass on a massless pole: q = (x, angle), the pole hangs down at angle 0."""
    return Model((Body("cart", GROUND, Joint("prismatic", (1, 0, 0)), Pose(), point_mass(m_cart)),
                  Body("pole", 0, Joint("revolute"), Pose(), point_mass(m_pole, (0, -l, 0)))), _down(g), "cart-pole")


# -- closed mechanisms -------------------------------------------------------------------------------------

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
                  _down(g), "five-bar")
    return Mechanism(model, (point_loop(model, 1, (L[1], 0, 0), 3, (L[3], 0, 0), XY),), actuated=(0, 2))


def four_bar(crank: Any = 0.2, coupler: Any = 0.5, rocker: Any = 0.4, ground: Any = 0.55, m: tuple = (0.6, 1.3, 1.0),
             g: Any = 9.81) -> Mechanism:
    """Crank and coupler from the origin, rocker from (ground, 0), uniform rods; q = crank, coupler relative, rocker."""
    model = Model((_bar("crank", GROUND, (0, 0), crank, m[0]), _bar("coupler", 0, (crank, 0), coupler, m[1]),
                   _bar("rocker", GROUND, (ground, 0), rocker, m[2])), _down(g), "four-bar")
    return Mechanism(model, (point_loop(model, 1, (coupler, 0, 0), 2, (rocker, 0, 0), XY),), actuated=(0,))


def parallelogram(l: Any = 0.3, base: Any = 0.5, m: tuple = (0.7, 1.2, 0.7), g: Any = 9.81) -> Mechanism:
    """A four-bar with equal opposite sides: flat, at q = 0 and q = (π, −π, π), its branch crosses the antiparallelogram's."""
    four = four_bar(l, base, l, base, m, g)
    return replace(four, model=replace(four.model, name="parallelogram"))


def slider_crank(crank: Any = 0.1, connecting: Any = 0.3, offset: Any = 0, m: tuple = (0.5, 0.4, 0.7), g: Any = 9.81) -> Mechanism:
    """Crank from the origin, connecting rod, and a slider on y = offset; q = crank, rod relative, slider's x."""
    slider = Body("slider", GROUND, Joint("prismatic", (1, 0, 0)), Pose(p=np.array([0, offset, 0])), point_mass(m[2]))
    model = Model((_bar("crank", GROUND, (0, 0), crank, m[0]), _bar("rod", 0, (crank, 0), connecting, m[1]), slider),
                  _down(g), "slider-crank")
    return Mechanism(model, (point_loop(model, 1, (connecting, 0, 0), 2, (0, 0, 0), XY),), actuated=(0,))


def andrews() -> Mechanism:
    """Andrews' squeezing mechanism (Schiehlen, Multibody Systems Handbook, 1990), without gravity; forces: `andrews_forces`.

    Seven bodies K1 ... K7 and three loops that meet in one point. q = (β, Θ, γ, δ, Φ, ε, Ω), in the order
    K1, K2, K3, K5, K4, K7, K6.
    """
    def body(name: str, parent: int, at: tuple, m: float, com: tuple, I: float) -> Body:
        return Body(name, parent, Joint("revolute"), Pose(p=np.array([*at, 0])), Inertia(m, np.array([*com, 0]), _flat(I)))
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
    model = Model(tuple(bodies), _down(g), "Bricard's mechanism")
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


# -- industrial arms ---------------------------------------------------------------------------------------

def puma560(rotors: bool = False) -> Model:
    """The Puma 560 with the parameters collected by Corke and Armstrong-Hélouvry (1994), as in Corke's toolbox.

    Standard DH, inertias in the distal link frames. As printed, links 1 and 3 are impossible bodies: link 1 has no mass
    but a moment about one axis alone, and link 3's moments .066, .086, .0125 break the triangle inequality. They are
    kept, since everyone compares with them. rotors=True adds the reflected rotor inertias G² J_m.
    """
    a, d, alpha = (0, 0.4318, 0.0203, 0, 0, 0), (0.672, 0, 0.15005, 0.4318, 0, 0), np.pi * np.array([0.5, 0, -0.5, 0.5, -0.5, 0])
    mass = (0, 17.4, 4.8, 0.82, 0.34, 0.09)
    com = ((0, 0, 0), (-0.3638, 0.006, 0.2275), (-0.0203, -0.0141, 0.07), (0, 0.019, 0), (0, 0, 0), (0, 0, 0.032))
    moments = ((0, 0.35, 0), (0.13, 0.524, 0.539), (0.066, 0.086, 0.0125), (0.0018, 0.0013, 0.0018),
               (0.0003, 0.0004, 0.0003), (0.00015, 0.00015, 0.00004))
    gear = np.array([-62.6111, 107.815, -53.7063, 76.0364, 71.923, 76.686])
    motor = np.array([200e-6, 200e-6, 200e-6, 33e-6, 33e-6, 33e-6])
    reflected = gear**2 * motor if rotors else np.zeros(6)
    rows = [DHRow(a[i], alpha[i], d[i], 0, Inertia(mass[i], np.array(com[i]), np.diag(moments[i])), rotor=float(reflected[i]))
            for i in range(6)]
    return from_dh(rows, "standard", name="Puma 560")


def ur6() -> Model:
    """A six-axis arm of the kind of the UR5e: rounded lengths and masses as public models of it have them."""
    quarter = np.array([[0, 0, 1], [0, 1, 0], [-1, 0, 0]])
    turn = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]])
    y, z = (0, 1, 0), (0, 0, 1)
    rows = (  # name, axis, placement, mass, com, moments about it
        ("shoulder", z, Pose(turn, (0, 0, 0.163)), 3.7, (0, 0, 0), (0.0102675, 0.0102675, 0.00666)),
        ("upper arm", y, Pose(quarter, (0, 0.138, 0)), 8.393, (0, 0, 0.2125), (0.133886, 0.133886, 0.0151074)),
        ("forearm", y, Pose(p=(0, -0.131, 0.425)), 2.275, (0, 0, 0.196), (0.0311796, 0.0311796, 0.004095)),
        ("wrist 1", y, Pose(quarter, (0, 0, 0.392)), 1.219, (0, 0.127, 0), (0.0025599, 0.0025599, 0.0021942)),
        ("wrist 2", z, Pose(p=(0, 0.127, 0)), 1.219, (0, 0, 0.1), (0.0025599, 0.0025599, 0.0021942)),
        ("wrist 3", y, Pose(p=(0, 0, 0.1)), 0.1889, (0, 0.0771683, 0), (9.90863e-05, 1.32134e-04, 9.90863e-05)))
    return Model(tuple(Body(name, i - 1, Joint("revolute", axis), placement, Inertia(mass, np.array(com), np.diag(moments)))
                       for i, (name, axis, placement, mass, com, moments) in enumerate(rows)), name="six-axis arm")


def arm7() -> Model:
    """A seven-axis arm with the lengths of a Franka Panda; its links are uniform cylinders of stated mass."""
    half = np.pi / 2
    rows = (  # modified DH: a, alpha, d, mass, com
        (0, 0, 0.333, 4.0, (0, 0, -0.10)), (0, -half, 0, 4.0, (0, -0.10, 0)), (0, half, 0.316, 3.0, (0.04, 0, -0.08)),
        (0.0825, half, 0, 3.0, (-0.04, 0.08, 0)), (-0.0825, -half, 0.384, 3.0, (0, 0.02, -0.15)),
        (0, half, 0, 1.5, (0.05, 0, 0)), (0.088, half, 0.107, 0.7, (0, 0, 0.04)))
    return from_dh([DHRow(a, alpha, d, 0, replace(cylinder(m, 0.06, 0.24), com=np.array(com))) for a, alpha, d, m, com in rows],
                   "modified", name="seven-axis arm")


# -- legs --------------------------------------------------------------------------------------------------

def stance_leg(L_shank: Any = 0.42, L_thigh: Any = 0.45, m_shank_foot: Any = 5, m_thigh: Any = 8, m_rest: Any = 47,
               shank_com_from_knee: Any = 0.2, thigh_com_from_hip: Any = 0.2, rest_com_above_hip: Any = 0.3,
               I_shank_foot: Any = 0.152635392, I_thigh: Any = 0.15, I_rest: Any = 2.5, g: Any = 9.8) -> Model:
    """A planar leg standing on its ankle and carrying the rest of the body: x forward, z up, turning about +y.

    q = (lean of the shank from the vertical, thigh against shank, trunk against thigh), forward positive. Knee flexion is
    −q[1]; the knee's joint force is its extensor torque. The foot is lumped with the shank.
    """
    def segment(name: str, parent: int, at: Any, m: Any, com: Any, I: Any) -> Body:
        return Body(name, parent, Joint("revolute", (0, 1, 0)), Pose(p=np.array([0, 0, at])),
                    Inertia(m, np.array([0, 0, com]), np.diag([I, I, 0])))
    return Model((segment("shank", GROUND, 0, m_shank_foot, L_shank - shank_com_from_knee, I_shank_foot),
                  segment("thigh", 0, L_shank, m_thigh, L_thigh - thigh_com_from_hip, I_thigh),
                  segment("trunk", 1, L_thigh, m_rest, rest_com_above_hip, I_rest)), np.array([0, 0, -g]), "stance leg")


def biped(arms: bool = False) -> Model:
    """A small humanoid with a free trunk and two legs of six joints; arms=True adds shoulder and elbow pitch on each side.

    Segments are uniform boxes; masses and lengths are those of an adult of 57.8 kg with the head, 65.8 kg with the arms.
    x forward, y left, z up. Each leg: hip yaw, roll, pitch, knee, ankle pitch, roll.
    """
    X, Y, Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)

    def boxed(m: float, sides: tuple, com: tuple) -> Inertia:
        return replace(box(m, *sides), com=np.array(com))

    bodies = [Body("trunk", GROUND, Joint("free"), Pose(), boxed(26.0, (0.20, 0.30, 0.50), (0, 0, 0.22))),
              Body("head", 0, Joint("fixed"), Pose(p=(0, 0, 0.55)), boxed(4.0, (0.18, 0.15, 0.22), (0, 0, 0.09)))]

    def limb(side: str, segments: tuple) -> None:
        parent = 0
        for name, axis, at, m, sides, com in segments:
            bodies.append(Body(f"{side} {name}", parent, Joint("revolute", axis), Pose(p=at), boxed(m, sides, com)))
            parent = len(bodies) - 1

    for side, y in (("left", 0.1), ("right", -0.1)):
        limb(side, (("hip yaw", Z, (0, y, -0.05), 1.1, (0.10, 0.10, 0.08), (0, 0, -0.02)),
                    ("hip roll", X, (0, 0, -0.06), 1.4, (0.10, 0.10, 0.10), (0, 0, 0)),
                    ("thigh", Y, (0, 0, 0), 6.5, (0.13, 0.13, 0.38), (0, 0, -0.18)),
                    ("shank", Y, (0, 0, -0.40), 3.2, (0.10, 0.10, 0.36), (0, 0, -0.175)),
                    ("ankle", Y, (0, 0, -0.39), 0.6, (0.08, 0.08, 0.06), (0, 0, 0)),
                    ("foot", X, (0, 0, 0), 1.1, (0.24, 0.10, 0.04), (0.045, 0, -0.055))))
    if arms:
        for side, y in (("left", 0.22), ("right", -0.22)):
            limb(side, (("upper arm", Y, (0, y, 0.42), 2.4, (0.09, 0.09, 0.28), (0, 0, -0.14)),
                        ("forearm", Y, (0, 0, -0.29), 1.6, (0.07, 0.07, 0.26), (0, 0, -0.12))))
    return Model(tuple(bodies), name="biped with arms" if arms else "biped")
