"""Industrial arms, falling along −z."""

from dataclasses import replace

import numpy as np

from ..inertia import Inertia, cylinder
from ..model import Body, DHRow, Joint, Model, from_dh
from ..spatial import Pose


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
