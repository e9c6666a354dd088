"""Random trees of rigid bodies that could exist, and random states of them."""

import numpy as np

from lagrangebook.inertia import Inertia
from lagrangebook.model import GROUND, KINDS, Body, Joint, Model
from lagrangebook.spatial import Pose, exp_so3

ALL_KINDS = tuple(KINDS)


def random_inertia(rng):
    """A cloud of eight points: its parameters are physical by construction."""
    masses, points = rng.uniform(0.1, 1.0, 8), rng.normal(0, 0.2, (8, 3)) + rng.normal(0, 0.3, 3)
    com = masses @ points / masses.sum()
    r = points - com
    about_com = np.einsum("i,ij->", masses, r**2) * np.eye(3) - np.einsum("i,ij,ik->jk", masses, r, r)
    return Inertia(masses.sum(), com, about_com)


def random_tree(rng, n_bodies, kinds=ALL_KINDS, rotor=False):
    """A tree with random parents (legal, not depth-first), oblique axes, joint kinds drawn from `kinds`."""
    bodies = []
    for i in range(n_bodies):
        kind = kinds[rng.integers(len(kinds))]
        axis = (0, 0, 1) if kind == "planar" else rng.normal(size=3)
        inertia_of_rotor = rng.uniform(0, 0.5) if rotor and KINDS[kind] == (1, 1) else 0.0
        bodies.append(Body(f"body {i}", int(rng.integers(GROUND, i)), Joint(kind, axis, rotor=inertia_of_rotor),
                           Pose(exp_so3(rng.normal(size=3)), rng.normal(0, 0.4, 3)), random_inertia(rng)))
    return Model(tuple(bodies), gravity=rng.normal(0, 6, 3), name=f"random tree of {n_bodies}")


def random_state(model, rng):
    """(q, qd, qdd): a random configuration on the manifold, and random rates."""
    q = model.integrate(model.zero, rng.normal(0, 1, model.n), 1.0)
    return q, rng.normal(0, 1, model.n), rng.normal(0, 1, model.n)


def any_tree(seed, largest=7, rotor=True):
    """(model, q, qd, qdd) of a random tree of 1 to `largest` bodies with every kind of joint."""
    rng = np.random.default_rng(seed)
    model = random_tree(rng, int(rng.integers(1, largest + 1)), rotor=rotor)
    return model, *random_state(model, rng)


def chain(*bodies, gravity=(0, 0, -9.81)):
    """A serial chain of (kind, axis, placement, inertia) rows, the first on the ground."""
    return Model(tuple(Body(f"link {i}", i - 1, Joint(kind, axis), placement, inertia)
                       for i, (kind, axis, placement, inertia) in enumerate(bodies)), gravity=gravity)
