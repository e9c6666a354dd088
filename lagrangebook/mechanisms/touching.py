"""Mechanisms that touch: balls, blocks, a rod, a pile, a walker. `Mechanism.contacts` goes to `simulate`."""

import numpy as np

from ..contact.balls import Balls
from ..contact.gaps import contacts, point_plane, sphere_plane
from ..inertia import Inertia, box, point_mass, sphere
from ..model import GROUND, Body, Joint, Model
from ..spatial import Array, Pose
from .chains import vertical_mass
from .mechanism import Mechanism, down

UP = (0, 1, 0)


def _loose(name: str, m: float, J: float, g: float) -> Model:
    """A body that moves freely in x–y: q = (x, y, angle) of its centre of mass, J about it."""
    body = Body(name, GROUND, Joint("planar"), Pose(), Inertia(m, np.zeros(3), np.diag([J / 2, J / 2, J])))
    return Model((body,), down(g), name)


def bouncing_ball(m: float = 1.0, e: float = 0.8, g: float = 9.81) -> Mechanism:
    """A point mass above a floor, q its height [m]; e of the floor."""
    model = vertical_mass(m, g)
    return Mechanism(model, contacts=contacts(point_plane(model, 0, (0, 0, 0), UP, e=e)), actuated=())


def ball(m: float = 1.0, R: float = 0.1, share: float = 0.4, mu: float = 0.2, e: float = 0.8,
         g: float = 9.81) -> Mechanism:
    """A ball with spin in the plane above a rough floor: q = (x, y, angle) of its centre, moment of inertia
    share m R²."""
    model = _loose("ball", m, share * m * R**2, g)
    return Mechanism(model, contacts=contacts(sphere_plane(model, 0, (0, 0, 0), R, UP, mu=mu, e=e)),
                     actuated=())


def rocking_block(b: float = 0.25, h: float = 0.5, m: float = 1.0, mu: float = 1.0, e: float = 0.0,
                  g: float = 9.81) -> Mechanism:
    """Housner's block of half-width b and half-height h on its lower corners, left one first.

    q = (x, y, angle) of its centre. Housner, The behavior of inverted pendulum structures during
    earthquakes (1963).
    """
    model = _loose("block", m, m * (b**2 + h**2) / 3, g)
    corners = [point_plane(model, 0, (side * b, -h, 0), UP, mu=mu, e=e) for side in (-1, 1)]
    return Mechanism(model, contacts=contacts(corners), actuated=())


def rocking_state(b: float, h: float, angle: float) -> Array:
    """q (3,) of the rocking block tilted by the angle [rad], the lower corner at (∓b, 0): the left one for
    angle ≥ 0."""
    side = -1.0 if angle >= 0 else 1.0
    c, s = np.cos(angle), np.sin(angle)
    return np.array([side * b - side * c * b - s * h, -side * s * b + c * h, angle])


def sliding_rod(mu: float = 1.4, l: float = 1.0, m: float = 1.0, e: float = 0.0,
                g: float = 9.81) -> Mechanism:
    """Painlevé's rod: uniform, of half-length l, its lower end on a floor; q = (x, y, angle from the floor)
    of its centre."""
    model = _loose("rod", m, m * l**2 / 3, g)
    return Mechanism(model, contacts=contacts(point_plane(model, 0, (-l, 0, 0), UP, mu=mu, e=e)), actuated=())


def box_on_corners(a: float = 0.3, b: float = 0.2, h: float = 0.25, m: float = 10.0, mu: float = 0.5,
                   e: float = 0.0, g: float = 9.81) -> Mechanism:
    """A uniform box of sides 2a, 2b, 2h on its four lower corners (+, +), (+, −), (−, +), (−, −); its
    origin is its centre."""
    model = Model((Body("box", GROUND, Joint("free"), Pose(), box(m, 2 * a, 2 * b, 2 * h)),),
                  np.array([0, 0, -g]), "box")
    corners = [point_plane(model, 0, (x * a, y * b, -h), (0, 0, 1), mu=mu, e=e) for x in (1, -1)
               for y in (1, -1)]
    return Mechanism(model, contacts=contacts(corners), actuated=())


def pile(n: int = 20, R: float = 0.1, m: float = 1.0, mu: float = 0.5, e: float = 0.0, across: int = 4,
         space: bool = False, g: float = 9.81) -> Mechanism:
    """n discs in a bin that is `across` discs and a half wide, or n balls in a square one; at q = 0 they
    hang above it in a loose lattice, every other row shifted, so that they fall into a pile."""
    width, pitch = (2 * across + 1) * R, 2.2 * R
    each = across**2 if space else across
    positions, start = [], (width - pitch * (across - 1)) / 2
    for i in range(n):
        row, k = divmod(i, each)
        shift = 0.02 * R * (-1)**row
        along = np.array([start + pitch * (k % across) + shift, start + pitch * (k // across) + shift])
        positions.append((*along, R + pitch * row) if space else (along[0], R + pitch * row, 0))
    ball = sphere(m, R) if space else Inertia(m, np.zeros(3), np.diag([1, 1, 2]) * m * R**2 / 4)
    home = Model(tuple(Body(f"ball {i}", GROUND, Joint("free" if space else "planar"), Pose(p=np.array(p)),
                            ball) for i, p in enumerate(positions)),
                 np.array([0, 0, -g]) if space else down(g), f"pile of {n}")
    sideways = np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0]], dtype=float)
    normals = np.vstack([[0, 0, 1], sideways]) if space else np.vstack([UP, sideways[:2]])
    offsets = np.array([0, 0, -width, 0, -width])[:len(normals)]
    return Mechanism(home, contacts=Balls(home, np.full(n, R), normals, offsets, mu, e), actuated=())


def walker(slope: float = 0.009, l: float = 1.0, hip: float = 1.0, foot: float = 1e-4, mu: float = 5.0,
           g: float = 1.0) -> Mechanism:
    """The simplest walking model: a mass at the hip, two far smaller ones at the feet, legs without mass,
    on a slope.

    q = (x, y, θ, φ): the stance foot in axes along and normal to the slope (x downhill), the stance leg's
    angle from the normal (backward positive) and the angle from it to the swing leg, so that the swing leg
    stands at θ − φ. Contacts: stance foot, swing foot. Garcia, Chatterjee, Ruina and Coleman, The simplest
    walking model (1998), in their units m = l = g = 1; they let the feet's mass go to zero.
    """
    stance = point_mass(hip, (0, l, 0)) + point_mass(foot)
    model = Model((Body("stance leg", GROUND, Joint("planar"), Pose(), stance),
                   Body("swing leg", 0, Joint("revolute", (0, 0, -1)), Pose(p=np.array([0, l, 0])),
                        point_mass(foot, (0, -l, 0)))),
                  g * np.array([np.sin(slope), -np.cos(slope), 0]), "walker")
    feet = [point_plane(model, 0, (0, 0, 0), UP, mu=mu), point_plane(model, 1, (0, -l, 0), UP, mu=mu)]
    return Mechanism(model, contacts=contacts(feet), actuated=())
