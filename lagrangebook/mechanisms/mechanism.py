"""What every mechanism of the book is made of."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..constraints import Together, constrained
from ..model import Model
from ..spatial import Array
from ..standard_form import Dynamics, Friction, of_model


@dataclass(frozen=True, eq=False)
class Mechanism:
    """A tree of bodies closed by loops, touching by contacts, with motors at some of its velocities."""

    model: Model
    loops: tuple = ()
    contacts: Any = ()                          # a `contact.gaps.Contacts`, or what offers the same
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
        """The tree with its loops closed, for `simulate`; contacts are given to `simulate` beside it."""
        tree = of_model(self.model, friction)
        return constrained(tree, *self.loops) if self.loops else tree


def flat(J: Any) -> Array:
    """Inertia of a thin body along x whose moment about z is J: diag(0, J, J)."""
    return np.diag([0, J, J])


def down(g: Any) -> Array:
    """Gravity of a planar mechanism, along −y."""
    return np.array([0, -g, 0])
