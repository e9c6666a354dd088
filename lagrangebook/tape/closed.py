"""Closed mechanisms on recorded kernels: constraints, and M q̈ − Jᵀλ = τ − h, J q̈ = −γ as one tape."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..constraints import ConstrainedDynamics, Symbolic, Together, constrained_accelerations
from ..model import Model, checked
from ..spatial import Array
from ..standard_form import ModelDynamics, of_model
from .compiled import compiled
from .recording import Tape, python_function, record


@dataclass(frozen=True, eq=False)
class CompiledConstraint:
    """A constraint on a tree whose φ, J and γ are replayed from tapes; otherwise as the constraint itself."""

    plain: Any              # Loop or Rolling
    nq: int
    n: int
    position: Callable      # q -> (φ, J), flat
    gamma: Callable         # q, q̇ -> γ

    @property
    def holonomic(self) -> Array:
        """(m,) Which rows are conditions on position."""
        return self.plain.holonomic

    def _standing(self, q: Array) -> Array:
        return np.array(self.position(checked("q", q, self.nq, "the tree has nq")))

    def phi(self, q: Array, t: float = 0.0) -> Array:
        """φ (m,)."""
        return self._standing(q)[:len(self.holonomic)]

    def J(self, q: Array, t: float = 0.0) -> Array:
        """J (m, n)."""
        return self._standing(q)[len(self.holonomic):].reshape(-1, self.n)

    def rate(self, q: Array, t: float = 0.0) -> Array:
        """b (m,), zero."""
        return np.zeros(len(self.holonomic))

    def bias(self, q: Array, qd: Array, t: float = 0.0) -> Array:
        """γ (m,)."""
        q, qd = checked("q", q, self.nq, "the tree has nq"), checked("qd", qd, self.n, "the tree has n")
        return np.array(self.gamma(q, qd))

    def integrate(self, q: Array, step: Array) -> Array:
        """q (nq,) after the motion step (n,)."""
        return self.plain.integrate(q, step)


def compiled_constraint(constraint: Any) -> Any:
    """The constraint on recorded kernels; what was written in sympy is a function already and stays."""
    if isinstance(constraint, Together):
        return Together(tuple(compiled_constraint(part) for part in constraint.parts))
    if isinstance(constraint, (CompiledConstraint, Symbolic)):
        return constraint
    nq, n = constraint.model.nq, constraint.model.n
    position = record(lambda q: np.concatenate([constraint.phi(q), constraint.J(q).ravel()]), nq)
    gamma = record(constraint.bias, nq, n)
    return CompiledConstraint(constraint, nq, n, python_function(position), python_function(gamma))


def compiled_closed(dynamics: ConstrainedDynamics, backend: str = "auto") -> ConstrainedDynamics:
    """A closed mechanism with tree and constraints on recorded kernels; rank and status as before."""
    tree = dynamics.dynamics
    tree = compiled(tree, backend) if isinstance(tree, ModelDynamics) else tree
    return replace(dynamics, dynamics=tree, constraint=compiled_constraint(dynamics.constraint))


def record_closed(model: Model, constraint: Any) -> Tape:
    """The tape of (q, q̇, τ) -> (q̈ (n,), λ (m,)) by elimination, for a J that keeps its full rank."""
    def run(q: Array, qd: Array, tau: Array) -> Array:
        J, gamma = constraint.J(q), constraint.bias(q, qd)
        return np.concatenate(constrained_accelerations(of_model(model)(q, qd), tau, J, gamma)[:2])
    return record(run, model.nq, model.n, model.n)
