"""Legs and walkers of segments, falling along −z."""

from dataclasses import replace
from typing import Any

import numpy as np

from ..inertia import Inertia, box
from ..model import GROUND, Body, Joint, Model
from ..spatial import Pose


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
